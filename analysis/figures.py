"""The common parts of all figures: style, command line, and saving.

Colours are those of M. Okabe and K. Ito, "Color Universal Design", 2008, which the colour-blind can tell apart; every
strategy has dashes or a hatching of its own besides, for paper without colours. A figure that is drawn again from the
same files with the same matplotlib is the same file, byte for byte. A figure has at most eight strategies, and at most
3,000 pixels in each direction.
"""

import argparse
import math
import re
import sys
import textwrap
import warnings
from pathlib import Path

try:
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt  # noqa: E402  (after the choice of the back end)
    from matplotlib import transforms  # noqa: E402

    from simgrad_results import ResultsError  # noqa: E402
except ModuleNotFoundError as missing:
    print(f"figures need the Python package {missing.name}: apt-get install python3-pandas python3-matplotlib, or "
          "pip install pandas matplotlib", file=sys.stderr)
    sys.exit(2)

COLOURS = ["#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000", "#F0E442"]
DASHES = ["-", "--", "-.", ":", (0, (5, 1, 1, 1, 1, 1)), (0, (8, 3)), (0, (1, 3)), (0, (3, 1, 1, 1))]
MARKERS = ["o", "s", "^", "D", "v", "P", "X", "*"]
#: compute, communicate, wait, down: colour, hatching and name.
PART_STYLES = [("#0072B2", "", "compute"), ("#E69F00", "///", "communicate"), ("#CCCCCC", "", "wait"),
               ("#000000", "", "down")]

plt.rcParams.update({
    "figure.figsize": (6.0, 3.7), "figure.dpi": 150, "savefig.bbox": "tight", "savefig.pad_inches": 0.05,
    "font.size": 10, "axes.titlesize": 11, "axes.labelsize": 10, "legend.fontsize": 9, "legend.frameon": False,
    "axes.spines.top": False, "axes.spines.right": False, "axes.grid": True, "grid.alpha": 0.3, "grid.linewidth": 0.6,
    "lines.linewidth": 1.8, "lines.markersize": 5, "hatch.linewidth": 0.6,
    "svg.fonttype": "none", "svg.hashsalt": "simgrad", "pdf.fonttype": 42,
})


#: The most strategies in one figure (lines, clouds of points or panels), and the most bars.
MOST, MOST_BARS = 8, 40
#: The most characters of a label, and of one of its lines.
LABEL, LABEL_LINE = 60, 30


