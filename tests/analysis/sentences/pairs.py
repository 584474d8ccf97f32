"""The matrices of pairs of strategies: paired t tests, corrected by Holm's method."""

import itertools
import math

from sentences.facts import mean
from sentences.tables import close

MOST, MOST_SHOWN, LEVEL = 40, 8, 0.05


def student_tail(t, degrees):
    """P(|T| > t): with x = sqrt(n) tan(angle) the density is a power of the cosine, summed here by Simpson's rule."""
    def area(begin):
        steps = 2000
        width = (math.pi / 2 - begin) / steps
        heights = [max(math.cos(begin + k * width), 0.0) ** (degrees - 1) for k in range(steps + 1)]
        return width / 3 * math.fsum(height * (1 if k in (0, steps) else 4 if k % 2 else 2)
                                     for k, height in enumerate(heights))
    return area(math.atan(t / math.sqrt(degrees))) / area(0.0)


def p_value(differences, slower):
    """None where the difference is the same with every seed, but for rounding."""
    n, middle = len(differences), mean(differences)
    if max(differences) - min(differences) <= 1e-12 * slower:
        return None
    deviation = math.sqrt(math.fsum((x - middle) ** 2 for x in differences) / (n - 1))
    return student_tail(abs(middle) / (deviation / math.sqrt(n)), n - 1)


def corrected(p_values):
    """p-values by key, each times the number of those that are not smaller, and never below a smaller one's."""
    made, most = {}, 0.0
    for k, (key, p) in enumerate(sorted(p_values.items(), key=lambda item: item[1])):
        most = max(most, min(1.0, p * (len(p_values) - k)))
        made[key] = most
    return made


class Point:
    """The cases of a grid point in pairs."""

    def __init__(self, experiment, point):
        self.measure = "time to the target" if experiment.has_target else "time per sample"
        cases = [case for case in experiment.cases if case.point == point]
        able = sorted((case for case in cases if case.score(self.measure) is not None),
                      key=lambda case: case.score(self.measure))
        self.cases, self.able = able[:MOST], len(able)
        self.unsound = sum(not (case.all_reached if experiment.has_target else case.sound) for case in cases)
        self.differences = {}
        for first, second in itertools.combinations(self.cases, 2):
            mine, theirs = first.values(self.measure), second.values(self.measure)
            common = [theirs[seed] - mine[seed] for seed in mine if seed in theirs]
            if len(common) > 1:
                self.differences[first.label, second.label] = common
        scores = {case.label: case.score(self.measure) for case in self.cases}
        self.scores = scores
        raw = {pair: p_value(common, scores[pair[1]]) for pair, common in self.differences.items()}
        self.p = corrected({pair: p for pair, p in raw.items() if p is not None})
        self.constant = sum(p is None for p in raw.values())
        self.significant = sum(p < LEVEL for p in self.p.values())
        self.seeds = sorted(len(common) for common in self.differences.values())

    def of(self, first, second):
        """Returns the differences of a pair, second less first, and its p-value; nothing without common seeds."""
        if (first, second) in self.differences:
            return self.differences[first, second], self.p.get((first, second))
        if (second, first) in self.differences:
            return [-x for x in self.differences[second, first]], self.p.get((second, first))
        return None, None

    def ahead(self, fastest, other):
        common, p = self.of(fastest, other)
        if common is None:
            return False
        return mean(common) > (1e-12 * self.scores[other] if p is None else 0.0) and (p is None or p < LEVEL)

    def level(self, fastest):
        return [label for label in self.scores if label != fastest and not self.ahead(fastest, label)]


def seeds_agree(reader, got, point):
    least, most = int(got["s"]), int(got["s2"] or got["s"])
    reader.claim("seeds", [least, most] == [point.seeds[0], point.seeds[-1]], f"{point.seeds}")


def point(reader, experiment, row, parameters):
    here = Point(experiment, parameters)
    seeds = r"(?P<s>\d+)(?: to (?P<s2>\d+))? seeds"
    if got := reader.take(rf"<plain a> (?:is faster than <plain b> by|and <plain c> (?P<no>do not) differ by) more than "
                          rf"chance \(p (?:below 0\.05|of 0\.05 or more), {seeds}\)\."):
        reader.claim("a single pair", len(here.p) == 1 and here.constant == 0, f"{here.p}")
        reader.claim("more than chance", (here.significant == 0) == bool(got["no"]), f"{here.p}")
        the_pair(reader, here, got["a"], got["b"] or got["c"])
        seeds_agree(reader, got, here)
    elif got := reader.take(r"<plain a> (?:is faster than <plain b> by the same time|and <plain c> take the same time) "
                            r"with every seed, so no test is needed\."):
        reader.claim("a single pair", (len(here.p), here.constant) == (0, 1), f"{here.p}")
        apart = the_pair(reader, here, got["a"], got["b"] or got["c"])
        reader.claim("the same time", (apart > 1e-12 * max(here.scores.values())) == bool(got["b"]), f"{apart}")
    else:
        counts(reader, "P", rf"corrected p below 0\.05, {seeds}", [here])
    fastest(reader, here)
    got = reader.take(r" Only the <whole n> fastest of <whole m> strategies are compared\.")
    reader.claim("left out", (int(got["n"]), int(got["m"])) == (MOST, here.able) if got else here.able <= MOST, "")
    got = reader.take(r" <whole n> more strateg(?:y is|ies are) not compared: (?:it|they) (?P<why>missed the target|"
                      r"diverged or failed) with some seed\.")
    reader.claim("not compared", (int(got["n"]) if got else 0) == here.unsound, f"{here.unsound}")
    if got:
        reader.claim("why not compared", (got["why"] == "missed the target") == experiment.has_target, "")


