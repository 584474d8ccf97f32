"""The lines below the table that simgrad run prints."""

import math
import re

from sentences import findings, memory
from sentences.facts import Top, mean, point_text, printable, seen, shows_margin
from sentences.quantities import agrees
from sentences.answers import closest_clause, listed, of_questions, without_winner
from sentences.winners import candidates, chance_remark, is_first, same_score, too_large_for_one, with_margins

ALL = "terminal"


def paragraphs(printed):
    """The paragraphs between the table and the plot, each as one line."""
    lines = printed.split("\n")
    last = max(i for i, line in enumerate(lines) if line.startswith("───") or re.match("─+$", line))
    start = next(i for i in range(last, len(lines)) if lines[i] == "") + 1
    found = []
    for line in lines[start:]:
        if line.startswith(("Loss against", "Results: ")):
            break
        if line == "":
            continue
        if line.startswith("  ") and found:
            found[-1] += " " + line.strip()
        else:
            found.append(line)
    return found


def ranked(experiment, measure):
    """All cases that may win: the table compares rows."""
    return sorted((case for case in experiment.cases if case.score(measure) is not None),
                  key=lambda c: c.score(measure))


def line(reader, experiment):
    """Reads one paragraph."""
    results = experiment.results
    if reader.take(r"Time went to: █ compute ▓ communicate ░ wait(?P<down>[^(]* down)? \(mean over workers\)\."):
        return
    if got := reader.take(r"Target: loss (?P<l>[0-9.e+-]+) or less\."):
        reader.claim("target", f"{experiment.target:.6g}" == got["l"], f"{experiment.target}")
        return
    if reader.take("Baselines?, one worker without a network: "):
        baselines(reader, experiment)
        return
    if reader.take(r"±: half of the 95 % interval of the mean over the seeds \(Student's t\)\."):
        reader.claim("seeds", any(shows_margin([run["time_to_target_s"] for run in case.good])
                                  for case in experiment.cases), "no time with a margin")
        return
    if got := reader.take(r"Incomplete: (?:this is the one run|these are the <whole n> runs) finished so far\."):
        reader.claim("count", int(got["n"] or 1) == len(results["runs"]), f"{len(results['runs'])}")
        return
    if reader.take(r"Samples lost to crashes \(no part of samples/s and speed-ups\): "):
        for item in reader.list_of(f"<{ALL} c> <count a> of <count b>")[0]:
            case = reader.names.by[ALL][item["c"]][0]
            reader.number("count", "samples lost", item["a"], case.mean(lambda run: run["samples"] - seen(run)))
            reader.number("count", "samples lost", item["b"], case.mean("samples"))
        reader.need(r"\.")
        return
    if reader.take("Dropped from the race: "):
        dropped(reader, results.get("dropped", []))
        return
    if reader.take(r"Spectral gap \(1: one step averages exactly\): "):
        gaps(reader, results["runs"])
        return
    if reader.take(r"Note \([^()]*\): (?=losses are those of )"):
        memory.models(reader, experiment)
        return
    if got := reader.take(r"(?P<kind>Failed|Note \((?P<who>.*?)\)): (?P<text>.*)$"):
        said = [note for run in results["runs"] for note in run["notes"]] + [
            f"{run['label']}, seed {run['seed']}: {run['error']}" for run in results["runs"]]
        squeezed = [" ".join(printable(text).split()) for text in said]
        reader.claim("note", got["text"] in squeezed or got["kind"] == "Failed", "no such note")
        if got["who"]:
            owners(reader, got["who"], [run for run in results["runs"]
                                        if got["text"] in [" ".join(printable(each).split()) for each in run["notes"]]])
        return
    if reader.take(r"<whole n> more notes are in results\.json\."):
        return
    if findings.untried(reader, experiment):
        return
    if not findings.finding(reader, experiment, ALL):
        sentence(reader, experiment)


def owners(reader, who, runs):
    """Claims that these are the runs' strategies: "gossip, 5 seeds" or "ring and tree, 10 runs"."""
    labels = list(dict.fromkeys(printable(run["label"]) for run in runs))
    number = re.search(r", (\d+) (seeds|runs)$", who)
    names = who[:number.start()] if number else who
    reader.claim("owner", names == listed(labels, 3), lambda: f"{labels}")
    reader.claim("count", int(number[1]) == len(runs) if number else len(runs) == len(labels), f"{len(runs)}")
    alone = len(labels) == 1 and len({point_text(run["parameters"]) for run in runs}) == 1
    reader.claim("count", not number or (number[2] == "seeds") == alone, f"{labels}")


