"""The sentences of the charts of losses, times and speed-ups."""

import math
import re

from sentences import reasons
from sentences.facts import Top, mean, point_text, printable
from sentences.winners import against_one, is_first


def divergences(reader, experiment):
    number = sum(run["status"] == "diverged" for run in experiment.results["runs"])
    got = reader.take(r" <whole n> runs? diverged\.")
    reader.claim("count", int(got["n"]) == number if got else number == 0, f"{number} diverged")


def ending(reader, experiment):
    """Reads "ring ends at loss 0.1 after 3 s". Returns the case."""
    got = reader.need("<case c> ends at loss <four l> after <time t>")
    case = reader.names.case(got["c"])
    reader.number("four", "loss", got["l"], case.mean("final_loss"))
    reader.number("time", "time", got["t"], case.mean("simulated_s"))
    return case


def curves(reader, experiment, chart):
    if experiment.jobs:
        curves_of_jobs(reader, experiment)
        return
    with_loss = [cases for _, cases in experiment.questions()
                 if any(case.sound and case.mean("final_loss") is not None for case in cases)]
    cases = with_loss[-1] if with_loss else experiment.cases
    ranked = experiment.ranking(cases, "time to the target")
    if not ranked:
        untargeted(reader, experiment, cases)
        return
    got = reader.need("<case c> reaches (?:loss <four l>|the target) (?P<first>first, )?after <time t>")
    best = reader.names.case(got["c"])
    top = Top(ranked, "time to the target")
    is_first(reader, best, top)
    reader.number("time", "time to the target", got["t"], best.score("time to the target"))
    if got["l"]:
        reader.number("four", "target", got["l"], experiment.target)
    reader.claim("first", not got["first"] or len(top.all) == 1, f"{[case.name for case in top.all]}")
    rest = reader.take(", by the mean; (?:<case c> is|<whole n> others are) not clearly slower")
    reader.claim("no clear winner", (rest is not None) == (top.lead == "unclear"), top.lead)
    if rest:
        reader.claim("candidates", len(top.all) == (int(rest["n"]) + 1 if rest["n"] else 2)
                     and (not rest["c"] or reader.names.case(rest["c"]) in top.all),
                     f"{[case.name for case in top.all]}")
    if reader.take(": "):
        other = reasons.faster(reader, best, None, "time to the target")
        reader.claim("last", other.score("time to the target") >= ranked[-1].score("time to the target") * (1 - 1e-12),
                     f"the last is {ranked[-1].name}")
        if reader.take(" because "):
            reasons.reason(reader, best, other, "time to the target")
    reader.need(r"\.")
    got = reader.take(r" Curves that miss the target with some seed: <whole n> of <whole m>\.")
    missed = sum(not case.all_reached for case in experiment.cases)
    reader.claim("count", (int(got["n"]), int(got["m"])) == (missed, len(experiment.cases)) if got else missed == 0,
                 f"{missed} of {len(experiment.cases)}")
    divergences(reader, experiment)


def without_loss(reader, experiment):
    """Reads why no case has a loss of use."""
    cases, statuses = experiment.cases, {run["status"] for run in experiment.results["runs"]}
    if reader.take(r"No case ends with a loss for every seed\."):
        reader.claim("no loss", any(case.sound for case in cases)
                     and all(not case.sound or case.mean("final_loss") is None for case in cases), "a case does")
    elif reader.take(r"Every case has a run that diverged or failed\."):
        reader.claim("no loss", not any(case.sound for case in cases) and statuses - {"diverged", "failed"},
                     f"{statuses}")
    elif reader.take(r"Every run diverged or failed\."):
        reader.claim("no loss", statuses == {"diverged", "failed"}, f"{statuses}")
    elif reader.take(r"Every run diverged\."):
        reader.claim("no loss", statuses == {"diverged"}, f"{statuses}")
    else:
        return False
    return True