def the_pair(reader, here, first, second):
    """Returns by how much the first strategy of the only pair is faster than the second, which is never less than 0."""
    (pair, common), = here.differences.items()
    shown = {case.label: case.plain for case in here.cases}
    faster, slower = (shown[label] for label in (pair if mean(common) >= 0 else reversed(pair)))
    reader.claim("pair", (first, second) in {(faster, slower), *([(slower, faster)] if mean(common) == 0 else [])},
                 f"{faster} before {slower}")
    return abs(mean(common))


def counts(reader, where, how, points):
    tested, significant = sum(len(each.p) for each in points), sum(each.significant for each in points)
    constant = sum(each.constant for each in points)
    got = reader.take(rf"{where}airs of strategies that differ by more than chance: <whole n> of <whole m> "
                      rf"\({how}\)\.")
    reader.claim("pairs", (int(got["n"]), int(got["m"])) == (significant, tested) if got else tested == 0,
                 f"{significant} of {tested}")
    if got and got.get("s"):
        seeds_agree(reader, got, points[0])
    if got and got.get("points"):
        reader.claim("count", int(got["points"]) == len(points), f"{len(points)} grid points")
    got = reader.take(r" ?Pairs whose difference is the same with every seed, so that no test is needed: <whole n>\.")
    reader.claim("constant differences", (int(got["n"]) if got else 0) == constant, f"{constant}")


def listed(reader, here, labels):
    items, more = reader.list_of("<plain c>")
    shown = {case.label: case.plain for case in here.cases}
    reader.claim("list", len(items) + more == len(labels) and
                 {item["c"] for item in items} <= {shown[each] for each in labels}, f"{labels}")


def fastest(reader, here):
    if len(here.cases) < 3:
        return
    label = here.cases[0].label
    unknown = [case.label for case in here.cases[1:] if here.of(label, case.label)[0] is None]
    level = [each for each in here.level(label) if each not in unknown]
    known = len(here.cases) - 1 - len(unknown)
    got = reader.take(r" The fastest, <plain c>, is (?P<no>not )?ahead of (?:all <whole a> others|none of the <whole b> "
                      r"others|<whole n> of <whole m> others|<plain d>) by more than chance")
    if got:
        own = next(case.label for case in here.cases if case.plain == got["c"])
        reader.claim("fastest", here.scores[own] <= min(here.scores.values()) * (1 + 1e-12), f"{here.scores}")
        if got["n"]:
            reader.need(", but not of ")
            listed(reader, here, level)
        ahead = int(got["a"] or got["n"] or (1 if got["d"] and not got["no"] else 0))
        of = int(got["a"] or got["b"] or got["m"] or 1)
        reader.claim("ahead", (ahead, of) == (known - len(level), known) and (of > 1) == (not got["d"]), f"{level}")
        reader.need(r"\.")
    else:
        reader.claim("ahead", known == 0 or len(here.differences) == 1, f"{known} are comparable with the fastest")
    if reader.take(r" <plain c> has fewer than two seeds in common with "):
        listed(reader, here, unknown)
        reader.need(r"\.")
    else:
        reader.claim("no seeds in common", not unknown, f"{unknown}")


def pairs(reader, experiment, chart):
    """The sentence on one grid point, or on all of them."""
    if len(chart["rows"]) == 1:
        found = [each for each in experiment.points if Point(experiment, each).differences]
        reader.claim("count", len(found) == 1, f"{len(found)} grid points")
        return point(reader, experiment, chart["rows"][0], found[0])
    points = [each for each in (Point(experiment, parameters) for parameters in experiment.points) if each.differences]
    counts(reader, r"Over (?P<points>\d+) grid points, p", r"p below 0\.05, corrected at each grid point", points)
    sure = sum(not each.level(each.cases[0].label) for each in points)
    got = reader.need(r" Grid points at which the fastest is ahead of all others by more than chance: <whole n> of "
                      r"<whole m>\.")
    reader.claim("ahead of all", (int(got["n"]), int(got["m"])) == (sure, len(points)), f"{sure} of {len(points)}")


def matrix(reader, experiment, row, cases):
    """The numbers of a matrix are those of its runs."""
    here = Point(experiment, cases[0].point)
    reader.claim("matrix: size", len(cases) == min(len(here.cases), MOST_SHOWN) and
                 row["left_out"] == len(here.cases) - len(cases) and row["tested"] == len(here.p) and
                 row["seeds"] == [here.seeds[0], here.seeds[-1]], f"{row}")
    scores = [case.score(here.measure) for case in cases]
    reader.claim("matrix: means", all(map(close, row["means"], scores)) and
                 all(a <= b * (1 + 1e-12) for a, b in zip(scores, scores[1:])), f"{scores}")
    known = 0
    for each in row["cells"]:
        common, p = here.of(cases[each["first"]].label, cases[each["second"]].label)
        known += common is not None
        reader.claim("matrix: difference", common and abs(mean(common) - each["difference"]) <= 1e-9 * scores[-1], "")
        reader.claim("matrix: p", p == each["p"] or (None not in (p, each["p"]) and abs(p - each["p"]) <= 1e-6),
                     lambda each=each, p=p: f"{each['p']}, but {p}")
    reader.claim("matrix: cells", known == len(row["cells"]) == sum(
        here.of(a.label, b.label)[0] is not None for a, b in itertools.combinations(cases, 2)), "")
