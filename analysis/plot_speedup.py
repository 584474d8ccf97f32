"""Speed-up and efficiency against the number of workers, with the ideal line and Amdahl's fit.

    python3 analysis/plot_speedup.py out/house_prices
"""

import sys

import figures
import simgrad_results as results


def series_of(rows, efficiency):
    """Returns the lines of the figure, as pairs of a label's parts and a frame: the best by their largest speed-up."""
    others = [name for name in results.varied(rows) if name != "param.cluster.workers"]
    # Grid points with unlike values are lines of their own, also where the rows that are left have one value.
    keys = ["label"] + [name for name in results.parameters(rows) if name != "param.cluster.workers"]
    lines = [row.sort_values("workers") for _, row in results.groups(rows, keys)]
    names = [(row["label"].iloc[0], results.point_text(row.iloc[0], others)) for row in lines]
    measure = "speed-up" if efficiency == "efficiency" else "speed-up to the target"
    shown = figures.best([", ".join(filter(None, name)) for name in names], [-row["mean"].max() for row in lines],
                         f"their largest {measure}")
    return [(names[k], lines[k]) for k in shown]


def serial_share(name, row):
    """Returns the serial share by Amdahl's law as the end of a label; empty, with a remark, where the law says nothing."""
    why = results.slow_down(row["workers"], row["mean"])
    if why:
        figures.say(f"Amdahl's law is not fitted to {figures.cut(', '.join(filter(None, name)))}: {why}.")
        return ""
    serial = results.amdahl(row["workers"], row["mean"])
    return f" (serial {100 * serial:.2g} %)" if serial == serial else ""


def draw(chosen):
    runs = results.selected(results.load_runs(chosen.directory), chosen)
    rows = results.speedup(runs, chosen.measure)
    if rows.empty:
        raise results.ResultsError(f"{chosen.directory}/runs.csv: no run has a speed-up; it needs baselines, so run "
                                   "without --no-baseline (and with a target that is reached, for time_to_target)")
    efficiency = "efficiency" if chosen.measure == "throughput" else "efficiency_to_target"
    figure, (upper, lower) = figures.plt.subplots(2, 1, sharex=True, figsize=(6.0, 5.2),
                                                  gridspec_kw={"height_ratios": [3, 2]})
    most = rows["workers"].max()
    upper.plot([1, most], [1, most], color="0.5", linewidth=1, label="ideal")
    lower.axhline(1.0, color="0.5", linewidth=1)
    handles = []
    for number, (name, row) in enumerate(series_of(rows, efficiency)):
        style = figures.style(number)
        handles += upper.plot(row["workers"], row["mean"], label=figures.label(*name) + serial_share(name, row), **style)
        lower.plot(row["workers"], row[efficiency], **style)
        if row["low"].notna().any():
            upper.fill_between(row["workers"], row["low"], row["high"], color=style["color"], alpha=0.2, linewidth=0)
    for axes in (upper, lower):
        axes.set_xscale("log", base=2)
    upper.set_yscale("log", base=2)
    for axis in (upper.xaxis, upper.yaxis):
        axis.set_major_formatter(figures.matplotlib.ticker.FormatStrFormatter("%g"))
    lower.yaxis.set_major_locator(figures.matplotlib.ticker.MaxNLocator(4, steps=[1, 2, 5, 10]))
    lower.set_ylim(0, max(1.05, 1.05 * rows[efficiency].max()))
    upper.set_ylabel("speed-up" + (" (samples/s)" if chosen.measure == "throughput" else " (time to target)"))
    lower.set_ylabel(efficiency.replace("_", " "))
    lower.set_xlabel("workers")
    figures.legend(upper, handles)
    figures.annotate_apart(upper, [(most, most, "ideal")], places=[(-3, 0), (-3, 1), (-6, 0), (3, -1)])
    return figure


def arguments():
    parser = figures.arguments(__doc__.splitlines()[0], "speedup")
    parser.add_argument("--measure", choices=["throughput", "time_to_target"], default="throughput")
    return parser


if __name__ == "__main__":
    sys.exit(figures.run(draw, arguments()))
