#!/usr/bin/env python3
"""Draws the figures of lessons from the CSV files of their runs: dots are simulated, lines are formulas.

    python3 analysis/lesson_figures.py out/01_speedup_below_m       # writes out/01_speedup_below_m/lesson.svg

The formulas are those of the answers to the lessons (docs/lessons/answers).
"""

import argparse
import math
import sys
from pathlib import Path

from figures import PART_STYLES, plt, save
from layout_lessons import best_layout, bubbles, slow_or_lost
from lesson_parts import GREY, agree, both, dots, memory, numbers_on, style, times_of_parts
from simgrad_results import ResultsError, load_curves, load_runs, parameters

#: The strategies of each lesson.
LABELS = {
    "01": ["mapreduce", "allreduce"], "02": ["allreduce"], "03": ["float64", "float16", "top 1 %"],
    "04": ["allreduce", "gossip", "asp"], "05": ["bsp", "asp"],
    "06": ["1 server", "2 servers", "4 servers", "8 servers", "16 servers"],
    "07": ["ring", "tree", "doubling", "halving, doubling"], "08": ["ring", "torus", "exponential", "complete"],
    "09": ["H = 1", "H = 4", "H = 16", "H = 64", "one average"], "10": ["allreduce"], "11": ["allreduce"],
    "12": ["allreduce"], "13": ["one device"],
    "14": ["replicas", "buckets", "stage 1", "stage 2", "stage 3", "no prefetch", "offload"],
    "15": ["pipeline"], "16": ["64 devices"], "17": ["allreduce"], "18": ["training"],
    "19": ["serving"],
}
#: The keys of the grids of the lessons that have one.
GRIDS = {
    "01": "cluster.workers", "02": "data.features", "05": "training.learning_rate", "07": "data.features",
    "10": "cluster.workers", "11": "cluster.workers", "12": "cluster.workers",
    "13": "training.recompute", "15": "parallel.schedule parallel.micro_batches",
    "16": "parallel.tensor parallel.pipeline parallel.micro_batches",
    "17": "cluster.workers cluster.speed prices.worker",
    "18": "parallel.pipeline parallel.tensor parallel.micro_batches training.partition.shares cluster.relative_speeds "
          "cluster.failures.crash cluster.failures.recovery cluster.failures.spares",
    "19": "parallel.tensor serving.rate",
}


class Lesson:
    """The results of a lesson: its runs as dictionaries, and the curve of each run."""

    def __init__(self, directory):
        runs = load_runs(directory)
        number = directory.name[:2]
        if list(dict.fromkeys(runs["label"])) != LABELS[number]:
            raise ResultsError(f"{directory}: the strategies of lesson {int(number)} are {', '.join(LABELS[number])}")
        grid = ["param." + key for key in GRIDS.get(number, "").split()]
        if parameters(runs) != grid or runs["seed"].nunique() != 1:
            raise ResultsError(f"{directory}: lesson {int(number)} has one seed and "
                               + (f"a grid of {GRIDS[number]}" if grid else "no grid"))
        self.runs = runs.to_dict("records")
        self.curves = load_curves(directory)
        self.directory = directory

    def of(self, label):
        return [run for run in self.runs if run["label"] == label]

    def curve(self, run, x):
        """Returns the evaluations of a run: x and the losses."""
        rows = self.curves[self.curves["run"] == run["id"]]
        return list(rows[x]), list(rows["loss"])


def speed_up(lesson, figure):
    axes = figure.subplots()
    t, alpha, m_beta = 1.024, 50e-6, 8e-3
    formulas = {
        "mapreduce": lambda n: t / (t / n + 2 * alpha + 2 * n * m_beta),
        "allreduce": lambda n: t / (t / n + 2 * (n - 1) * alpha + 2 * (n - 1) / n * m_beta),
    }
    for k, (label, formula) in enumerate(formulas.items()):
        runs = lesson.of(label)
        both(axes, k, label, [r["workers"] for r in runs], [r["speedup_throughput"] for r in runs], formula)
    n = [1, 2, 4, 8, 16, 32]
    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.plot(n, n, color=GREY, linewidth=0.8, label="m times as fast")
    numbers_on(axes.xaxis, n)
    numbers_on(axes.yaxis, n)
    axes.set(xlabel="workers", ylabel="speed-up")
    axes.legend()