def untargeted(reader, experiment, cases):
    ends = [case for case in cases if case.sound and case.mean("final_loss") is not None]
    if without_loss(reader, experiment):
        return
    if reader.take("No strategy reaches the target with every seed; "):
        reader.claim("target", not any(case.all_reached for case in cases), "a case does")
    losses = [case.mean("final_loss") for case in ends]
    case = ending(reader, experiment)
    reader.claim("lowest loss", case in ends and case.mean("final_loss") <= min(losses) * (1 + 1e-12), f"{losses}")
    if reader.take(", and so do all others"):
        reader.claim("lowest loss", f"{min(losses):.4g}" == f"{max(losses):.4g}", f"{losses}")
    elif got := reader.take(", and so does <case c>"):
        reader.claim("lowest loss", f"{min(losses):.4g}" == f"{reader.names.case(got['c']).mean('final_loss'):.4g}",
                     f"{losses}")
    elif reader.take(", the lowest; "):
        last = ending(reader, experiment)
        reader.claim("highest loss", last.mean("final_loss") >= max(losses) * (1 - 1e-12), f"{losses}")
        reader.need(", the highest")
    else:
        reader.claim("lowest loss", len(ends) == 1, f"{losses}")
    reader.need(r"\.")
    divergences(reader, experiment)


def curves_of_jobs(reader, experiment):
    ends = [case for case in experiment.cases if case.sound and case.mean("final_loss") is not None]
    if without_loss(reader, experiment):
        return
    else:
        found = [ending(reader, experiment)]
        more = 0
        while reader.take("(?:, | and )(?=<case c> ends at)"):
            found.append(ending(reader, experiment))
        if got := reader.take(" and <whole more> more"):
            more = int(got["more"])
        reader.claim("count", len(found) + more == len(ends), f"{len(ends)} jobs end with a loss")
        reader.need(r"\.")
    divergences(reader, experiment)


def time(reader, experiment, chart):
    cases = [case for case in experiment.cases if case.live and case.parts()]
    cases = [case for case in cases if case.sound] or cases
    got = reader.need("<case c> computes for <percent p> of its time")
    most = reader.names.case(got["c"])
    computing = [case.shares()[0] for case in cases]
    reader.number("percent", "share of the time", got["p"], most.shares()[0])
    reader.claim("largest share", most.shares()[0] >= max(computing) - 1e-12, f"{max(computing)}")
    if got := reader.take(", the largest share, and <case c> for <percent p>, the smallest"):
        least = reader.names.case(got["c"])
        reader.number("percent", "share of the time", got["p"], least.shares()[0])
        reader.claim("smallest share", least.shares()[0] <= min(computing) + 1e-12, f"{min(computing)}")
        if reader.take(": "):
            reasons.limit_clause(reader, least, False)
    elif reader.take(", and every other case nearly as much"):
        reader.claim("smallest share", max(computing) - min(computing) < 0.005 + 1e-12, f"{min(computing)}")
    else:
        reader.claim("count", len(cases) == 1, f"{len(cases)} cases")
        if reader.take(": "):
            reasons.limit_clause(reader, most, False)
    reader.need(r"\.")
    got = reader.take(r" The first <whole n> of <whole m> ranks are shown\.")
    if got:
        shown = {len(ranks["names"]) for ranks in chart["ranks"]}
        reader.claim("ranks shown", int(got["n"]) in shown and int(got["m"]) in {
            len(case.live[0]["ranks"]) for case in cases}, f"{shown}")


class Line:
    """The speed-ups of a strategy over the numbers of workers, with the other parameters fixed."""

    def __init__(self, name, cases, number):
        self.name = name
        self.cases = sorted(cases, key=lambda case: case.workers)
        self.number = number
        self.speedups = [case.mean(number) for case in self.cases]

    def best(self):
        return max(self.speedups)

    def serial_share(self):
        """The serial share that fits best, if the law is near all points (10 %) and the speed-up never falls."""
        points = [(case.workers, s) for case, s in zip(self.cases, self.speedups)]
        if min(p for p, _ in points) == max(p for p, _ in points):
            return None
        above = math.fsum((1 - 1 / p) * (1 / s - 1 / p) for p, s in points)
        share = above / math.fsum((1 - 1 / p) ** 2 for p, _ in points)
        fits = all(abs(1 / (share + (1 - share) / p) - s) <= 0.1 * s for p, s in points) if 0 < share < 1 else False
        return share if fits and self.speedups == sorted(self.speedups) else None


