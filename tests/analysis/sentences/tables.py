"""The chart of times and prices, and the table of all results."""

import re

from sentences.facts import Top, margin, mean, shows_margin
from sentences.quantities import agrees
from sentences.winners import candidates, is_first


def may_beat(other, mine):
    """Whether the other is at least as good in both, if the last bits of the numbers are in doubt."""
    return all(a <= b * (1 + 1e-12) for a, b in zip(other, mine))


def beats_clearly(other, mine):
    """Whether the other is at least as good in both and better in one, whatever the last bits are."""
    return may_beat(other, mine) and any(a < b * (1 - 1e-12) for a, b in zip(other, mine))


class Priced:
    """Cases with a time and a price."""

    def __init__(self, experiment):
        target = experiment.to_target
        money = any((case.mean("cost_usd") or 0.0) > 0 for case in experiment.cases) or all(
            case.mean("energy_j") is None for case in experiment.cases)
        self.kind, self.what, self.least = ("dollars", "cost", "cheapest") if money else ("joules", "energy",
                                                                                          "most frugal")
        self.time = "time to the target" if target else "simulated time"
        self.price = f"{self.what} to the target" if target else self.what
        cases = [case for case in experiment.cases if case.live and case.score(self.time) is not None]
        self.cases = [case for case in cases if case.score(self.price) is not None]
        pairs = [self.of(case) for case in self.cases]
        # Means that differ in their last bits may count as equal, or as different.
        self.front = [sum(not any(beats(other, mine) for k, other in enumerate(pairs) if k != i)
                          for i, mine in enumerate(pairs)) for beats in (may_beat, beats_clearly)]

    def of(self, case):
        return case.score(self.time), case.score(self.price)

    def top(self, measure):
        return Top(sorted(self.cases, key=lambda case: case.score(measure)), measure)


def pareto(reader, experiment, chart):
    priced = Priced(experiment)
    got = reader.take(f"<case c> takes <time t> and <{priced.kind} m>")
    if got:
        case = reader.names.case(got["c"])
        reader.claim("count", len(priced.cases) == 1, f"{len(priced.cases)} cases")
        pair(reader, priced, case, got)
        reader.need(r"\.")
        return
    got = reader.take(f"<case c> is both the fastest and the {priced.least}: <time t>, <{priced.kind} m>; ")
    if got:
        case = reader.names.case(got["c"])
        pair(reader, priced, case, got)
        not_by_chance(reader, priced)
        for measure in (priced.time, priced.price):
            is_first(reader, case, priced.top(measure))
        the_others(reader, priced, case)
        reader.need(r"\.")
        return
    fast = priced_first(reader, priced, "fastest", priced.time)
    reader.need(" ")
    cheap = priced_first(reader, priced, priced.least, priced.price, fast)
    got = reader.need(rf" On the Pareto front of time and {priced.what}(?P<by>, by means)?: "
                      r"<whole n> of <whole m> cases\.")
    least, most = priced.front
    reader.claim("Pareto front", least <= int(got["n"]) <= most and int(got["m"]) == len(priced.cases),
                 f"{most} of {len(priced.cases)}")
    if fast and cheap and not got["by"]:
        not_by_chance(reader, priced)


def not_by_chance(reader, priced):
    leads = [priced.top(measure).lead for measure in (priced.time, priced.price)]
    reader.claim("clear winner", "unclear" not in leads, f"{leads}")


def pair(reader, priced, case, got):
    time_s, price = priced.of(case)
    reader.number("time", "time", got["t"], time_s)
    reader.number(priced.kind, "price", got["m"], price)


def the_others(reader, priced, case):
    mine = priced.of(case)
    others = [priced.of(each) for each in priced.cases if each is not case]
    equals = sum(each == mine for each in others)
    if reader.take("every other case is equal"):
        reader.claim("others", equals == len(others), f"{equals} of {len(others)}")
    elif got := reader.take("<whole n> other cases? (?:is|are) equal"):
        reader.claim("others", equals == int(got["n"]), f"{equals} of {len(others)}")
    elif reader.take("every other case is worse in both"):
        reader.claim("others", all(t > mine[0] and p > mine[1] for t, p in others), f"{others} {mine}")
    else:
        reader.need("no other case is better in either")
        reader.claim("others", all(t >= mine[0] and p >= mine[1] for t, p in others), f"{others} {mine}")


def priced_first(reader, priced, adjective, measure, fast=None):
    """Reads who is the fastest, or the cheapest, or between whom chance may decide. Returns a single case."""
    top = priced.top(measure)
    if reader.take(f"Chance may decide which is the {adjective}: "):
        items, more = reader.list_of("<case c>")
        reader.claim("no clear winner", top.lead == "unclear", top.lead)
        candidates(reader, [reader.names.case(item["c"]) for item in items], more, top)
        reader.need(r"\.")
        return None
    got = reader.need(f"<case c> is the {adjective}: <time t> for <{priced.kind} m>")
    case = reader.names.case(got["c"])
    is_first(reader, case, top)
    pair(reader, priced, case, got)
    less = reader.take(", <percent p> less for (?:<percent q> more time|<times x> the time)")
    if less:
        (t, p), (time_s, price) = priced.of(case), priced.of(fast)
        reader.number("percent", "saving", less["p"], 1 - p / price)
        if less["x"]:
            reader.number("times", "longer", less["x"], t / time_s)
        else:
            reader.number("percent", "longer", less["q"], t / time_s - 1)
    reader.need(r"\.")
    return case