def latency_or_bandwidth(lesson, figure):
    axes = figure.subplots()
    sizes = [8 * run["param.data.features"] for run in lesson.runs]
    axes.set_xscale("log")
    axes.set_yscale("log")
    both(axes, 0, "allreduce, 8 workers", sizes, [1e3 * r["communicate_s"] for r in lesson.runs],
         lambda m: 1.12 + 1.75 * m * 8e-6)
    axes.axhline(1.12, color=GREY, linewidth=0.8, linestyle=":", label="14 α")
    axes.plot(sizes, [1.75 * m * 8e-6 for m in sizes], color=GREY, linewidth=0.8, linestyle="--", label="1.75 M β")
    axes.annotate("M½ = 80 kB", (80e3, 1.12), (1.2e5, 0.35), arrowprops={"arrowstyle": "-", "color": GREY})
    axes.set(xlabel="M [bytes]", ylabel="time of one allreduce [ms]", ylim=(0.1, 200))
    axes.legend()


def losses(lesson, axes, named, x="simulated_s", scale=1e3):
    for k, (label, run) in enumerate(named):
        times, values = lesson.curve(run, x)
        axes.plot([scale * time for time in times], values, label=label, **style(k))
    axes.set(xlabel="simulated time [ms]", ylabel="loss")


def fewer_bytes(lesson, figure):
    axes = figure.subplots()
    losses(lesson, axes, [(run["label"], run) for run in lesson.runs])
    axes.axhline(0.4, color=GREY, linewidth=0.8, label="target")
    axes.legend()


def slowest_worker(lesson, figure):
    axes = figure.subplots()
    axes.set_axisbelow(True)
    parts = ["compute_s", "communicate_s", "wait_s"]
    for y, run in enumerate(lesson.runs):
        left = 0.0
        for part, (colour, _, name) in zip(parts, PART_STYLES):
            axes.barh(y, run[part], left=left, color=colour, height=0.6, label=name if y == 0 else None)
            left += run[part]
        axes.text(left + 0.03, y, f"speed-up {run['speedup_throughput']:.2f}", va="center")
    axes.set_yticks(range(len(lesson.runs)), [run["label"] for run in lesson.runs])
    axes.invert_yaxis()
    axes.set(xlabel="seconds of the mean worker", xlim=(0, 3.2))
    axes.legend(loc="lower right")


def stale(lesson, figure):
    axes = figure.subplots()
    chosen = [("bsp", 0.01), ("asp", 0.01), ("asp", 0.07), ("asp", 0.08)]
    named = [(f"{label}, η = {rate}", run) for label, rate in chosen for run in lesson.of(label)
             if run["param.training.learning_rate"] == rate]
    if len(named) < len(chosen):
        raise ResultsError("the learning rates are not the lesson's, which are 0.01, 0.07 and 0.08")
    losses(lesson, axes, named)
    axes.set_yscale("log")
    axes.set_ylim(3e-3, 1e3)
    axes.legend()


def servers(lesson, figure):
    axes = figure.subplots()
    s = [int(run["label"].split()[0]) for run in lesson.runs]
    axes.set_xscale("log")
    axes.set_yscale("log")
    both(axes, 0, "2 (α + max(1, n/s) M β)", s, [100 * run["simulated_s"] for run in lesson.runs],
         lambda each: 2 * (0.05 + max(1, 8 / each) * 8))
    axes.axhline(14.7, color=GREY, linewidth=0.8, linestyle="--", label="a ring without servers")
    numbers_on(axes.xaxis, s)
    numbers_on(axes.yaxis, [10, 20, 50, 100])
    axes.set(xlabel="servers", ylabel="time of a step [ms]", ylim=(10, 160))
    axes.legend()


def ring_and_tree(lesson, figure):
    axes = figure.subplots()
    axes.set_xscale("log")
    axes.set_yscale("log")
    rounds = {"ring": (30, 1.875), "tree": (8, 8), "doubling": (4, 4), "halving, doubling": (8, 1.875)}
    for k, (label, (latencies, vectors)) in enumerate(rounds.items()):
        runs = lesson.of(label)
        both(axes, k, label, [8 * run["param.data.features"] for run in runs], [1e3 * r["simulated_s"] for r in runs],
             lambda m, a=latencies, v=vectors: a * 0.05 + v * m * 0.8e-6)
    axes.set(xlabel="M [bytes]", ylabel="time of one allreduce [ms]")
    axes.legend()


def gossip(lesson, figure):
    axes = figure.subplots()
    losses(lesson, axes, [(f"{run['label']}, gap {run['spectral_gap']:.2g}", run) for run in lesson.runs])
    axes.axhline(0.7, color=GREY, linewidth=0.8, label="target")
    axes.set_yscale("log")
    numbers_on(axes.yaxis, [0.7, 1, 1.5, 2])
    axes.legend()


