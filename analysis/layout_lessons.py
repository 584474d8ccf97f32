"""The figures of the lessons on layouts: pipelines and bubbles, the best layout."""

from lesson_parts import GREY, agree, both, memory, numbers_on, times_of_parts


def bubbles(lesson, figure):
    speed_axes, memory_axes = figure.subplots(1, 2)
    states, activations = 13.04, 73.55  # GB of a stage: 16 bytes a parameter; those of all 64 sequences
    formulas = {"gpipe": lambda m: states + activations, "1f1b": lambda m: states + activations * min(8, m) / m}
    for k, (schedule, kept) in enumerate(formulas.items()):
        runs = [run for run in lesson.runs if run["param.parallel.schedule"] == schedule]
        m = [run["param.parallel.micro_batches"] for run in runs]
        both(speed_axes, k, schedule, m, [run["speedup_throughput"] for run in runs], lambda m: 8 * m / (m + 7))
        both(memory_axes, k, schedule, m, [run["memory_bytes_max"] / 1e9 for run in runs], kept)
    speed_axes.axhline(8, color=GREY, linewidth=0.8, linestyle=":", label="8 times as fast")
    memory_axes.axhline(40, color=GREY, linewidth=0.8, linestyle="--", label="40 GB")
    for axes, label, top in ((speed_axes, "speed-up", 8.5), (memory_axes, "largest memory of a stage [GB]", 100)):
        axes.set_xscale("log")
        numbers_on(axes.xaxis, m)
        axes.set(xlabel="micro-batches", ylabel=label, ylim=(0, top))
        axes.legend()


def layout(run):
    """Returns the tensor, pipeline and data dimensions of a run of 64 devices, and its micro-batches."""
    tensor, pipeline, m = (int(run[f"param.parallel.{key}"]) for key in ("tensor", "pipeline", "micro_batches"))
    return tensor, pipeline, 64 // (tensor * pipeline), m


def step_s(t, p, d, m):
    """Returns the seconds of a step by the lesson's formula."""
    activations, parameters, t_c = 33.55e6, 77.36e9, 2.474  # bytes of a sequence between blocks; of all parameters

    def link(ranks, rings=1):  # seconds a byte of so many rings, and a latency, of the slowest link among neighbours
        return (1 / 300e9, 2e-6) if ranks <= 8 else (1 / 25e9 / rings, 10e-6)

    beta, alpha = link(t, rings=8)
    products = 192 / p * m * 2 * (t - 1) * (activations / t * beta + alpha)
    beta, alpha = link(t * d, rings=max(1, 8 // t))
    gradients = 2 * (d - 1) * (parameters / (t * p * d) * beta + alpha)
    beta, alpha = link(2 * t * d)
    hops = (2 * (p - 1) * (m / p + 1) - 2) * (activations * beta + alpha) if p > 1 else 0
    return (t_c + products) * (m + p - 1) / m + hops + gradients


def best_layout(lesson, figure):
    bytes_axes, time_axes = figure.subplots(1, 2, sharey=True)
    for run in lesson.runs:
        t, p, d, m = layout(run)
        agree(f"{t} x {p} x {d}", [m], [run["simulated_s"]], lambda _, s=step_s(t, p, d, m): s, within=0.01)
    memory(lesson, bytes_axes, ["{} x {} x {}".format(*layout(run)) for run in lesson.runs])
    times_of_parts(lesson, time_axes, ["compute_s", "communicate_s", "wait_s"])
    bytes_axes.set(ylabel="tensor x pipeline x data")
    time_axes.set(xlabel="seconds of a step", xlim=(0, 12.5))
    bytes_axes.legend(fontsize=7)
    time_axes.legend(loc="upper right", fontsize=7)


def slow_or_lost(lesson, figure):
    axes = figure.subplots()
    axes.set_axisbelow(True)
    row, lost = 0.571759, 31 + 9  # of a row on a device; the time of the crash, and that of starting again
    sums = {"replicas": 0.0751, "stages": 0.0126, "products": 1.5315}
    once = {"replicas": 15 * row, "stages": 47 * 3 / 8 * row, "products": 15 * row}
    named = []
    for run in lesson.runs:
        way = "stages" if run["param.parallel.pipeline"] == 8 else "products" if run["param.parallel.tensor"] == 8 else "replicas"
        step = once[way] + sums[way]
        slow = run["param.cluster.relative_speeds"] != "[]"
        by_speed = run["param.training.partition.shares"] == "speed"
        if run["param.cluster.failures.crash"] != "[]":
            spare = run["param.cluster.failures.spares"] == 1
            left = step if way != "replicas" else 18 * row + 0.0735
            down = 1 if spare or way == "replicas" else 60
            agree(way, [1], [run["simulated_s"]], lambda _, a=lost + down + 9 * left: a)
            name = "one lost, a spare" if spare else "one lost"
        elif slow:
            more = {"replicas": (1 if by_speed else 15) * row, "products": 15 * row, "stages": 40 * 3 / 8 * row}[way]
            agree(way, [1], [run["simulated_s"]], lambda _, a=12 * (step + more): a, within=0.05)
            name = "one slow, shares by speed" if by_speed else "one slow"
        else:
            agree(way, [1], [run["simulated_s"]], lambda _, a=12 * step: a)
            name = "undisturbed"
        named.append((way, name, run["simulated_s"]))
    colours = {"replicas": "#0072B2", "stages": "#E69F00", "products": "#009E73"}
    for y, (way, name, seconds) in enumerate(named):
        axes.barh(y, seconds, color=colours[way], height=0.7, label=way if name == "undisturbed" else None)
        axes.text(seconds + 2, y, f"{seconds:.0f}", va="center", fontsize=8)
    axes.set_yticks(range(len(named)), [name for _, name, _ in named])
    axes.invert_yaxis()
    axes.set(xlabel="time of twelve steps [s]", xlim=(0, 260))
    axes.legend(loc="lower right", fontsize=8)