def points_table(reader, experiment, chart):
    got = reader.need("<whole n> cases?")
    sure, cases = sum(case.all_reached for case in experiment.cases), len(experiment.cases)
    reader.claim("count", int(got["n"]) == cases, f"{cases} cases")
    said = reader.take("(?:, <whole m> of|, (?P<of>none of|all of)|,) which "
                       "(?P<does>reach(?:es)?|does not reach) the target with every seed")
    if said:
        counts = {"none of": 0, "all of": cases, None: int(said["does"] != "does not reach")}
        reader.claim("count", (int(said["m"]) if said["m"] else counts[said["of"]]) == sure, f"{sure}")
        reader.claim("count", bool(said["m"] or said["of"]) == (cases > 1), f"{cases} cases")
    else:
        reader.claim("count", not any(case.reached for case in experiment.cases), f"{sure}")
    # Prices and speed-ups may have a margin where times have none.
    if reader.take(r"\. ±: half of the 95 % interval of the mean over the seeds \(Student's t\)\."):
        reader.claim("seeds", any(len(case.runs) > 1 for case in experiment.cases), "one seed")
    else:
        reader.need(r"\.")
        time = "time_to_target_s" if any(case.reached for case in experiment.cases) else "simulated_s"
        reader.claim("seeds", not any(shows_margin([run[time] for run in case.good]) for case in experiment.cases),
                     "a time with a margin")
    said = reader.take(r" No change was tried to find the bottleneck, as with --no-why\.")
    tried = any(each["changes"] for each in experiment.results.get("counterfactuals", []))
    reader.claim("no change was tried",
                 bool(said) == (not tried and not experiment.jobs and any(case.sound for case in experiment.cases)), "")


def close(number, truth):
    return number == truth or (number is not None and truth is not None
                               and abs(number - truth) <= 1e-6 * abs(truth) + 1e-300)


def points_row(reader, experiment, row, to_target, case):
    """The numbers of a row of the table are those of its runs."""
    reader.at = len(reader.text)
    names = ("time_to_target_s", "cost_to_target_usd", "energy_j") if to_target else ("simulated_s", "cost_usd",
                                                                                      "energy_j")
    for key, name in zip(("time_s", "cost_usd", "energy_j"), names):
        if key != "time_s" and to_target and not case.all_reached:
            reader.claim("row: no price of some seeds", row[key] == [None, None], lambda key=key: f"{row[key]}")
            continue
        values = [run[name] for run in case.good if run[name] is not None
                  and (not to_target or key != "cost_usd" or run["time_to_target_s"] is not None)]
        reader.claim(f"row: {key}", close(row[key][0], mean(values)), lambda: f"{row[key]}, but {mean(values)}")
        expected = margin(values)
        reader.claim("row: margin", close(row[key][1], expected) or (
            None not in (expected, row[key][1]) and abs(expected - row[key][1]) <= 1e-9 * abs(mean(values))),
            lambda: f"{row[key]}, but {expected}")
    speedup = case.mean("speedup_time_to_target" if to_target else "speedup_throughput")
    if to_target and not case.all_reached:
        speedup = None  # of some seeds only
    if speedup is not None and speedup < 1e-9:
        speedup = None  # computing takes no time: a speed-up means nothing
    reader.claim("row: speed-up", close(row["speedup"], speedup), lambda: f"{row['speedup']}, but {speedup}")
    reader.claim("row: efficiency", close(row["efficiency"], speedup and speedup / case.workers), "")
    reader.claim("row: seeds", (row["seeds"], row["reached"]) == (len(case.runs), case.reached), "")
    reader.claim("row: loss", close(row["final_loss"], case.mean("final_loss")), "")
    status(reader, experiment, reader.text, case)


def status(reader, experiment, text, case):
    seeds = len(case.runs)
    got = re.fullmatch(r"(?:(\d+) of (\d+) )?(failed|diverged|reached)", text)
    if got:
        number = {"failed": case.failed, "diverged": case.diverged, "reached": case.reached}[got[3]]
        holds = (int(got[1]), int(got[2])) == (number, seeds) if got[1] else number == seeds
    elif text == "not reached":
        holds = case.reached == 0 and case.sound and experiment.has_target
    else:
        got = re.fullmatch(r"(.+) steps? done", text)
        holds = bool(got) and agrees("count", got[1], case.mean("steps")) and case.sound
    reader.claim("row: status", holds,
                 f"{text}: {case.failed} failed, {case.diverged} diverged, {case.reached} reached of {seeds}")