def fewer_rounds(lesson, figure):
    time, loss = figure.subplots(1, 2)
    H = [640 if run["label"] == "one average" else int(run["label"].split()[-1]) for run in lesson.runs]
    for axes in (time, loss):
        axes.set_xscale("log")
        numbers_on(axes.xaxis, H)
        axes.set_xlabel("H, steps between two averages")
    time.set_yscale("log")
    both(time, 0, "total time", H, [run["simulated_s"] for run in lesson.runs],
         lambda h: 0.122496 + 640 / h * 14.91392e-3)
    time.axhline(0.122496, color=GREY, linewidth=0.8, linestyle=":", label="computing")
    numbers_on(time.yaxis, [0.1, 0.2, 0.5, 1, 2, 5, 10])
    time.set_ylabel("simulated time [s]")
    time.legend()
    loss.plot(H, [run["final_loss"] for run in lesson.runs], **dots(1))
    loss.set(ylabel="loss after 640 steps", ylim=(0.8, 1.2))


def failures(lesson, figure):
    axes = figure.subplots()

    def useful(n, saving=0.01, resuming=0.1):
        mtbf = 2 / n
        tau = math.sqrt(2 * saving * mtbf)
        tau *= 1 + math.sqrt(saving / (2 * mtbf)) / 3 + saving / (2 * mtbf) / 9
        tau -= saving
        return tau / (mtbf * math.exp(resuming / mtbf) * (math.exp((tau + saving) / mtbf) - 1))

    n = [run["workers"] for run in lesson.runs]
    axes.set_xscale("log")
    axes.set_yscale("log")
    both(axes, 0, "with failures", n, [run["simulated_s"] for run in lesson.runs], lambda each: 64 / each / useful(each),
         within=0.4)  # in the formula no two repairs overlap
    axes.plot([], [], label="64 s / (n E)", **style(0))
    axes.plot(n, [64 / each for each in n], color=GREY, linewidth=0.8, label="if no machine failed")
    numbers_on(axes.xaxis, n)
    numbers_on(axes.yaxis, [2, 5, 10, 20, 40])
    axes.set(xlabel="machines", ylabel="time of the training [s]")
    axes.legend()


def costs(lesson, figure):
    axes = figure.subplots()
    times = [run["simulated_s"] for run in lesson.runs]
    axes.set_xscale("log")
    for run in lesson.runs:
        a, b = run["workers"], math.log2(run["workers"]) * 10.64
        agree("time", [a], [run["simulated_s"]], lambda _: 2560 / a + b)
        agree("cost", [a], [run["cost_usd"]], lambda _: 1e-4 * (2560 + a * b))
    axes.plot(times, [run["cost_usd"] for run in lesson.runs], label="machines", **dots(0))
    n = [2 ** (i / 20) for i in range(121)]
    exchange = [math.log2(each) * 10.64 for each in n]
    axes.plot([2560 / a + b for a, b in zip(n, exchange)], [1e-4 * (2560 + a * b) for a, b in zip(n, exchange)],
              **style(0))
    for run in lesson.runs:
        axes.annotate(f"{run['workers']:g}", (run["simulated_s"], run["cost_usd"]), (5, 5), textcoords="offset points")
    axes.axvline(300, color=GREY, linewidth=0.8, linestyle="--", label="five minutes")
    numbers_on(axes.xaxis, [100, 200, 500, 1000, 2000])
    axes.set(xlabel="simulated time [s]", ylabel="cost [$]", ylim=(0, 0.75))
    axes.legend()


def rent(lesson, figure):
    axes = figure.subplots()
    axes.set_xscale("log")
    machines = {"100MF": ("slow machines", 2560, 1e-4), "200MF": ("fast machines", 1280, 0.8 / 3600)}
    for place, (speed, (name, serial, price)) in enumerate(machines.items()):
        runs = [run for run in lesson.runs if run["param.cluster.speed"] == speed]
        for run in runs:
            a, b = run["workers"], math.log2(run["workers"]) * 10.64
            agree("time", [a], [run["simulated_s"]], lambda _: serial / a + b)
            agree("cost", [a], [run["cost_usd"]], lambda _: price * (serial + a * b))
            axes.annotate(f"{a:g}", (run["simulated_s"], run["cost_usd"]), (5, 5), textcoords="offset points")
        axes.plot([run["simulated_s"] for run in runs], [run["cost_usd"] for run in runs], label=name, **dots(place))
        n = [2 ** (i / 20) for i in range(121)]
        exchange = [math.log2(each) * 10.64 for each in n]
        axes.plot([serial / a + b for a, b in zip(n, exchange)], [price * (serial + a * b) for a, b in zip(n, exchange)],
                  **style(place))
    axes.axvline(150, color=GREY, linewidth=0.8, linestyle="--", label="150 seconds")
    numbers_on(axes.xaxis, [100, 200, 500, 1000, 2000])
    axes.set(xlabel="simulated time [s]", ylabel="cost [$]", ylim=(0, 1.3))
    axes.legend()


