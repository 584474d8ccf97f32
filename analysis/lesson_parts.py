"""The parts that figures of lessons share: dots beside formulas, and bars of memory and of time."""

import math

from figures import COLOURS, DASHES, MARKERS, PART_STYLES
from matplotlib.ticker import FixedLocator, NullFormatter, NullLocator, StrMethodFormatter
from simgrad_results import ResultsError, load_ranks

GREY = "#666666"


def style(k):
    return {"color": COLOURS[k], "linestyle": DASHES[k]}


def dots(k):
    return {"color": COLOURS[k], "linestyle": "none", "marker": MARKERS[k], "markersize": 6}


def agree(label, x, simulated, formula, within=0.02):
    """Refuses results that differ from the formula: a run of the exercise is not a run of the lesson."""
    for at, found in zip(x, simulated):
        if not abs(found - formula(at)) <= within * abs(formula(at)):
            raise ResultsError(f"{label}, at {at:g}: simulated {found:.4g}, but by the lesson's formula {formula(at):.4g}; its "
                               "figure is drawn from a run of the lesson's own scenario, without --set")


def both(axes, k, label, x, simulated, formula, within=0.02):
    """Draws simulated dots at x, and the line of the formula between them."""
    agree(label, x, simulated, formula, within)
    axes.plot(x, simulated, label=label, **dots(k))
    low, high = math.log(min(x)), math.log(max(x))
    fine = [math.exp(low + (high - low) * i / 200) for i in range(201)]
    axes.plot(fine, [formula(each) for each in fine], **style(k))


def numbers_on(axis, values):
    axis.set_major_locator(FixedLocator(values))
    axis.set_major_formatter(StrMethodFormatter("{x:g}"))
    axis.set_minor_locator(NullLocator())
    axis.set_minor_formatter(NullFormatter())


#: The terms of a device's memory, with their colours.
TERMS = [("parameters", "#0072B2"), ("optimizer", "#56B4E9"), ("gradients", "#009E73"), ("activations", "#E69F00"),
         ("gathered", "#CC79A7"), ("buckets", "#999999")]


def memory(lesson, axes, names):
    """Draws the memory of the first device of each run, term by term, at the moment of its peak."""
    ranks = load_ranks(lesson.directory).to_dict("records")
    first = {rank["run"]: rank for rank in ranks if rank["rank"] == 0}
    axes.set_axisbelow(True)
    left = [0.0] * len(lesson.runs)
    for term, colour in TERMS:
        sizes = [first[run["id"]][f"memory_{term}_bytes"] / 1e9 for run in lesson.runs]
        if any(sizes):
            axes.barh(range(len(sizes)), sizes, left=left, color=colour, height=0.6, label=term)
        left = [before + size for before, size in zip(left, sizes)]
    axes.axvline(40, color=GREY, linewidth=0.8, linestyle="--", label="40 GB")
    axes.set_yticks(range(len(names)), names)
    axes.invert_yaxis()
    axes.set(xlabel="memory of a device at its peak [GB]", xlim=(0, 1.05 * max(left)))


def times_of_parts(lesson, axes, parts):
    """Draws those parts of the time of each run."""
    for y, run in enumerate(lesson.runs):
        left = 0.0
        for part, (colour, _, name) in zip(parts, PART_STYLES):
            axes.barh(y, run[part], left=left, color=colour, height=0.6, label=name if y == 0 else None)
            left += run[part]
    axes.set_axisbelow(True)
