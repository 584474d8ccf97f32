"""Figures of many strategies: at most eight lines or panels, labels apart, bounded sizes, fits only where they may be."""

import argparse
import contextlib
import io
import itertools
import math
import struct
import unittest

import support

support.need_modules()

import figures  # noqa: E402
import plot_links  # noqa: E402
import plot_loss  # noqa: E402
import plot_pareto  # noqa: E402
import plot_speedup  # noqa: E402
import plot_time  # noqa: E402
import simgrad_results as results  # noqa: E402

COUNTS = [1, 8, 9, 36]
WORKERS = [1, 2, 4, 8]
#: The options of each figure's command line, at their defaults.
DEFAULTS = {plot_loss: {"of": "loss", "against": "simulated_s"}, plot_speedup: {"measure": "throughput"},
            plot_time: {"ranks": None}, plot_pareto: {"of": "cost_usd"}, plot_links: {"most": 10}}


def csv_text(rows):
    return ",".join(rows[0]) + "\n" + "".join(",".join(str(cell) for cell in row.values()) + "\n" for row in rows)


def label_of(number):
    return f"strategy {number:02d}"


def run_row(number, workers, label, **more):
    """Strategy k is k + 1 times as slow as the first one; its speed-up is P / (1 + (P - 1) s) with s = (k + 1) / 100."""
    serial = (number + 1) / 100
    seconds = (number + 1) * (serial + (1 - serial) / workers)
    speedup = 1 / (serial + (1 - serial) / workers)
    row = {"id": f"r{number}-{workers}", "strategy": "allreduce", "label": label, "param.cluster.workers": float(workers),
           "param.model.sigma": "1.0", "seed": 1, "status": "reached", "simulated_s": seconds, "steps": 10, "samples": 100,
           "epochs": 1, "final_loss": 0.1, "time_to_target_s": seconds, "speedup_throughput": speedup,
           "efficiency": speedup / workers, "compute_s": seconds / 2, "communicate_s": seconds / 2, "wait_s": 0,
           "down_s": 0, "bytes": 1000, "messages": 10, "cost_usd": 1 + 100 / (number + 1) + workers, "energy_j": 1,
           "workers": workers}
    return {**row, **more}


