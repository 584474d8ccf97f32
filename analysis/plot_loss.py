"""Loss (or another column of curves.csv) against simulated time, steps or samples; bands are 95 % confidence over seeds.

    python3 analysis/plot_loss.py out/house_prices --at cluster.workers=8
"""

import sys

import figures
import pandas as pd
import simgrad_results as results


def draw_least_losses(axes, runs):
    """Draws the least loss that any model can be expected to reach, where the data tell it: the mean over the seeds."""
    if "loss_floor" not in runs or runs["loss_floor"].isna().all():
        return
    keys = results.parameters(runs)
    values = runs.groupby(keys)["loss_floor"].mean() if keys else pd.Series([runs["loss_floor"].mean()])
    for number, value in enumerate(sorted(set(values.dropna()))):
        axes.axhline(value, color="black", linestyle=":", linewidth=1, label=None if number else "least expected loss")


def draw(chosen):
    curves = results.at_point(results.load_curves(chosen.directory), chosen.at)
    means = results.mean_curves(curves, chosen.of)
    if means.empty:
        raise results.ResultsError(f"{chosen.directory}/curves.csv: there is no {chosen.of} to draw")
    unit, scale = ("", 1.0)
    if chosen.against == "simulated_s":
        unit, scale = figures.time_unit(means["simulated_s"].max())
    figure, axes = figures.plt.subplots()
    keys = results.row_keys(curves)
    rows = list(results.groups(means, keys))
    several = len(rows) > means["label"].nunique()
    for number, (_, row) in enumerate(rows):
        point = results.point_text(row.iloc[0]) if several else ""
        style = figures.style(number)
        style.pop("marker")
        x = row[chosen.against] / scale
        axes.plot(x, row["mean"], label=figures.plain(row["label"].iloc[0] + (f", {point}" if point else "")), **style)
        if row["low"].notna().any():
            axes.fill_between(x, row["low"], row["high"], color=style["color"], alpha=0.2, linewidth=0)
    if chosen.of == "loss":
        draw_least_losses(axes, results.at_point(results.load_runs(chosen.directory), chosen.at))
    if means["mean"].min() > 0 and means["mean"].max() > 20 * means["mean"].min():
        axes.set_yscale("log")
    axes.set_xlabel(f"simulated time [{unit}]" if unit else chosen.against)
    axes.set_ylabel(chosen.of)
    axes.set_xlim(left=0)
    axes.legend()
    return figure


def arguments():
    parser = figures.arguments(__doc__.splitlines()[0], "loss")
    parser.add_argument("--against", choices=["simulated_s", "step", "samples"], default="simulated_s")
    parser.add_argument("--of", metavar="COLUMN", default="loss", help="a column of curves.csv: loss, accuracy, r2, ...")
    return parser


if __name__ == "__main__":
    sys.exit(figures.run(draw, arguments()))
