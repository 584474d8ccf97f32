"""The busiest links of every strategy: the bytes that each carried, and the share of the time in which it was busy.

    python3 analysis/plot_links.py out/oversubscribed_racks --at cluster.topology.oversubscription=16
"""

import sys

import figures
import simgrad_results as results


def draw(chosen):
    links = results.at_point(results.load_links(chosen.directory), chosen.at)
    keys = results.row_keys(links)
    means = links.groupby(keys + ["link"], sort=False, dropna=False)[["bytes", "utilisation"]].mean().reset_index()
    rows = list(results.groups(means, keys))
    if not rows:
        raise results.ResultsError(f"{chosen.directory}/links.csv: no link has carried anything")
    figure, panels = figures.plt.subplots(1, len(rows), squeeze=False, sharex=True,
                                          figsize=(2.2 + 2.2 * len(rows), 0.9 + 0.22 * chosen.most))
    several = len(rows) > means["label"].nunique()
    for axes, (_, row) in zip(panels[0], rows):
        busiest = row.sort_values(["utilisation", "bytes", "link"], ascending=[False, False, True]).head(chosen.most)
        places = range(len(busiest))
        axes.barh(places, 100 * busiest["utilisation"], color=figures.COLOURS[5])
        for place, carried in zip(places, busiest["bytes"]):
            axes.text(2, place, bytes_text(carried), va="center", fontsize=7)
        axes.set_yticks(places)
        axes.set_yticklabels(map(figures.plain, busiest["link"]), fontsize=8)
        axes.invert_yaxis()
        axes.grid(axis="y", visible=False)
        point = results.point_text(row.iloc[0]) if several else ""
        axes.set_title(figures.plain(row["label"].iloc[0]) + (f"\n{figures.plain(point)}" if point else ""), fontsize=9)
        axes.set_xlabel("busy [%]")
        axes.set_xlim(0, 100)
    figure.tight_layout()
    return figure


def bytes_text(number):
    """Returns "1.2 GB" for 1.2e9, in powers of 1000."""
    for unit in ("B", "kB", "MB", "GB", "TB"):
        if number < 1000 or unit == "TB":
            return f"{number:.3g} {unit}"
        number /= 1000


def arguments():
    parser = figures.arguments(__doc__.splitlines()[0], "links")
    parser.add_argument("--most", metavar="N", type=int, default=10, help="so many links a strategy (default 10)")
    return parser


if __name__ == "__main__":
    sys.exit(figures.run(draw, arguments()))
