"""The cards of the winners, the bottleneck, and the notes."""

import re

from sentences import findings, memory, reasons
from sentences.answers import interference, keys_text
from sentences.facts import EQUAL, NUMBERS, Top, mean, point_words, printable, seen
from sentences.winners import (against_one_worker, candidates, is_first, same_score, time_clause, too_large_for_one,
                               with_margins)

KINDS = {"time": "time", "throughput": "time", "cost": "dollars", "energy": "joules"}


def notes(reader, experiment):
    runs = experiment.results["runs"]
    got = reader.take("Incomplete: <whole n> runs? finished before the experiment was interrupted\\.")
    if got:
        reader.claim("count", int(got["n"]) == len(runs) and not experiment.results["complete"], f"{len(runs)} runs")
        return True
    got = reader.take(r"<whole n> runs? failed\. First error \((?P<label>.*)\): (?P<error>.*)$")
    if got:
        failed = [run for run in runs if run["status"] == "failed"]
        reader.claim("count", int(got["n"]) == len(failed), f"{len(failed)} failed")
        reader.claim("error", (got["label"], got["error"]) == (printable(failed[0]["label"]), failed[0]["error"]),
                     failed[0]["error"])
        return True
    got = reader.take("<whole n> runs? diverged: ")
    if got:
        diverged(reader, experiment, int(got["n"]))
        return True
    if findings.untried(reader, experiment) or memory.proxy(reader, experiment):
        return True
    got = reader.take(r"Cards name the winners of the first <whole n> of <whole m> values of (?P<keys>.+); "
                      r"the table has all results\.")
    if got:
        questions = experiment.questions()
        answered = [cases for _, cases in questions if experiment.ranking(cases, experiment.measure)]
        reader.claim("count", int(got["n"]) == 6 < int(got["m"]) == len(questions) and answered, f"{len(questions)}")
        reader.claim("keys", got["keys"] == keys_text(list(questions[0][0])), f"{questions[0][0]}")
        return True
    got = reader.take(r"<whole n> of <whole m> cases lost samples to crashes; "
                      r"they are no part of samples/s and speed-ups\.")
    if got:
        lost = [case for case in experiment.cases if case.mean(lambda run: run["samples"] - seen(run))]
        reader.claim("count", (int(got["n"]), int(got["m"])) == (len(lost), len(experiment.cases)), f"{len(lost)}")
        reader.claim("count", len(lost) > 12, "these few have a note each")
        return True
    got = reader.take(r"<case c> lost <count a> of <count b> samples to crashes; "
                      r"they are no part of samples/s and speed-ups\.")
    if got:
        case = reader.names.case(got["c"])
        reader.number("count", "samples lost", got["a"], case.mean(lambda run: run["samples"] - seen(run)))
        reader.number("count", "samples lost", got["b"], case.mean("samples"))
        return True
    return False


def diverged_step(run):
    if run.get("diverged_step") is not None:
        return run["diverged_step"]
    return run["curve"][-1]["step"] if run["curve"] else run["steps"]


def diverged(reader, experiment, number):
    runs = [run for run in experiment.results["runs"] if run["status"] == "diverged"]
    reader.claim("count", number == len(runs), f"{len(runs)} diverged")
    items, more = reader.list_of("<case c>(?: at steps? <whole a>(?: to <whole b>)?)?")
    cases = [case for case in experiment.cases if case.diverged]
    reader.claim("count", len({item["c"] for item in items}) + more == len(cases), f"{len(cases)} cases diverged")
    for item in items:
        case = reader.names.case(item["c"])
        steps = [diverged_step(run) for run in case.runs if run["status"] == "diverged"]
        if item["a"]:
            reader.claim("step of divergence",
                         (int(item["a"]), int(item["b"] or item["a"])) == (min(steps), max(steps)), f"{steps}")
        reader.claim("diverged", steps, "no run diverged")
    reader.need(r"\.")