def dropped(reader, all_dropped):
    """Strategies that a race has left out: each is one of results.json, in its order."""
    items, more = reader.list_of(r"(?P<name>.+?) \(<whole n> of <whole all> seeds, behind (?P<best>.+?)\)")
    reader.claim("count", len(items) + more == len(all_dropped), f"{len(all_dropped)}")
    for got, each in zip(items, all_dropped):
        point = f" at {point_text(each['parameters'])}" if each["parameters"] else ""
        reader.claim("dropped", got["name"] == printable(each["label"]) + point, f"{each}")
        reader.claim("dropped", got["best"] == printable(each["behind"]), f"{each}")
        reader.claim("count", int(got["n"]) == each["seeds"], f"{each}")
        reader.claim("count", int(got["all"]) == each["seeds"] + each["seeds_left_out"], f"{each}")
    reader.need(r"\.")


def gaps(reader, runs):
    while True:
        got = reader.need(r"<four g> for (?P<label>.+?) with <whole n> workers?")
        reader.claim("spectral gap", any(run["spectral_gap"] is not None
                                         and agrees("four", got["g"], run["spectral_gap"])
                                         and printable(run["label"]) == got["label"] and run["workers"] == int(got["n"])
                                         for run in runs), "no such run")
        if not reader.take(", "):
            break
    reader.need(r"\.")


def baselines(reader, experiment):
    if reader.take(r"next to no time, so there are no speed-ups\."):
        ratios = [run["speedup_throughput"] for run in experiment.results["runs"] if run["speedup_throughput"]]
        reader.claim("baseline", ratios and max(ratios) < 1e-5, f"{ratios}")
        return
    groups = {}
    for run in experiment.results["baselines"]:
        groups.setdefault(f" at {point_text(run['parameters'])}" if run["parameters"] else "", []).append(run)
    said = []
    while not reader.done():
        got = reader.need(r"(?:baseline(?P<where>(?: at [^:]*?)?): )?(?:simulated <time t>"
                          r"(?P<large> \(which would not fit into memory: it needs [^()]+\))?"
                          r"(?:, target after <time u>)?"
                          r"(?:, (?:<whole a> of <whole b> )?diverged)?|failed)\.? ?")
        places = list(groups) if got["where"] is None else [got["where"]]
        said += places
        for place in places:
            runs = [run for run in groups[place] if run["status"] in ("reached", "stopped")] or [
                run for run in groups[place] if run["status"] == "diverged"]
            reader.claim("baseline", len({run["seed"] for run in runs}) == len(runs), "of several tasks")
            if got["t"]:
                reader.number("time", "baseline", got["t"], mean(run["simulated_s"] for run in runs))
            if got["u"]:
                reader.number("time", "baseline", got["u"], mean(run["time_to_target_s"] for run in runs))
        if reader.take(r"<whole n> more are in results\.json\."):
            return
    reader.claim("baseline", sorted(said) == sorted(groups), f"{list(groups)}")


def shares(reader, case):
    """Reads "; its time is 71% computing, 24% communicating": whole percents that add up to 100."""
    if not reader.take("; its time is "):
        return
    found = {}
    storage = None
    while got := reader.take("(?:, )?<whole p>% (?P<what>computing|communicating|waiting|down)"
                             "(?P<storage>, mostly with a storage)?"):
        found[got["what"]] = int(got["p"])
        storage = storage or got["storage"]
    reader.claim("storage", bool(storage) == (found.get("communicating", 0) > 0 and case.reads_storage()), "storage")
    for what, share in zip(("computing", "communicating", "waiting", "down"), case.shares()):
        reader.claim("share of the time", abs(found.get(what, 0) - 100 * share) < 1, f"{what}: {share}")
    reader.claim("share of the time", sum(found.values()) == 100, f"{found}")


def sentence(reader, experiment):
    if without_winner(reader, experiment):
        return
    if reader.take(r"No run processed any samples\."):
        reader.claim("no winner", all(seen(run) == 0 for run in experiment.results["runs"]), "some did")
        return
    to_target = ranked(experiment, "time to the target")
    if len(experiment.questions()) > 1 and not experiment.jobs and (to_target or not experiment.has_target):
        of_questions(reader, experiment, experiment.measure)
    elif to_target:
        top = Top(to_target, "time to the target")
        fastest(reader, experiment, top)
        chance_remark(reader, top.lead == "one_seed")
    elif experiment.has_target:
        unreached(reader, experiment)
    else:
        throughput(reader, experiment)
        top = Top(ranked(experiment, "time per sample"), "time per sample")
        chance_remark(reader, experiment.may_be_chance(top))


def unreached(reader, experiment):
    got = reader.need("(?P<who>No strategy reached the target with every seed|No run reached the target)")
    reader.claim("target", (got["who"] == "No run reached the target") == all(case.reached == 0
                                                                              for case in experiment.cases), "")
    if not got["who"].startswith("No strategy"):
        case = closest_clause(reader, experiment, ALL)
        if case:
            reader.number("time", "time", reader.need(",? after <time t>")["t"], case.mean("simulated_s"))
            shares(reader, case)
    reader.need(r"\.")


