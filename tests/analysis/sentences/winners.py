"""Claims on who is ahead in a ranking, and the headline of an experiment that asks one question."""

import re

from sentences import reasons
from sentences.facts import Top, margin, mean
from sentences.quantities import margin_agrees

ONE_SEED = r" (?:One seed|(?P<several>Fewer than two seeds in common)): the order may be chance\."
MARGIN = r"[0-9.,e-]+(?: (?:ns|µs|ms|s|min \d+ s|h \d+ min|d \d+ h|d))?|\$[0-9.,e-]+|[0-9.,]+ [mkMGT]?J"


def same_cases(found, expected, measure):
    """Whether these are the expected cases; another case of a strategy may stand for an equal one."""
    if len(found) != len(expected):
        return False
    scores = [sorted((case.label, case.score(measure) or -1.0) for case in cases) for cases in (found, expected)]
    return all(a[0] == b[0] and abs(a[1] - b[1]) <= 1e-12 * abs(a[1]) for a, b in zip(*scores))


def same_score(first, second, measure):
    mine, its = first.score(measure), second.score(measure)
    return mine is not None and its is not None and abs(mine - its) <= 1e-12 * abs(mine)


def subset(found, expected):
    return all(case in expected for case in found)


def candidates(reader, cases, more, top):
    """Claims that these cases, and so many more, are at the top of a ranking."""
    holds = same_cases(cases, top.all, top.measure) if more == 0 else (
        subset(cases, top.all) and len(cases) + more == len(top.all) and len({case.name
                                                                              for case in cases}) == len(cases))
    reader.claim("candidates", holds, lambda: f"by the runs: {[case.name for case in top.all]}")


def with_margins(reader, top, kind, unit, scale=1.0, way="case"):
    """Reads "a (4.10 ms ± 0.30 per sample) and b (4.55 ms ± 1.0 per sample)"."""
    pattern = rf"<{way} c> \((?:<{kind} m> ± (?P<w>{MARGIN})|<{kind} only>){unit}\)"
    items, more = reader.list_of(pattern)
    cases = []
    for item in items:
        case = reader.names.by[way][item["c"]][0]
        values = [x * scale for x in case.values(top.measure).values()]
        reader.number(kind, "mean", item["m"] or item["only"], mean(values))
        if item["m"]:
            reader.claim("margin", margin_agrees(kind, item["m"], item["w"], margin(values), mean(values)),
                         lambda w=item["w"], values=values: f"± {w}, but {margin(values)}")
        else:
            half = margin(values)
            reader.claim("margin", half is None or half <= 1.001e-9 * abs(mean(values)), "a margin is left out")
        cases.append(case)
    candidates(reader, cases, more, top)


def is_first(reader, case, top, kind="winner"):
    best = top.ranked[0].score(top.measure)
    score = case.score(top.measure)
    reader.claim(kind, score is not None and score <= best * (1 + 1e-12),
                 lambda: f"{case.name}: {score}, but {top.ranked[0].name}: {best}")


def time_clause(reader, case, to_target):
    """Reads "2.00 s to the target" or "4.00 M samples/s"."""
    if to_target:
        reader.number("time", "time to the target", reader.need("<time t> to the target")["t"],
                      case.score("time to the target"))
    else:
        rate(reader, reader.need("<count c> samples/s")["c"], case)


def rate(reader, text, case):
    reader.number("count", "samples/s", text, 1 / case.score("time per sample"))


def against_one_worker(reader, case, to_target):
    """Reads ", 5.2x as fast as one worker"."""
    speedup = case.mean("speedup_time_to_target" if to_target else "speedup_throughput")
    got = reader.take(", <times x> as fast as one worker")
    if got:
        reader.number("times", "speed-up", got["x"], speedup)
    elif got := reader.take(", (?:(?:<times x>|<percent p>) slower than one worker alone|(?P<same>as fast as one worker))"):
        against_one(reader, got, speedup)
    if got:
        too_large_for_one(reader, case.baselines())