def lines_of(experiment):
    sound = [case for case in experiment.cases if case.live and case.sound]
    to_target = bool(sound) and all(case.all_reached and case.mean("speedup_time_to_target") is not None
                                    for case in sound)
    number = "speedup_time_to_target" if to_target else "speedup_throughput"
    found = {}
    for case in sound:
        if case.mean(number) is None:
            continue
        rest = point_text({key: value for key, value in case.point.items() if key != "cluster.workers"})
        name = printable(case.label) + (f" at {rest}" if rest else "")
        found.setdefault((case.label, rest), (name, []))[1].append(case)
    return [Line(name, cases, number) for name, cases in found.values()], to_target


def speedup(reader, experiment, chart):
    lines, to_target = lines_of(experiment)
    reader.names.patterns["line"] = "(?:" + "|".join(sorted((re.escape(line.name) for line in lines), key=len,
                                                            reverse=True)) + ")"
    best = reached(reader, lines, max)
    reader.take(", more than ideal(?! speed)")
    if reader.take(r"\. The line that ends lowest: "):
        reached(reader, lines, min)
    reader.need(r"\.")
    got = reader.take(r" More workers make <line c> slower: <times x> with <whole n>\.")
    if got:
        line = next(line for line in lines if line.name == got["c"])
        last = line.cases[-1]
        reader.claim("workers", int(got["n"]) == last.workers, f"{last.workers}")
        reader.number("times", "speed-up", got["x"], line.speedups[-1])
        reader.claim("slower", line.speedups[-1] < line.best(), f"{line.speedups}")
    got = reader.take(r" Amdahl's law fits <line c> with a serial share of <three s> %: "
                      r"at most <times x> with any number of workers\.")
    if got:
        line = next(line for line in lines if line.name == got["c"])
        share = line.serial_share()
        reader.number("three", "serial share", got["s"], share and 100 * share)
        reader.number("times", "Amdahl's bound", got["x"], share and 1 / share)


def reached(reader, lines, which):
    to = r" to target" if lines[0].number == "speedup_time_to_target" else ""
    got = reader.take(rf"<line c> reaches a speed-up{to} of <times x> with <whole n> workers? "
                      rf"\(efficiency{to} <percent e>\)")
    slower = None if got else reader.need("<line c> with <whole n> workers? is (?:(?:<times x>|<percent p>) slower than "
                                          "one worker alone|(?P<same>as fast as one worker))")
    got = got or slower
    line = next(line for line in lines if line.name == got["c"])
    value = line.best() if which is max else line.speedups[-1]
    case = next((case for case, s in zip(line.cases, line.speedups)
                 if s >= value * (1 - 1e-12) and case.workers == int(got["n"])), None)
    reader.claim("workers", case is not None, f"{line.speedups} at {[c.workers for c in line.cases]}")
    reader.claim("largest speed-up" if which is max else "smallest speed-up",
                 abs(value - (max(each.best() for each in lines) if which is max else
                              min(each.speedups[-1] for each in lines))) <= 1e-12 * value,
                 f"{[each.speedups for each in lines]}")
    if slower:
        against_one(reader, slower, value)
        reader.claim("speed-up", case.workers > 1, "of one worker")
    else:
        reader.number("times", "speed-up", got["x"], value)
        reader.claim("slower", value >= 1.005 or case.workers == 1, f"{value}")
        reader.number("percent", "efficiency", got["e"], value / case.workers)
    if reader.take(": "):
        reasons.limit_clause(reader, case, False)
    return case