def fastest(reader, experiment, top):
    best = top.ranked[0]
    if reader.take("No clear winner to the target: chance may decide between "):
        reader.claim("no clear winner", top.lead == "unclear", top.lead)
        with_margins(reader, top, "time", "", way=ALL)
        reader.need(r"\.")
    else:
        reader.claim("clear winner", top.lead != "unclear", top.lead)
        reader.need("Fastest to the target: ")
        items, more = reader.list_of(f"<{ALL} c>")
        candidates(reader, [reader.names.by[ALL][item["c"]][0] for item in items], more, top)
        best = reader.names.by[ALL][items[0]["c"]][0]
        is_first(reader, best, top)
        got = reader.need(", (?P<equal>equally, )?after <time t>")
        reader.claim("equal", bool(got["equal"]) == (len(top.all) > 1), f"{len(top.all)}")
        reader.number("time", "time to the target", got["t"], best.score("time to the target"))
        if got := reader.take(", <speed x> as fast as one worker"):
            speedup = best.mean("speedup_time_to_target")
            reader.number("speed", "speed-up", got["x"], speedup)
            too_large_for_one(reader, best.baselines())
            slow = reader.take(", so one worker alone is faster")
            reader.claim("slower than one", bool(slow) == (speedup < 1), f"{speedup}")
        if len(items) == 1:
            shares(reader, best)
        reader.need(r"\.")
    cheapest(reader, experiment, best)
    if reader.take(" (?=Highest throughput|No clear winner by time per sample)"):
        throughput(reader, experiment, best)


def cheapest(reader, experiment, fastest_case):
    measure = "cost to the target"
    costs = ranked(experiment, measure)
    top = Top(costs, measure) if costs else None
    if got := reader.take(r" It is also the cheapest: <dollars m>\."):
        reader.number("dollars", "price", got["m"], fastest_case.score(measure))
        is_first(reader, fastest_case, top, "cheapest")
        reader.claim("clear winner", top.lead != "unclear", top.lead)
    elif reader.take(rf" Cheapest to the target: (?=<{ALL} c>(?:, (?!\$)| and ))"):
        items, more = reader.list_of(f"<{ALL} c>")
        candidates(reader, [reader.names.by[ALL][item["c"]][0] for item in items], more, top)
        got = reader.need(r", equally, <dollars m>\.")
        reader.number("dollars", "price", got["m"], top.ranked[0].score(measure))
        reader.claim("equal", len(top.all) > 1 and top.lead != "unclear", top.lead)
    elif got := reader.take(rf" Cheapest to the target: <{ALL} c>, <dollars m> instead of <dollars n>, "
                            r"after <time t>\."):
        case = reader.names.by[ALL][got["c"]][0]
        is_first(reader, case, top, "cheapest")
        reader.claim("clear winner", top.lead != "unclear", top.lead)
        reader.number("dollars", "price", got["m"], case.score(measure))
        reader.number("dollars", "price", got["n"], fastest_case.score(measure))
        reader.number("time", "time to the target", got["t"], case.score("time to the target"))
        reader.claim("cheaper", case.score(measure) < fastest_case.score(measure), "not cheaper")
    elif reader.take(" No clear winner by cost: chance may decide between "):
        reader.claim("no clear winner", top.lead == "unclear", top.lead)
        with_margins(reader, top, "dollars", "", way=ALL)
        reader.need(r"\.")


def throughput(reader, experiment, besides=None):
    measure = "time per sample"
    top = Top(ranked(experiment, measure), measure)
    if reader.take("No clear winner by time per sample: chance may decide between "):
        reader.claim("no clear winner", top.lead == "unclear", top.lead)
        with_margins(reader, top, "time", "", way=ALL)
    else:
        reader.claim("clear winner", top.lead != "unclear", top.lead)
        reader.need("Highest throughput: ")
        items, more = reader.list_of(f"<{ALL} c>")
        best = reader.names.by[ALL][items[0]["c"]][0]
        candidates(reader, [reader.names.by[ALL][item["c"]][0] for item in items], more, top)
        is_first(reader, best, top)
        got = reader.need(", (?:<speed x> that of one worker|<count c> samples/s)")
        if got["x"]:
            reader.number("speed", "speed-up", got["x"], best.mean("speedup_throughput"))
            too_large_for_one(reader, best.baselines())
        else:
            reader.number("count", "samples/s", got["c"], 1 / best.score(measure))
        if besides is None and len(items) == 1:
            shares(reader, best)
        elif besides is not None:
            reader.claim("besides", not same_score(best, besides, measure), "the same as the fastest")
    reader.need(r"\.")
    assert math.isfinite(top.ranked[0].score(measure))
