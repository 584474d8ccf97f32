"""The busiest links of every strategy: the bytes that each carried, and the share of the time in which it was busy.

    python3 analysis/plot_links.py out/oversubscribed_racks --at cluster.topology.oversubscription=16
"""

import argparse
import sys

import figures
import simgrad_results as results

COLUMNS = 4  #: of panels


def panel_frames(links, directory):
    """Returns the name and the links of each panel: the strategies with the busiest links."""
    keys = results.row_keys(links)
    means = links.groupby(keys + ["link"], sort=False, dropna=False)[["bytes", "utilisation"]].mean().reset_index()
    rows = [row for _, row in results.groups(means, keys)] if len(means) else []
    if not rows:
        raise results.ResultsError(f"{directory}/links.csv: no link has carried anything")
    varied = results.varied(means)
    names = [(row["label"].iloc[0], results.point_text(row.iloc[0], varied)) for row in rows]
    shown = figures.best([", ".join(filter(None, name)) for name in names], [-row["utilisation"].max() for row in rows],
                         "the use of their busiest link")
    return [(names[k], rows[k]) for k in shown]


def draw_panel(axes, name, row, most):
    busiest = row.sort_values(["utilisation", "bytes", "link"], ascending=[False, False, True]).head(most)
    places = range(len(busiest))
    axes.barh(places, 100 * busiest["utilisation"], color=figures.COLOURS[5])
    for place, carried in zip(places, busiest["bytes"]):
        axes.text(2, place, bytes_text(carried), va="center", fontsize=7)
    axes.set_yticks(places)
    axes.set_yticklabels([figures.plain(figures.cut(link, 16)) for link in busiest["link"]], fontsize=8)
    axes.invert_yaxis()
    axes.grid(axis="y", visible=False)
    axes.set_title("\n".join(figures.label(part, most=48) for part in name if part), fontsize=9)
    axes.set_xlabel("busy [%]")
    axes.set_xlim(0, 100)


def draw(chosen):
    shown = panel_frames(results.selected(results.load_links(chosen.directory), chosen), chosen.directory)
    columns = min(len(shown), COLUMNS)
    lines = -(-len(shown) // columns)
    figure, panels = figures.plt.subplots(lines, columns, squeeze=False, sharex=True,
                                          figsize=(2.2 + 2.2 * columns, lines * (0.9 + 0.22 * chosen.most)))
    for axes, (name, row) in zip(panels.flat, shown):
        draw_panel(axes, name, row, chosen.most)
    for axes in panels.flat[len(shown):]:
        axes.set_axis_off()
    figure.tight_layout()
    return figure


def bytes_text(number):
    """Returns "1.2 GB" for 1.2e9, in powers of 1000."""
    for unit in ("B", "kB", "MB", "GB", "TB"):
        if number < 1000 or unit == "TB":
            return f"{number:.3g} {unit}"
        number /= 1000


def links_most(text):
    """Returns the number of links a panel; more than 36 would make a figure too high for a page."""
    if not text.isdecimal() or not 1 <= int(text) <= 36:
        raise argparse.ArgumentTypeError(f"{text}: expected a whole number from 1 to 36")
    return int(text)


def arguments():
    parser = figures.arguments(__doc__.splitlines()[0], "links")
    parser.add_argument("--most", metavar="N", type=links_most, default=10,
                        help="so many links a strategy (default 10, at most 36)")
    return parser


if __name__ == "__main__":
    sys.exit(figures.run(draw, arguments()))
