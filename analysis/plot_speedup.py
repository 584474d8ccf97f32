"""Speed-up and efficiency against the number of workers, with the ideal line and Amdahl's fit.

    python3 analysis/plot_speedup.py out/house_prices
"""

import sys

import figures
import simgrad_results as results


def draw(chosen):
    runs = results.at_point(results.load_runs(chosen.directory), chosen.at)
    rows = results.speedup(runs, chosen.measure)
    if rows.empty:
        raise results.ResultsError(f"{chosen.directory}/runs.csv: no run has a speed-up; it needs baselines, so run "
                                   "without --no-baseline (and with a target that is reached, for time_to_target)")
    efficiency = "efficiency" if chosen.measure == "throughput" else "efficiency_to_target"
    others = [name for name in results.parameters(runs) if name != "param.cluster.workers"]
    figure, (upper, lower) = figures.plt.subplots(2, 1, sharex=True, figsize=(6.0, 5.2),
                                                  gridspec_kw={"height_ratios": [3, 2]})
    most = rows["workers"].max()
    upper.plot([1, most], [1, most], color="0.5", linewidth=1, label="ideal")
    lower.axhline(1.0, color="0.5", linewidth=1)
    for number, (_, row) in enumerate(results.groups(rows, ["label"] + others)):
        row = row.sort_values("workers")
        style = figures.style(number)
        label = row["label"].iloc[0]
        if others:
            label += ", " + results.point_text(row.iloc[0][others])
        label = figures.plain(label)
        serial = results.amdahl(row["workers"], row["mean"])
        if serial == serial:
            label += f" (serial {100 * serial:.2g} %)"
        upper.plot(row["workers"], row["mean"], label=label, **style)
        lower.plot(row["workers"], row[efficiency], **style)
        if row["low"].notna().any():
            upper.fill_between(row["workers"], row["low"], row["high"], color=style["color"], alpha=0.2, linewidth=0)
    for axes in (upper, lower):
        axes.set_xscale("log", base=2)
    upper.set_yscale("log", base=2)
    for axis in (upper.xaxis, upper.yaxis):
        axis.set_major_formatter(figures.matplotlib.ticker.FormatStrFormatter("%g"))
    lower.set_ylim(0, max(1.05, 1.05 * rows[efficiency].max()))
    upper.set_ylabel("speed-up" + (" (samples/s)" if chosen.measure == "throughput" else " (time to target)"))
    lower.set_ylabel(efficiency.replace("_", " "))
    lower.set_xlabel("workers")
    upper.legend()
    return figure


def arguments():
    parser = figures.arguments(__doc__.splitlines()[0], "speedup")
    parser.add_argument("--measure", choices=["throughput", "time_to_target"], default="throughput")
    return parser


if __name__ == "__main__":
    sys.exit(figures.run(draw, arguments()))
