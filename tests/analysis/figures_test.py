"""The figures: what is drawn is what was measured, the same again, and faults are one line."""

import argparse
import contextlib
import csv
import importlib
import io
import json
import subprocess
import sys
import tempfile
import unittest
import warnings
from pathlib import Path

import support

support.need_modules()

import figures  # noqa: E402
import plot_loss  # noqa: E402
import plot_speedup  # noqa: E402
import plot_time  # noqa: E402

SCRIPTS = ["plot_loss", "plot_speedup", "plot_time", "plot_pareto", "plot_links"]


def script(name, *words):
    """Runs a script as its command line would: exit code, what it prints, and its errors.

    A remark that Amdahl's law is not fitted to a slow-down is none of these; crowded_test.py holds it.
    """
    module = importlib.import_module(name)
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        code = figures.run(module.draw, module.arguments(), list(map(str, words)))
    errors = [line for line in err.getvalue().splitlines(True) if not line.startswith("Amdahl's law is not fitted to ")]
    return code, out.getvalue(), "".join(errors)


class Files(support.Scratch):
    def copy_csv_files(self):
        for file in support.results_of_small().glob("*.csv"):
            self.write(file.name, file.read_text(encoding="utf-8"))

    def test_every_script_draws_from_the_csv_files_alone_and_the_same_again(self):
        self.copy_csv_files()
        for name in SCRIPTS:
            with self.subTest(name):
                out = self.path / (name + ".svg")
                self.assertEqual(script(name, self.path, "--out", out), (0, f"{out}\n", ""))
                drawn = out.read_bytes()
                self.assertIn(b"async, one server", drawn)
                script(name, self.path, "--out", out)
                self.assertEqual(out.read_bytes(), drawn)

    def test_a_script_is_a_program_and_its_faults_end_it_with_2(self):
        program = [sys.executable, "-B", str(support.ANALYSIS / "plot_time.py")]
        called = subprocess.run(program + [str(self.path)], capture_output=True, text=True, timeout=60)
        self.assertEqual((called.returncode, called.stdout), (2, ""))
        self.assertEqual(called.stderr.count("\n"), 1)

    def test_a_package_that_is_missing_is_named_in_one_sentence(self):
        for name in [*SCRIPTS, "lesson_figures"]:
            # Without site-packages neither matplotlib nor pandas is there.
            called = subprocess.run([sys.executable, "-B", "-S", str(support.ANALYSIS / (name + ".py")), str(self.path)],
                                    capture_output=True, text=True, timeout=60)
            self.assertEqual((called.returncode, called.stdout), (2, ""))
            self.assertRegex(called.stderr, r"^figures need the Python package \w+: [^\n]*\n$")

    def test_svg_beside_the_results_by_default_and_pdf_and_png_on_request(self):
        self.copy_csv_files()
        self.assertEqual(script("plot_time", self.path)[1], f"{self.path / 'time.svg'}\n")
        for ending, magic in (("pdf", b"%PDF"), ("png", b"\x89PNG")):
            script("plot_time", self.path, "--out", self.path / f"x.{ending}")
            self.assertTrue((self.path / f"x.{ending}").read_bytes().startswith(magic))

    def test_faults_are_one_line(self):
        directory = support.results_of_small()
        cases = [("plot_speedup", [self.path], "runs.csv: there is no such file"),
                 ("plot_loss", [directory, "--of", "accuracy"], "no column accuracy"),
                 ("plot_loss", [directory, "--at", "cluster.workers=3"], "the grid takes 1, 2, 4"),
                 ("plot_time", [directory, "--ranks", "gossip"], "known: allreduce, async, one server"),
                 ("plot_pareto", [directory, "--of", "energy_j"], "no run has a energy_j"),
                 ("plot_time", [directory, "--out", "x.gif"], "ends in .svg, .pdf or .png"),
                 ("plot_time", [directory, "--out", self.path / "none" / "x.svg"], "cannot be written")]
        for name, words, expected in cases:
            with self.subTest(expected):
                code, out, err = script(name, *words)
                self.assertEqual((code, out, err.count("\n")), (2, "", 1))
                self.assertIn(expected, err)


def chosen(**more):
    return argparse.Namespace(directory=support.results_of_small(), at=None, only=None, **more)