def same_step(lesson, figure):
    by_samples, by_time = figure.subplots(1, 2, sharey=True)
    named = [(f"{run['workers']:g} workers" if run["workers"] > 1 else "1 worker", run) for run in lesson.runs]
    losses(lesson, by_samples, named, "samples", 1)
    losses(lesson, by_time, named)
    by_samples.set_xscale("log")
    by_samples.set(xlabel="rows seen, by all workers", xlim=(100, 4e5))
    by_time.set_ylabel("")
    for axes in (by_samples, by_time):
        axes.axhline(0.2, color=GREY, linewidth=0.8, label="target")
    by_time.legend()


def does_it_fit(lesson, figure):
    axes = figure.subplots()
    states = 14 * 1.31582
    formulas = {"none": states + 45.90 + 3.59, "selective": states + 13.69 + 3.59, "full": states + 2.56 + 1.91}
    for run in lesson.runs:
        formula = formulas.get(run["param.training.recompute"])
        if formula is None:
            raise ResultsError("the recomputations of lesson 13 are none, selective and full")
        agree("memory", [run["memory_bytes_max"] / 1e9], [run["memory_bytes_max"] / 1e9], lambda _, f=formula: f)
    memory(lesson, axes, [f"{run['param.training.recompute']}\n{run['simulated_s']:.3f} s a step" for run in lesson.runs])
    axes.legend(loc="lower right")


def memory_for_messages(lesson, figure):
    bytes_axes, time_axes = figure.subplots(1, 2, sharey=True)
    t_c, allreduce = 3.1168, 1.8645
    times = {"replicas": t_c + allreduce, "stage 1": t_c + allreduce, "no prefetch": t_c + 2.8038,
             "offload": t_c + allreduce + 0.2206}
    memory(lesson, bytes_axes, [run["label"] for run in lesson.runs])
    for y, run in enumerate(lesson.runs):
        if run["label"] in times:
            agree(run["label"], [1], [run["simulated_s"]], lambda _, t=times[run["label"]]: t)
    times_of_parts(lesson, time_axes, ["compute_s", "communicate_s"])
    time_axes.set(xlabel="seconds of a step", xlim=(0, 8.5))
    bytes_axes.legend(fontsize=7)
    time_axes.legend(loc="lower right", fontsize=7)


def answers(lesson, figure):
    each, first = figure.subplots(1, 2)
    alone = {1: 12.837, 8: 3.982}  # a token, of a request that is alone
    for devices in (1, 8):
        runs = [run for run in lesson.runs if run["param.parallel.tensor"] == devices]
        rates = [run["param.serving.rate"] for run in runs]
        name = "a model each" if devices == 1 else "one model for eight devices"
        agree(name, [1], [1e3 * runs[0]["tpot_s_median"]], lambda _, t=alone[devices]: t)
        each.plot(rates, [1e3 * run["tpot_s_median"] for run in runs], "o-", label=name)
        first.plot(rates, [1e3 * run["ttft_s_median"] for run in runs], "o-", label=name)
    each.set(xlabel="requests a second", ylabel="each token after the first, median [ms]", ylim=(0, None))
    first.set(xlabel="requests a second", ylabel="first token, median [ms]", ylim=(0, None))
    each.legend(fontsize=7)


FIGURES = {
    "01": speed_up, "02": latency_or_bandwidth, "03": fewer_bytes, "04": slowest_worker, "05": stale, "06": servers,
    "07": ring_and_tree, "08": gossip, "09": fewer_rounds, "10": failures, "11": costs, "12": same_step, "13": does_it_fit,
    "14": memory_for_messages, "15": bubbles, "16": best_layout, "17": rent, "18": slow_or_lost,
    "19": answers,
}


def main(words=None):
    parser = argparse.ArgumentParser(description="Draws the figures of lessons from the CSV files of their runs.")
    parser.add_argument("directories", metavar="DIR", nargs="+", help="what a lesson's run has written")
    parser.add_argument("--into", metavar="FOLDER", help="for FOLDER/<name of DIR>.svg; default: DIR/lesson.svg")
    chosen = parser.parse_args(words)
    try:
        for directory in map(Path, chosen.directories):
            draw = FIGURES.get(directory.name[:2])
            if draw is None:
                raise ResultsError(f"{directory}: not named after a lesson; they are called 01_... to 19_...")
            figure = plt.figure(figsize=(7.2, 3.8), layout="constrained")
            try:
                draw(Lesson(directory), figure)
            except ResultsError as error:
                text = str(error)
                raise ResultsError(text if text.startswith(str(directory)) else f"{directory}: {text}") from error
            out = str(Path(chosen.into) / f"{directory.name}.svg") if chosen.into else None
            save(figure, argparse.Namespace(directory=directory, name="lesson", out=out))
            plt.close(figure)
    except ResultsError as error:
        print(error, file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