def too_large_for_one(reader, baselines):
    """Reads " (which would not fit into memory)", which stands where one worker has too little."""
    lacking = [rank for run in baselines for rank in run["ranks"]
               if rank.get("memory_limit_bytes") and (rank.get("memory_bytes") or 0) > rank["memory_limit_bytes"]]
    got = reader.take(r" \(which would not fit into memory\)")
    reader.claim("memory of one worker", bool(got) == bool(lacking), f"{len(lacking)} ranks lack memory")


def against_one(reader, got, speedup):
    """Claims a speed-up of 1 or less: as a factor from 1.295 on, or else in percent."""
    if got["same"]:
        reader.claim("speed-up", abs(speedup - 1) <= 0.005 + 1e-9, f"{speedup}")
        return
    reader.claim("one form", (got["x"] is not None) == (1 / speedup >= 1.295) and speedup < 0.995 + 1e-9, f"{speedup}")
    if got["x"]:
        reader.number("times", "speed-up", got["x"], 1 / speedup)
    else:
        reader.number("percent", "speed-up", got["p"], 1 - speedup)


def chance_remark(reader, may_be):
    said = reader.take(ONE_SEED)
    reader.claim("one seed", (said is not None) == may_be, f"one seed decides: {may_be}")
    if said:
        most = max(len(case.runs) for cases in reader.names.by["case"].values() for case in cases)
        reader.claim("one seed", (said["several"] is not None) == (most > 1), f"{most} seeds")


def of_alternatives(reader, experiment, measure):
    to_target = measure == "time to the target"
    top = Top(experiment.ranking(experiment.cases, measure), measure)
    got = reader.take(r"No clear winner by (?P<by>time to the target|time per sample): chance may decide between ")
    if got:
        reader.claim("measure", got["by"] == measure, measure)
        reader.claim("no clear winner", top.lead == "unclear", top.lead)
        with_margins(reader, top, "time", "" if to_target else " per sample")
        reader.need(r"\.")
        return
    reader.claim("clear winner", top.lead != "unclear", lambda: f"chance may decide: {[c.name for c in top.all]}")
    equal = reader.take("(?=<case c>(?:, <case d>)*(?: and <case e>)?(?: and <whole n> more)? are equally fast: )")
    if equal:
        items, more = reader.list_of("<case c>")
        candidates(reader, [reader.names.case(item["c"]) for item in items], more, top)
        reader.need(" are equally fast: ")
        best = reader.names.case(items[0]["c"])
        time_clause(reader, best, to_target)
    else:
        best = alone(reader, top, to_target)
    is_first(reader, best, top)
    against_one_worker(reader, best, to_target)
    if reader.take(", (?=as fast|<times x> faster|<percent p> faster)"):
        other = reasons.faster(reader, best, None, measure)
        reader.claim("next", top.next and same_score(other, top.next, measure),
                     lambda: f"next is {top.next and top.next.name}")
    reader.need(r"\.")
    chance_remark(reader, experiment.may_be_chance(top))


def alone(reader, top, to_target):
    if to_target:
        got = reader.need("<case c> reaches the target (?P<first>first, )?after <time t>")
        best = reader.names.case(got["c"])
        reader.number("time", "time to the target", got["t"], best.score(top.measure))
        reader.claim("first", bool(got["first"]) == (len(top.ranked) > 1), f"{len(top.ranked)} cases")
    else:
        got = reader.need("<case c> (?P<how>is the fastest, with |processes )")
        best = reader.names.case(got["c"])
        time_clause(reader, best, False)
        reader.claim("first", (got["how"] == "processes ") == (len(top.ranked) == 1), f"{len(top.ranked)} cases")
    reader.claim("single winner", len(top.all) == 1, lambda: f"equal: {[case.name for case in top.all]}")
    return best
