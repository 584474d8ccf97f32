"""The page of a large experiment: its headline, the winners of each grid point, and the choice of the closer look."""

from sentences.facts import Top, mean, point_text, point_words
from sentences.tables import close

PARTS = ("compute_share", "communicate_share", "wait_share", "down_share")


def tops(experiment):
    """The top of each grid point; None where no case has the measure."""
    by_point = {}
    for case in experiment.cases:
        by_point.setdefault(point_text(case.point), []).append(case)
    found = []
    for point in experiment.points:
        ranked = experiment.ranking(by_point[point_text(point)], experiment.measure)
        found.append(Top(ranked, experiment.measure) if ranked else None)
    return found


def headline(reader, experiment):
    """Counts of grid points by winner."""
    all_tops = tops(experiment)
    got = reader.need(r"Of <whole n> grid points, by (?P<by>time to the target|time per sample): ")
    reader.claim("count", int(got["n"]) == len(all_tops), f"{len(all_tops)} grid points")
    reader.claim("measure", got["by"] == experiment.measure, experiment.measure)
    known = [top for top in all_tops if top]
    alone = [top for top in known if top.lead != "unclear" and len(top.all) == 1]
    truth = {label: sum(top.all[0].label == label for top in alone) for label in experiment.labels}
    last = None
    while got := reader.take(r"<plain s> is first at <whole n>"):
        label = next(case.label for case in reader.names.by["plain"][got["s"]])
        reader.claim("count", int(got["n"]) == truth.pop(label, None), f"{label}")
        reader.claim("order", last is None or int(got["n"]) <= last, "the most first")
        last = int(got["n"])
        reader.take("; ")
    reader.claim("count", not any(truth.values()), f"not named: {truth}")
    several = sum(top.lead != "unclear" and len(top.all) > 1 for top in known)
    unclear = sum(top.lead == "unclear" for top in known)
    for words, number in ((r"several are equally fast at <whole n>", several),
                          (r"there is no clear winner at <whole n>", unclear),
                          (r"no strategy can be compared at <whole n>", len(all_tops) - len(known))):
        got = reader.take(words)
        reader.claim("count", int(got["n"]) == number if got else number == 0, f"{number}")
        if got:
            reader.take("; ")
    reader.need(r"\.")
    remark(reader, experiment, known)


def remark(reader, experiment, known):
    said = reader.take(r" One seed: the order may be chance\.") or reader.take(r" .*[Oo]ne seed.*chance.*$")
    may_be = any(experiment.may_be_chance(top) for top in known)
    reader.claim("one seed", bool(said) == may_be, f"{may_be}")


def winners(reader, experiment, overview):
    """The winners that the page's own sentences name: compared as data."""
    reader.at = len(reader.text)
    for found, top in zip(overview["winners"], tops(experiment), strict=True):
        truth = top and (top.lead, sorted(case.label for case in top.all))
        said = found and (found["lead"], sorted(overview["strategies"][each] for each in found["strategies"]))
        reader.claim("winner of a grid point", said == truth, lambda said=said, truth=truth: f"{said}, but {truth}")


def cases(reader, experiment, overview):
    """The numbers of the cases, which the page draws in slices, have six digits."""
    reader.at = len(reader.text)
    columns = overview["cases"]
    names = {"time_s": "time_to_target_s" if overview["to_target"] else "simulated_s", "final_loss": "final_loss"}
    by = {(case.label, point_text(case.point)): case for case in experiment.cases}
    for i, (strategy, place) in enumerate(zip(columns["strategy"], columns["point"])):
        case = by[overview["strategies"][strategy], point_text(experiment.points[place])]
        for column, name in names.items():
            number = columns[column][i] if columns[column] else None
            truth = mean(run[name] for run in case.good if run[name] is not None)
            near = number is not None and truth is not None and abs(number - truth) <= 5e-6 * abs(truth)
            reader.claim(f"overview: {column}", near or close(number, truth),
                         lambda number=number, truth=truth: f"{number}, but {truth}")
        for part, share in zip(PARTS, case.shares()):
            number = columns[part][i] if columns[part] else None
            reader.claim(f"overview: {part}", number is None or abs(number - share) <= 1e-5, lambda: f"{number}")


def closer(reader, experiment):
    got = reader.need(r"The charts below show 3 of <whole n> grid points: ")
    reader.claim("count", int(got["n"]) == len(experiment.points), f"{len(experiment.points)} grid points")
    best = [(top.ranked[0].score(experiment.measure), i) for i, top in enumerate(tops(experiment)) if top]
    known = len(best) >= 3 and not experiment.jobs
    order = [i for _, i in sorted(best)] if known else list(range(len(experiment.points)))
    if known:
        got = reader.need(r"those where the winner's (?P<by>time to the target|time per sample) is the least "
                          r"\((?P<a>.*?)\), the median \((?P<b>.*?)\) and the most \((?P<c>.*?)\)\. ")
        reader.claim("measure", got["by"] == experiment.measure, experiment.measure)
    else:
        got = reader.need(r"the first \((?P<a>.*?)\), the middle one \((?P<b>.*?)\) and the last \((?P<c>.*?)\) "
                          r"of the grid\. ")
    said = [got[name] for name in "abc"]
    truth = [point_words(experiment.points[order[i]]) for i in (0, len(order) // 2, -1)]
    reader.claim("grid points", said == truth, f"{truth}")
    reader.need(r"A page with all ranks and links would be too large; they are in ranks\.csv and links\.csv\.")