def style(number):
    """Returns colour, dashes and marker of the strategy with this number."""
    return {"color": COLOURS[number % len(COLOURS)],
            "linestyle": DASHES[(number + number // len(COLOURS)) % len(DASHES)],
            "marker": MARKERS[number % len(MARKERS)]}


def plain(text):
    """Returns a label for matplotlib, which takes `$` for the beginning of a formula and leaves labels with a leading `_`
    out of legends."""
    text = "".join(" " if ord(c) < 32 else c for c in str(text)).replace("$", "\\$")
    return "\u200b" + text if text.startswith("_") else text  # a space of no width


def cut(text, most=LABEL):
    """Returns a text of at most so many characters; an ellipsis stands in its middle, since labels often end unlike."""
    text = str(text)
    kept = most - 1
    return text if len(text) <= most else text[:kept - kept // 2] + "\u2026" + text[len(text) - kept // 2:]


def label(*parts, most=LABEL):
    """Returns a label for matplotlib from its parts (strategy, grid point; empty ones are left out), in several lines
    where it is long."""
    text = cut(", ".join(str(part) for part in parts if part), most)
    return "\n".join(map(plain, textwrap.wrap(text, LABEL_LINE) or [text]))


#: Fonts with Chinese, Japanese and Korean characters, as Linux, macOS and Windows have them.
CJK_FONTS = ["Noto Sans CJK SC", "Noto Sans CJK JP", "Source Han Sans SC", "WenQuanYi Micro Hei", "WenQuanYi Zen Hei",
             "PingFang SC", "Microsoft YaHei", "SimHei", "Droid Sans Fallback"]


def _add_fonts(figure):
    """Adds one of CJK_FONTS, if installed, to texts with characters that the default font lacks."""
    from matplotlib import font_manager, text
    there = {font.name for font in font_manager.fontManager.ttflist}
    more = [name for name in CJK_FONTS if name in there]
    for each in figure.findobj(text.Text):
        if more and any(ord(c) > 0x2E7F for c in each.get_text()):
            each.set_fontfamily(list(plt.rcParams["font.family"]) + more)


def numbers(labels):
    """Returns a number for every label, in the order of first appearance."""
    return {label: number for number, label in enumerate(dict.fromkeys(labels))}


def say(text):
    """Prints a remark on a figure on stderr."""
    print(text, file=sys.stderr)


def best(names, order, by, most=MOST, rest="are left out"):
    """Returns the places of the best `most` of the names, in the order of the names, and says which they are if there
    are more.

    order: a number for each name; the smallest is the best, NaN is the worst.  by: the number in words.
    """
    if len(names) <= most:
        return list(range(len(names)))
    order = list(order)
    ranked = sorted(range(len(names)), key=lambda k: (math.isnan(order[k]), order[k]))
    shown = sorted(ranked[:most])
    say(f"The figure shows the {most} best of {len(names)} by {by}: {'; '.join(cut(names[k]) for k in shown)}. The other "
        f"{len(names) - most} {rest}. Choose others with --only LABEL (repeatable) or --at KEY=VALUE.")
    return shown


def legend(axes, handles=None):
    """Adds the legend: within the axes if it is short, else at their right, where it hides nothing."""
    handles = axes.get_legend_handles_labels()[0] if handles is None else handles
    lines = sum(handle.get_label().count("\n") + 1 for handle in handles)
    beside = {"loc": "upper left", "bbox_to_anchor": (1.01, 1.0), "borderaxespad": 0.0} if lines > 5 else {}
    return axes.legend(handles=handles, **beside) if handles else None


#: Places of a label around its point, the nearest first: (horizontal, vertical) steps of 4 points.
_PLACES = [(x * distance, y * distance) for distance in (1.2, 2, 3)
           for x, y in ((1, 1), (1, -1), (-1, 1), (-1, -1), (0, 1.5), (0, -1.5), (2, 0), (-2, 0))]


def annotate_apart(axes, labels, fontsize=7, places=_PLACES):
    """Writes a text at each point (x, y, text) of the axes, moved so that no two of them overlap, nor one a point or the
    legend.

    A text that has no room near its point is left out, and a remark on stderr counts them.
    """
    figure = axes.figure
    figure.canvas.draw()  # the places of axes and legend are known then
    renderer = figure.canvas.get_renderer()
    inside = axes.get_window_extent(renderer)
    taken = [axes.get_legend().get_window_extent(renderer)] if axes.get_legend() else []
    marker = figure.dpi * plt.rcParams["lines.markersize"] / 72 / 2
    taken += [transforms.Bbox.from_bounds(x, y, 0, 0).padded(marker)
              for x, y in axes.transData.transform([label[:2] for label in labels])]
    left_out = 0
    for x, y, text in labels:
        note = axes.annotate(text, (x, y), fontsize=fontsize, textcoords="offset points", xytext=(0, 0))
        for across, up in places:
            note.set_position((4 * across, 4 * up))
            note.set_horizontalalignment("left" if across > 0 else "right" if across < 0 else "center")
            note.set_verticalalignment("bottom" if up > 0 else "top" if up < 0 else "center")
            box = note.get_window_extent(renderer).padded(1.0)
            if not any(box.overlaps(other) for other in taken) and inside.contains(box.x0, box.y0) \
                    and inside.contains(box.x1, box.y1):
                taken.append(box)
                break
        else:
            note.remove()
            left_out += 1
    if left_out:
        say(f"{left_out} of {len(labels)} labels have no room and are left out; --only LABEL or --at KEY=VALUE makes room.")


#: Units of time on axes: name and seconds.
UNITS = [("d", 86400.0), ("h", 3600.0), ("min", 60.0), ("s", 1.0), ("ms", 1e-3), ("µs", 1e-6), ("ns", 1e-9)]


def time_unit(longest_s):
    """Returns the largest unit that fits at least twice, as (name, seconds)."""
    return next((unit for unit in UNITS if longest_s >= 2 * unit[1]), UNITS[-1])


def arguments(description, default_name):
    """Returns a parser with the arguments of every figure: the directory, --out, --at and --only."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("directory", metavar="DIR", help="what `simgrad run --out` has written")
    parser.add_argument("--out", metavar="FILE", help=f"an .svg, .pdf or .png (default: DIR/{default_name}.svg)")
    parser.add_argument("--at", metavar="KEY=VALUE", action="append",
                        help="only these grid points: --at cluster.workers=8 (repeatable)")
    parser.add_argument("--only", metavar="LABEL", action="append",
                        help="only this strategy, by its label or its kind (repeatable)")
    parser.set_defaults(name=default_name)
    return parser


def save(figure, chosen):
    """Writes the figure to the file of the arguments, and prints its name."""
    path = Path(chosen.out or Path(chosen.directory) / f"{chosen.name}.svg")
    dates = {".svg": {"Date": None}, ".pdf": {"CreationDate": None}, ".png": {"Software": None}}
    if path.suffix not in dates:
        raise ResultsError(f"--out {path}: expected a name that ends in .svg, .pdf or .png")
    _add_fonts(figure)
    try:
        with warnings.catch_warnings(record=True) as told:
            warnings.simplefilter("always")
            figure.savefig(path, metadata=dates[path.suffix])
        lacking = [each for each in told if "missing from" in str(each.message)]
        for each in told:
            if each not in lacking:
                warnings.warn(each.message)
        if lacking and path.suffix != ".svg":  # an SVG has the text itself
            print(f"{path}: no font here has all its characters; install one such as fonts-noto-cjk, or take .svg",
                  file=sys.stderr)
        if path.suffix == ".svg":
            path.write_text(_numbered(path.read_text(encoding="utf-8")), encoding="utf-8")
    except OSError as error:
        raise ResultsError(f"{path}: cannot be written: {error.strerror}") from error
    print(path)


def _numbered(svg):
    """Returns the SVG with numbered clipping paths: matplotlib names some after addresses in memory."""
    names = dict.fromkeys(re.findall(r'<clipPath id="(p[0-9a-f]+)"', svg))
    new = {name: f"clip{number}" for number, name in enumerate(names, start=1)}
    return re.sub(r"p[0-9a-f]{10}", lambda found: new.get(found[0], found[0]), svg)


def run(draw, parser, words=None):
    """Draws and saves the figure of a command line. Returns the exit code: invalid results give one line on stderr and
    exit code 2."""
    chosen = parser.parse_args(words)
    try:
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", "Glyph .* missing from")  # during layout; save() warns once
            figure = draw(chosen)
        save(figure, chosen)
        plt.close(figure)
    except ResultsError as error:
        print(error, file=sys.stderr)
        return 2
    return 0
