"""Loss (or another column of curves.csv) against simulated time, steps or samples; bands are 95 % confidence over seeds.

    python3 analysis/plot_loss.py out/house_prices --at cluster.workers=8
"""

import sys

import figures
import pandas as pd
import simgrad_results as results

#: Columns of curves.csv of which more is better.
MORE_IS_BETTER = ["accuracy", "r2"]


def draw_least_losses(axes, runs):
    """Draws the least loss that any model can be expected to reach, where the data tell it: the mean over the seeds."""
    if "loss_floor" not in runs or runs["loss_floor"].isna().all():
        return []
    keys = results.parameters(runs)
    values = runs.groupby(keys)["loss_floor"].mean() if keys else pd.Series([runs["loss_floor"].mean()])
    levels = sorted(set(values.dropna()))[:figures.MOST]
    for number, value in enumerate(levels):
        axes.axhline(value, color="black", linestyle=":", linewidth=1, label=None if number else "least expected loss")
    return levels


def best_curves(names, rows, chosen):
    """Returns the places of the curves that are shown: the best where the first of all curves ends."""
    end = min(row[chosen.against].max() for row in rows)
    then = [row[row[chosen.against] <= end]["mean"] for row in rows]
    values = [before.iloc[-1] if len(before) else float("nan") for before in then]
    more = chosen.of in MORE_IS_BETTER
    return figures.best(names, [-value if more else value for value in values],
                        f"the {'largest' if more else 'smallest'} {chosen.of} where the first curve ends")


def draw(chosen):
    curves = results.selected(results.load_curves(chosen.directory), chosen)
    means = results.mean_curves(curves, chosen.of)
    if means.empty:
        raise results.ResultsError(f"{chosen.directory}/curves.csv: there is no {chosen.of} to draw")
    unit, scale = ("", 1.0)
    if chosen.against == "simulated_s":
        unit, scale = figures.time_unit(means["simulated_s"].max())
    figure, axes = figures.plt.subplots()
    varied = results.varied(means)
    rows = [row for _, row in results.groups(means, results.row_keys(curves))]
    names = [(row["label"].iloc[0], results.point_text(row.iloc[0], varied)) for row in rows]
    handles = []
    for number, place in enumerate(best_curves([", ".join(filter(None, name)) for name in names], rows, chosen)):
        row, style = rows[place], figures.style(number)
        style.pop("marker")
        x = row[chosen.against] / scale
        handles += axes.plot(x, row["mean"], label=figures.label(*names[place]), **style)
        if row["low"].notna().any():
            axes.fill_between(x, row["low"], row["high"], color=style["color"], alpha=0.2, linewidth=0)
    levels = []
    if chosen.of == "loss":
        levels = draw_least_losses(axes, results.selected(results.load_runs(chosen.directory), chosen))
    if means["mean"].min() > 0 and means["mean"].max() > 20 * means["mean"].min():
        axes.set_yscale("log")
    axes.set_xlabel(f"simulated time [{unit}]" if unit else chosen.against)
    axes.set_ylabel(chosen.of)
    axes.set_xlim(left=0)
    figures.legend(axes, handles)
    if levels:
        figures.annotate_apart(axes, [(axes.get_xlim()[1], levels[0], "least expected loss")])
    return figure


def arguments():
    parser = figures.arguments(__doc__.splitlines()[0], "loss")
    parser.add_argument("--against", choices=["simulated_s", "step", "samples"], default="simulated_s")
    parser.add_argument("--of", metavar="COLUMN", default="loss", help="a column of curves.csv: loss, accuracy, r2, ...")
    return parser


if __name__ == "__main__":
    sys.exit(figures.run(draw, arguments()))