def card(reader, experiment, line):
    """Reads one winner: {by, label, point, text, lead}."""
    if experiment.jobs:
        case = next(case for case in experiment.cases
                    if (case.label, point_words(case.point)) == (line["label"], line["point"]))
        reader.number("time", "time", reader.need("<time t>")["t"], case.mean("simulated_s"))
        got = reader.take(", (?:(?P<same>as long as alone)|<times x> as long as alone)")
        if got:
            interference(reader, got, case)
        return
    work = "to the target" if experiment.to_target else "per sample"
    by_time = line["by"] in ("time", "throughput")
    reader.claim("kind of card", not by_time or (line["by"] == "throughput") == (
        experiment.has_target and not experiment.to_target), f"{experiment.measure}")
    measure = experiment.measure if by_time else f"{line['by']} {work}"
    top = top_of_card(reader, experiment, line, measure)
    if top is None:
        return
    reader.claim("lead of a card", line["lead"] == top.lead, f"{top.lead}")
    scale = 1.0 if experiment.to_target or by_time else 1e6
    kind = KINDS[line["by"]]
    if reader.take("chance may decide between "):
        reader.claim("no clear winner", top.lead == "unclear" and line["label"] == "no clear winner", top.lead)
        with_margins(reader, top, kind, " per sample" if by_time and not experiment.to_target else "",
                     scale)
        return
    best = next(case for case in experiment.cases
                if (case.label, point_words(case.point)) == (line["label"], line["point"]))
    is_first(reader, best, top)
    if by_time:
        time_clause(reader, best, experiment.to_target)
        against_one_worker(reader, best, experiment.to_target)
    else:
        text = reader.need(f"<{kind} m> " + ("to the target" if experiment.to_target else "per million samples"))["m"]
        reader.number(kind, "price", text, best.score(measure) * scale)
    others(reader, experiment, line["by"], kind, top, scale)
    got = reader.take(f"; one worker alone: <{kind} m>")
    if got:
        alone_costs = of_baseline(experiment, best, measure)
        reader.number(kind, "price of one worker", got["m"], None if alone_costs is None else alone_costs * scale)
        too_large_for_one(reader, best.baselines())
        reader.claim("price of one worker", alone_costs is not None and alone_costs * EQUAL < best.score(measure), "not cheaper")


def top_of_card(reader, experiment, line, measure):
    """The ranking that a card is about: that of its question."""
    for parameters, cases in experiment.questions():
        points = (case.point for case in experiment.cases)
        point = next((each for each in points if point_words(each) == line["point"]), {})
        if line["label"] == "no clear winner":
            mine = point_words(parameters) == line["point"]
        else:
            mine = all(point.get(key) == value for key, value in parameters.items())
        if mine:
            ranked = experiment.ranking(cases, measure)
            reader.claim("has a ranking", ranked, "no case has the number")
            return Top(ranked, measure) if ranked else None
    reader.claim("has a ranking", False, f"no question {line['point']}")
    return None


def others(reader, experiment, by, kind, top, scale):
    if reader.take("; (?=next)"):
        got = reader.need("next(?P<strategy> strategy)?: <case c> with ")
        reader.claim("next", bool(got["strategy"]) == (len(experiment.labels) > 1 and len(experiment.points) > 1),
                     "a ranking has the best case of each strategy")
        case = reader.names.case(got["c"])
        reader.claim("next", top.next and same_score(case, top.next, top.measure),
                     lambda: f"next is {top.next and top.next.name}")
        if by in ("time", "throughput"):
            time_clause(reader, case, experiment.to_target)
        else:
            reader.number(kind, "price", reader.need(f"<{kind} m>")["m"], case.score(top.measure) * scale)
    elif reader.take("; (?!one worker)"):
        items, more = reader.list_of("<case c>")
        candidates(reader, [top.ranked[0], *(reader.names.case(item["c"]) for item in items)], more, top)
        reader.need(" (?:is|are) equally fast| (?:costs?|uses?) the same within 0.5 %")
        reader.claim("equal", top.lead in ("equal", "one_seed"), top.lead)


def of_baseline(experiment, case, measure):
    runs = experiment.results["baselines"]
    mine = [run for run in runs if run["parameters"].items() <= case.point.items()]
    one_a_seed = len({run["seed"] for run in mine}) == len(mine)  # else they are of several tasks
    return mean(NUMBERS[measure](run) for run in mine) if one_a_seed else None


def bottleneck(reader, experiment, name):
    cases = [case for case in experiment.cases if case.name == name]
    reader.claim("names", cases, f"no case {name}")
    case = cases[0]
    if experiment.jobs:
        most = max(each.of_live("interference") or 0.0 for each in experiment.cases if each.live)
        reader.claim("bottleneck of", (case.of_live("interference") or 0.0) >= most * (1 - 1e-12), f"{most}")
    else:
        ranked = [r for _, cases in experiment.questions() if (r := experiment.ranking(cases, experiment.measure))][-1]
        top = Top(ranked, experiment.measure)
        is_first(reader, case, top, "bottleneck of")
    reasons.limit_clause(reader, case, True)
    reader.need(r"\.")
    if reader.take(" (?= |$)"):
        reader.claim("spaces", False, "a space is followed by nothing")
    if reader.take(" (?=With |No single change)"):
        findings.finding(reader, experiment)
    got = reader.take(" It is ahead of <case c> because ")
    if got:
        reader.claim("clear winner", top.lead != "unclear", top.lead)
        other = reader.names.case(got["c"])
        reader.claim("next", top.next and same_score(other, top.next, top.measure),
                     lambda: f"next is {top.next and top.next.name}")
        reasons.reason(reader, case, other, experiment.measure)
        reader.need(r"\.")