class Drawn(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.runs = json.loads((support.results_of_small() / "results.json").read_text(encoding="utf-8"))["runs"]

    def of(self, label, workers):
        return [run for run in self.runs if run["label"] == label and run["workers"] == workers]

    def test_labels_are_plain_text_to_matplotlib(self):
        with tempfile.TemporaryDirectory(prefix="simgrad-test-") as directory:
            for file in support.results_of_small().glob("*.csv"):
                text = file.read_text(encoding="utf-8").replace("allreduce,allreduce", "allreduce,_环 a$b$")
                Path(directory, file.name).write_text(text, encoding="utf-8")
            for name in SCRIPTS:
                for ending in ("svg", "png"):
                    with self.subTest(name + ending), warnings.catch_warnings():
                        warnings.simplefilter("error")
                        out = Path(directory, f"x.{ending}")
                        code, _, err = script(name, directory, "--out", out)
                        self.assertEqual(code, 0, err)
                        self.assertLessEqual(err.count("\n"), 1)
                self.assertIn("_环 a$b$", Path(directory, "x.svg").read_text(encoding="utf-8"))

    def test_times_that_are_not_known_are_not_zero(self):
        with tempfile.TemporaryDirectory(prefix="simgrad-test-") as directory:
            for file in support.results_of_small().glob("*.csv"):
                Path(directory, file.name).write_text(file.read_text(encoding="utf-8"), encoding="utf-8")
            rows = [line.split(",") for line in Path(directory, "ranks.csv").read_text(encoding="utf-8").splitlines()]
            rows[1][rows[0].index("wait_s")] = ""
            Path(directory, "ranks.csv").write_text("".join(",".join(row) + "\n" for row in rows), encoding="utf-8")
            code, _, err = script("plot_time", directory, "--ranks", "allreduce")
            self.assertEqual(code, 2)
            self.assertIn("of worker 0 it is not known how its time went", err)

    def test_the_curve_of_a_strategy_is_the_mean_of_its_seeds(self):
        what = chosen(of="loss", against="step")
        what.at = ["cluster.workers=4"]
        line = plot_loss.draw(what).axes[0].lines[0]
        seeds = [run["curve"] for run in self.of("allreduce", 4)]
        longest = max(seeds, key=len)
        self.assertEqual(list(line.get_xdata()), [e["step"] for e in longest])
        for k, drawn in enumerate(line.get_ydata()):  # who has ended stays there
            self.assertAlmostEqual(drawn, sum(curve[min(k, len(curve) - 1)]["loss"] for curve in seeds) / 3, delta=1e-12)

    def test_the_least_expected_loss_is_a_line_at_the_mean_of_the_seeds(self):
        what = chosen(of="loss", against="step")
        self.assertEqual(len(plot_loss.draw(what).axes[0].lines), 6)  # curves alone
        with tempfile.TemporaryDirectory(prefix="simgrad-test-") as directory:
            for file in support.results_of_small().glob("*.csv"):
                lines = file.read_text(encoding="utf-8").splitlines()
                if file.name == "runs.csv":
                    seed, workers = (lines[0].split(",").index(name) for name in ("seed", "param.cluster.workers"))
                    lines = [lines[0] + ",loss_floor"] + [
                        f"{line},{float(cells[seed]) * float(cells[workers]) / 100}"
                        for line, cells in ((line, next(csv.reader([line]))) for line in lines[1:])]
                Path(directory, file.name).write_text("\n".join(lines) + "\n", encoding="utf-8")
            what.directory, what.at = Path(directory), ["cluster.workers=4"]
            *_, line = plot_loss.draw(what).axes[0].lines
            self.assertEqual(line.get_label(), "least expected loss")
            self.assertAlmostEqual(line.get_ydata()[0], 4 * (1 + 2 + 3) / 3 / 100, delta=1e-12)
            what.at = None
            levels = [line.get_ydata()[0] for line in plot_loss.draw(what).axes[0].lines[6:]]
            for found, expected in zip(levels, [0.02, 0.04, 0.08], strict=True):
                self.assertAlmostEqual(found, expected, delta=1e-12)
            what.of = "samples"
            self.assertEqual(len(plot_loss.draw(what).axes[0].lines), 6)

    def test_speedups_stand_over_their_workers(self):
        figure = plot_speedup.draw(chosen(measure="throughput"))
        line = figure.axes[0].lines[1]  # behind the ideal one
        self.assertEqual(list(line.get_xdata()), [1, 2, 4])
        for workers, drawn in zip(line.get_xdata(), line.get_ydata()):
            seeds = [run["speedup_throughput"] for run in self.of("allreduce", workers)]
            self.assertAlmostEqual(drawn, sum(seeds) / 3, delta=1e-12)

    def test_the_parts_of_a_rank_add_up_to_its_run(self):
        run = self.of("async, one server", 4)[0]
        what = chosen(ranks="async, one server")
        what.at = ["cluster.workers=4"]
        axes = plot_time.draw(what).axes[0]
        names = [text.get_text() for text in axes.get_yticklabels()]
        self.assertEqual(names, ["worker 0", "worker 1", "worker 2", "worker 3", "server 4"])
        _, scale = figures.time_unit(run["simulated_s"])
        for bar in range(len(names)):
            total = sum(patches[bar].get_width() for patches in axes.containers)
            self.assertAlmostEqual(total * scale, run["simulated_s"], delta=1e-9 * run["simulated_s"])


if __name__ == "__main__":
    unittest.main()