class Crowded(support.Scratch):
    def make(self, count, workers=WORKERS, label=label_of, change=lambda row: row):
        runs = [change(run_row(k, p, label(k))) for k in range(count) for p in workers]
        self.write("runs.csv", csv_text(runs))
        # The curve of strategy k is lower by 1 % for each place: the last ones are the best where the first curve ends.
        self.write("curves.csv", csv_text([
            {"run": run["id"], "step": step, "simulated_s": run["simulated_s"] * step / 10, "samples": 10 * step,
             "loss": math.exp(-step / 10) * (1 - k / 100), "accuracy": k / 100}
            for k, run in ((int(run["id"][1:].split("-")[0]), run) for run in runs) for step in range(11)]))
        self.write("links.csv", csv_text([
            {"run": run["id"], "link": f"a-very-long-name-of-a-link-of-a-switch-{k}_UP", "bytes": 10**k,
             "utilisation": (1 + int(run["id"][1:].split("-")[0])) / 40 / (k + 1)} for run in runs for k in range(12)]))
        self.write("ranks.csv", csv_text([
            {"run": run["id"], "rank": k, "role": "worker", "compute_s": 1, "communicate_s": 1, "wait_s": 0, "down_s": 0}
            for run in runs for k in range(int(run["workers"]))]))

    def draw(self, module, at=("cluster.workers=8",), only=None, **options):
        err = io.StringIO()
        chosen = argparse.Namespace(directory=self.path, at=list(at), only=only, **{**DEFAULTS[module], **options})
        with contextlib.redirect_stderr(err):
            figure = module.draw(chosen)
        self.addCleanup(figures.plt.close, figure)
        return figure, err.getvalue()

    def check_apart(self, figure):
        """No two texts of a figure overlap, and no legend covers a text of the axes."""
        figure.canvas.draw()
        renderer = figure.canvas.get_renderer()
        hidden = set()  # the labels of ticks beyond the limits, and of ticks that were there before, are not drawn
        for axis in (axis for axes in figure.axes for axis in (axes.xaxis, axes.yaxis)):
            low, high = sorted(axis.get_view_interval())
            drawn = {tick.label1 for tick in axis.get_major_ticks() + axis.get_minor_ticks() if low <= tick.get_loc() <= high}
            hidden |= {text for tick in axis.findobj(figures.matplotlib.axis.Tick) for text in (tick.label1, tick.label2)} - drawn
        boxes = [(text.get_text(), text.get_window_extent(renderer)) for text in figure.findobj(figures.matplotlib.text.Text)
                 if text.get_visible() and text.get_text().strip() and text not in hidden]
        boxes += [("the legend's frame", axes.get_legend().get_window_extent(renderer)) for axes in figure.axes
                  if axes.get_legend()]
        own = {text.get_text() for axes in figure.axes if axes.get_legend() for text in axes.get_legend().get_texts()}
        self.assertGreater(len(boxes), 3)
        for (one, a), (other, b) in itertools.combinations(boxes, 2):
            if not (other == "the legend's frame" and one in own):
                self.assertFalse(a.overlaps(b), f"{one!r} overlaps {other!r}: {a} {b}")

    def size_of_png(self, figure):
        with contextlib.redirect_stdout(io.StringIO()):
            figures.save(figure, argparse.Namespace(out=str(self.path / "x.png")))
        return struct.unpack(">II", (self.path / "x.png").read_bytes()[16:24])

    def check_form(self, figure):
        self.check_apart(figure)
        box = figure.get_tightbbox(figure.canvas.get_renderer())  # in inches, as a file is cut
        self.assertLessEqual(figure.dpi * max(box.width, box.height), 2980)
        for axes in figure.axes:
            if axes.get_legend():
                self.assertLessEqual(len(axes.get_legend().get_texts()), 8)

    def test_a_figure_of_losses_has_at_most_eight_lines_the_lowest_where_the_first_ends(self):
        for count in COUNTS:
            with self.subTest(count):
                self.make(count)
                figure, err = self.draw(plot_loss, against="step")
                labels = [line.get_label() for line in figure.axes[0].lines]
                self.assertEqual(labels, [label_of(k) for k in range(max(0, count - 8), count)])
                self.check_form(figure)
                self.assertEqual(err.count("\n"), 1 if count > 8 else 0)
                if count == 36:
                    self.assertLessEqual(max(self.size_of_png(figure)), 3000)
                    self.assertIn("the 8 best of 36 by the smallest loss where the first curve ends: strategy 28; ", err)
                    self.assertIn("The other 28 are left out. Choose others with --only LABEL", err)

    def test_of_an_accuracy_the_largest_are_the_best(self):
        self.make(9)
        self.write("curves.csv", (self.path / "curves.csv").read_text(encoding="utf-8"))
        labels = [line.get_label() for line in self.draw(plot_loss, of="accuracy", against="step")[0].axes[0].lines]
        self.assertEqual(labels, [label_of(k) for k in range(1, 9)])

    def test_a_figure_of_speedups_has_at_most_eight_lines_and_each_its_own_style(self):
        for count in COUNTS:
            with self.subTest(count):
                self.make(count)
                figure, err = self.draw(plot_speedup, at=())
                lines = figure.axes[0].lines[1:]  # behind the ideal one
                self.assertEqual([line.get_label().split(" (")[0] for line in lines],
                                 [label_of(k) for k in range(min(count, 8))])
                self.assertEqual([line.get_label().split("serial ")[1] for line in lines],
                                 [f"{k + 1} %)" for k in range(min(count, 8))])
                self.assertEqual(len({(line.get_color(), line.get_linestyle()) for line in lines}), len(lines))
                self.check_form(figure)
                self.assertEqual(err.count("\n"), 1 if count > 8 else 0)

    def test_amdahls_law_is_not_fitted_where_the_speedup_falls_or_is_below_one(self):
        falling, slow = {1: 1.0, 2: 1.8, 4: 3.0, 8: 2.5}, {1: 1.0, 2: 0.5, 4: 0.6, 8: 0.7}
        for speedups, why in ((falling, "its speed-up falls from 3 with 4 workers to 2.5 with 8"),
                              (slow, "its speed-up falls from 1 with 1 worker to 0.5 with 2")):
            self.make(1, change=lambda row: {**row, "speedup_throughput": speedups[row["workers"]]})
            figure, err = self.draw(plot_speedup, at=())
            self.assertEqual(err, f"Amdahl's law is not fitted to strategy 00: {why}.\n")
            self.assertEqual(figure.axes[0].lines[1].get_label(), label_of(0))
        self.assertEqual(results.slow_down([2, 4], [0.5, 0.6]), "with 2 workers it is slower than one worker")
        self.assertEqual(results.slow_down([8, 2, 4], [2.0, 1.5, 1.9]), "")
        self.assertEqual(results.slow_down([2, 4], [1.5, 1.496]), "")  # half a per cent is equal
        self.assertNotEqual(results.slow_down([2, 4], [1.5, 1.49]), "")

    def test_a_figure_of_costs_has_eight_strategies_in_colour_and_the_others_in_grey(self):
        for count in COUNTS:
            for at in (("cluster.workers=8",), ()) if count > 9 else (("cluster.workers=8",),):
                with self.subTest(count=count, at=at):
                    self.make(count)
                    figure, err = self.draw(plot_pareto, at=at)
                    grey, *clouds = figure.axes[0].collections
                    self.assertEqual(len(clouds), min(count, 8))
                    points = 1 if at else len(WORKERS)
                    self.assertEqual(len(grey.get_offsets()), points * max(0, count - 8))
                    self.check_form(figure)
                    self.assertEqual("are grey" in err, count > 8)

    def test_labels_at_one_place_are_moved_apart_and_those_without_room_are_counted(self):
        for count, left in ((6, 0), (200, 1)):
            with self.subTest(count):
                figure, axes = figures.plt.subplots()
                self.addCleanup(figures.plt.close, figure)
                axes.set(xlim=(0, 1), ylim=(0, 1))
                err = io.StringIO()
                with contextlib.redirect_stderr(err):
                    figures.annotate_apart(axes, [(0.5, 0.5, f"a label {k}") for k in range(count)])
                self.check_apart(figure)
                x, y = axes.transData.transform((0.5, 0.5))
                self.assertFalse(any(text.get_window_extent().contains(x, y) for text in axes.texts))
                self.assertEqual(err.getvalue().count("have no room and are left out"), left)
                self.assertGreaterEqual(len(axes.texts), 6)
                if left:
                    self.assertIn(f"{count - len(axes.texts)} of {count} labels", err.getvalue())

    def test_a_figure_of_links_has_at_most_eight_panels_in_two_lines(self):
        for count in COUNTS:
            with self.subTest(count):
                self.make(count)
                figure, err = self.draw(plot_links)
                panels = [axes for axes in figure.axes if axes.axison]
                self.assertEqual([axes.get_title() for axes in panels],
                                 [label_of(k) for k in range(max(0, count - 8), count)])
                self.check_form(figure)
                self.assertEqual("by the use of their busiest link" in err, count > 8)
        figure, _ = self.draw(plot_links, most=36)
        self.assertLessEqual(max(self.size_of_png(figure)), 3000)
        for words in (["--most", "0"], ["--most", "37"], ["--most", "-1"], ["--most", "x"]):
            with self.subTest(words), contextlib.redirect_stderr(io.StringIO()) as err, self.assertRaises(SystemExit):
                plot_links.arguments().parse_args([str(self.path), *words])
            self.assertIn("expected a whole number from 1 to 36", err.getvalue())

    def test_a_figure_of_times_has_at_most_forty_bars_the_fastest(self):
        for count in COUNTS + [50]:
            with self.subTest(count):
                self.make(count)
                figure, err = self.draw(plot_time)
                names = [text.get_text() for text in figure.axes[0].get_yticklabels()]
                self.assertEqual(names, [label_of(k) for k in range(min(count, 40))])
                self.check_form(figure)
                self.assertEqual("the 40 best of 50 by simulated time" in err, count == 50)
        self.make(1, workers=[1, 200])
        figure, err = self.draw(plot_time, at=("cluster.workers=200",), ranks=label_of(0))
        names = [text.get_text() for text in figure.axes[0].get_yticklabels()]
        self.assertEqual((len(names), names[0], names[-1]), (40, "worker 0", "worker 199"))
        self.assertIn("40 of 200 ranks", err)
        self.check_form(figure)

    def test_long_labels_keep_the_size(self):
        self.make(9, label=lambda k: f"{k} " + 40 * "a long label " + f"{k}")
        for module in DEFAULTS:
            with self.subTest(module.__name__):
                figure, _ = self.draw(module)
                self.check_form(figure)
        self.assertEqual(figures.cut("0123456789", 10), "0123456789")
        self.assertEqual(figures.cut("0123456789a", 10), "01234\u2026789a")

    def test_only_names_strategies_by_label_or_kind(self):
        self.make(9)
        figure, err = self.draw(plot_loss, only=[label_of(0), label_of(3)])
        self.assertEqual([line.get_label() for line in figure.axes[0].lines], [label_of(0), label_of(3)])
        self.assertEqual(err, "")
        self.assertEqual(len(self.draw(plot_loss, only=["allreduce"])[0].axes[0].lines), 8)
        with self.assertRaisesRegex(results.ResultsError, "--only ring: no strategy is called that; known: strategy 00, "):
            self.draw(plot_loss, only=["ring"])

    def test_grid_points_are_compared_as_numbers(self):
        self.make(1)
        runs = results.load_runs(self.path)
        for value in ("8", "8.0", "8e0", " 8"):
            self.assertEqual(list(results.at_point(runs, [f"cluster.workers={value}"])["id"]), ["r0-8"], value)
        for value in ("1", "1.0", "1.00"):  # numbers, also in a column that pandas holds as texts
            self.assertEqual(len(results.at_point(runs, [f"model.sigma={value}"])), len(WORKERS), value)
            texts = runs.assign(**{"param.model.sigma": ["1.0", "auto", "1", "none"]})
            self.assertEqual(list(results.at_point(texts, [f"model.sigma={value}"])["id"]), ["r0-1", "r0-4"], value)
        self.assertEqual(list(results.at_point(texts, ["model.sigma=auto"])["id"]), ["r0-2"])
        for value in ("2", "", "nan", "1.0x"):
            with self.assertRaisesRegex(results.ResultsError, "the grid takes 1$"):
                results.at_point(runs, [f"model.sigma={value}"])


if __name__ == "__main__":
    unittest.main()
