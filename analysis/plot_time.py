"""Where the time went: computing, communicating, waiting and being down, per strategy and grid point, or per rank.

    python3 analysis/plot_time.py out/house_prices
    python3 analysis/plot_time.py out/house_prices --ranks allreduce --at cluster.workers=8
"""

import sys

import figures
import simgrad_results as results


def of_rows(runs):
    """Returns the names of the bars and their parts: a row each, means over the seeds (and workers)."""
    sound = runs[runs["status"] != "failed"]
    keys = results.row_keys(runs)
    means = sound.groupby(keys, sort=False, dropna=False)[results.PARTS].mean().reset_index()
    varied = results.varied(means)
    names = [", ".join(filter(None, (row["label"], results.point_text(row, varied)))) for _, row in means.iterrows()]
    shown = figures.best(names, means[results.PARTS].sum(axis=1), "simulated time", figures.MOST_BARS)
    return [names[k] for k in shown], means.iloc[shown].reset_index(drop=True)


def of_ranks(ranks, label):
    """Returns the names and parts of the ranks of one run, the first with this label."""
    chosen = ranks[(ranks["label"] == label) | (ranks["strategy"] == label)]
    if chosen.empty:
        raise results.ResultsError(f"--ranks {label}: no run is called that; known: {', '.join(dict.fromkeys(ranks['label']))}")
    one = chosen[chosen["run"] == chosen["run"].iloc[0]].reset_index(drop=True)
    if len(one) > figures.MOST_BARS:
        places = [round(k * (len(one) - 1) / (figures.MOST_BARS - 1)) for k in range(figures.MOST_BARS)]
        figures.say(f"The figure shows {len(places)} of {len(one)} ranks, at equal distances from the first to the last.")
        one = one.iloc[places].reset_index(drop=True)
    return [f"{role} {int(rank)}" for role, rank in zip(one["role"], one["rank"])], one


def draw(chosen):
    if chosen.ranks:
        names, parts = of_ranks(results.selected(results.load_ranks(chosen.directory), chosen), chosen.ranks)
    else:
        names, parts = of_rows(results.selected(results.load_runs(chosen.directory), chosen))
    for name, missing in zip(names, parts[results.PARTS].isna().any(axis=1)):
        if missing:
            raise results.ResultsError(f"{chosen.directory}: of {name} it is not known how its time went; did the run fail?")
    if not names or not parts[results.PARTS].to_numpy().sum() > 0:
        raise results.ResultsError(f"{chosen.directory}: no run has spent any time")
    unit, scale = figures.time_unit(parts[results.PARTS].sum(axis=1).max())
    figure, axes = figures.plt.subplots(figsize=(6.0, 0.9 + 0.3 * len(names)))
    left = parts[results.PARTS[0]] * 0.0
    for column, (colour, hatch, name) in zip(results.PARTS, figures.PART_STYLES):
        if parts[column].sum() == 0:
            continue
        width = parts[column] / scale
        axes.barh(range(len(names)), width, left=left, color=colour, hatch=hatch, edgecolor="white", linewidth=0.4,
                  label=name)
        left = left + width
    axes.set_yticks(range(len(names)))
    axes.set_yticklabels([figures.plain(figures.cut(name, 40)) for name in names])
    axes.invert_yaxis()
    axes.grid(axis="y", visible=False)
    axes.set_xlabel(f"simulated time [{unit}]" + ("" if chosen.ranks else ", mean over workers"))
    axes.legend(ncol=4, loc="lower left", bbox_to_anchor=(0, 1.0))
    return figure


def arguments():
    parser = figures.arguments(__doc__.splitlines()[0], "time")
    parser.add_argument("--ranks", metavar="LABEL", help="the ranks of that strategy instead")
    return parser


if __name__ == "__main__":
    sys.exit(figures.run(draw, arguments()))
