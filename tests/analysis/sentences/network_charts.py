"""The sentences of the charts of links, collectives, ranks, staleness and replicas."""

import math
import re

from sentences import reasons
from sentences.facts import mean
from sentences.quantities import agrees, at_most

KINDS = ("compute", "communicate", "wait", "down")


def links(reader, experiment, chart):
    cases = [case for case in experiment.cases if case.live and case.live[0]["links"]]
    if reader.take(r"The utilisation of the links is not known\."):
        reader.claim("utilisation", all(not use for case in cases for use in reasons.utilisations(case).values()),
                     "known")
        return
    got = reader.need(r"The busiest link is \"(?P<link>[^\"]*)\"(?: \((?P<ends>[^()]*(?: \([^()]*\))?)\))?"
                      r" of <case c>: busy <percent p> of the time, <bytes b> carried"
                      r"(?P<shared> along with other traffic)?")
    case = reader.names.case(got["c"])
    ends(reader, got["ends"], case.live[0], got["link"])
    used = reasons.utilisations(case)
    most = {each.name: max(reasons.utilisations(each).values()) for each in cases}
    reader.claim("busiest link", used[got["link"]] >= max(most.values()) * (1 - 1e-12), f"{most}")
    reader.number("percent", "utilisation", got["p"], used[got["link"]])
    reader.number("bytes", "bytes", got["b"], mean(
        link["bytes"] for run in case.live for link in run["links"] if link["link"] == got["link"]))
    traffic = any(link["link"] == got["link"] and link.get("background_bytes", 0) > 0 for link in case.live[0]["links"])
    reader.claim("other traffic", bool(got["shared"]) == traffic, f"{traffic}")
    got = reader.take(", (?:as busy|<times x> as busy) as the mean of its <whole n> links")
    if got:
        ratio = max(used.values()) / mean(used.values())
        reader.claim("count", int(got["n"]) == len(used), f"{len(used)} links")
        if got["x"]:
            reader.number("times", "over the mean", got["x"], ratio)
        else:
            reader.claim("over the mean", ratio < 1.1 + 1e-9, f"{ratio}")
    reader.need(r"\.")
    got = reader.take(r" In <case c> no link is busy for more than <percent p> of the time\.")
    if got:
        value = most[reader.names.case(got["c"]).name]
        reader.claim("least busy case", value <= min(most.values()) * (1 + 1e-12) + 1e-300, f"{most}")
        reader.claim("utilisation", at_most("percent", got["p"], value) and (
            got["p"] == "0.1 %" or agrees("percent", got["p"], value)), f"{value}")


def ends(reader, text, run, link):
    """Claims that these ranks send or receive on the link: "server 0, sending"."""
    if text is None:
        return
    wires = [wire for wire in run.get("wires", []) if wire["link"] == link]
    numbers = {"worker": 0, "server": 0}
    names = {}
    for rank in run["ranks"]:
        way = "worker" if rank["role"] == "worker" else "server"
        names.setdefault(f"host-{rank['host']}", []).append((way.replace("worker", "rank"), numbers[way]))
        numbers[way] += 1
    got = re.fullmatch(r"(.+), (sending|receiving)", text)
    if not got:
        reader.unread()
    place = wires[0]["from" if got[2] == "sending" else "to"]
    reader.claim("ends of a link", wires and in_words(names[place]) == got[1], lambda: f"{place}: {names[place]}")


def in_words(ranks):
    parts = []
    for noun in ("rank", "server"):
        own = [number for each, number in ranks if each == noun]
        if len(own) == 1:
            parts.append(f"{noun} {own[0]}")
        elif len(own) > 2 and own[-1] - own[0] + 1 == len(own):
            parts.append(f"{noun}s {own[0]} to {own[-1]}")
        elif len(own) > 3:
            parts.append(f"{len(own)} {noun}s")
        elif own:
            parts.append(f"{noun}s " + ", ".join(map(str, own)))
    return ", ".join(parts)


def collectives(reader, experiment, chart):
    rows = [(case, use) for case in experiment.cases if case.live for use in case.live[0].get("collectives") or []]
    gaps = [use["simulated_s"] / use["predicted_s"] - 1 if use["predicted_s"] > 0 else 0.0 for _, use in rows]
    as_predicted = sum(abs(gap) <= 0.005 for gap in gaps)
    got = reader.take(r"(?:Both|All <whole n>) take as long as the model predicts, within 0\.5 %")
    if got:
        reader.claim("as predicted", as_predicted == len(rows) == (int(got["n"]) if got["n"] else 2), f"{as_predicted}")
        latest(reader, rows)
        reader.need(r"\.")
        return
    got = reader.need(r"(?P<name>\S+(?: \S+)?) of <case c> \(<whole n> members, <bytes b>\) takes ")
    case = reader.names.case(got["c"])
    mine = [(use, gap) for (each, use), gap in zip(rows, gaps)
            if each is case and use["name"] == got["name"] and agrees("bytes", got["b"], use["bytes"])]
    reader.claim("names", mine and mine[0][0]["members"] == int(got["n"]), "no such collective")
    use, gap = mine[0]
    single = reader.take("as long as the model predicts: <time t>")
    if single:
        reader.number("time", "time of a collective", single["t"], use["simulated_s"])
        reader.claim("as predicted", as_predicted == len(rows) == 1, f"{gaps}")
        latest(reader, rows)
        reader.need(r"\.")
        return
    got = reader.need("<time t> instead of the predicted <time p>: ")
    reader.number("time", "time of a collective", got["t"], use["simulated_s"])
    reader.number("time", "predicted time", got["p"], use["predicted_s"])
    reader.claim("largest gap", abs(gap) >= max(map(abs, gaps)) * (1 - 1e-9), f"{gaps}")
    explanation(reader, case, use)
    reader.need(r"\.")
    got = reader.take(r" As predicted: <whole n> of <whole m> collectives\.")
    reader.claim("as predicted", (int(got["n"]), int(got["m"])) == (as_predicted, len(rows))
                 if got else as_predicted == 0,
                 f"{as_predicted} of {len(rows)}")


def latest(reader, rows):
    got = reader.take(r"\. Members wait (?:longest in <case c>: )?<time t> on average for the last one")
    most = max(use["skew_s"] for _, use in rows)
    if got:
        reader.number("time", "skew", got["t"], most)
        if got["c"]:
            case = reader.names.case(got["c"])
            reader.claim("skew", any(each is case and use["skew_s"] == most for each, use in rows), f"{most}")
    else:
        reader.claim("skew", most <= 1e-6 * max(use["simulated_s"] for _, use in rows), f"{most}")


def explanation(reader, case, use):
    """Reads why a collective takes longer or shorter than predicted."""
    gap = use["simulated_s"] - use["predicted_s"]
    if reader.take("no prediction"):
        reader.claim("prediction", not use["predicted_s"] > 0, "there is one")
    elif reader.take("as predicted"):
        reader.claim("as predicted", abs(gap) <= 0.005 * use["predicted_s"] * (1 + 1e-9), f"{gap}")
    else:
        got = reader.need(r"<time t> (?P<way>more|less) \(<percent p>\)")
        sign = 1 if got["way"] == "more" else -1
        reader.number("time", "gap", got["t"], sign * gap)
        reader.number("percent", "gap", got["p"], sign * gap / use["predicted_s"])
        cause(reader, case)
        if reader.take(": part of the work was done before the last member arrived"):
            reader.claim("cause", sign < 0 and use["skew_s"] > 0, f"{use}")
    got = reader.take("; members first wait <time t> on average for the last one(?P<straggler>, a straggler)?")
    if got:
        reader.number("time", "skew", got["t"], use["skew_s"])
        if got["straggler"]:
            slowest = case.of_live(reasons.slowest) or 1.0
            reader.claim("stragglers", case.conditions["stragglers"] or slowest > 1.05, f"{slowest}")
    got = reader.take("; <percent p> of its time is hidden behind other work")
    hidden = 1 - use["exposed_s"] / use["duration_s"] if use.get("duration_s") else 0.0
    if got:
        reader.number("percent", "hidden share", got["p"], hidden)
    else:
        reader.claim("hidden share", hidden <= 0.005 * (1 + 1e-9), f"{hidden}")


def cause(reader, case):
    got = reader.take(r", because (?:of the network model \"(?P<model>[^\"]*)\": the prediction is for the ideal one|"
                      r"(?P<jitter>latencies vary from message to message)|"
                      r"(?P<traffic>other traffic takes part of the bandwidth)|"
                      r"(?P<uneven>members have different speeds)|(?P<shared>messages share links))")
    if not got:
        return
    run = case.live[0]
    if got["model"]:
        reader.claim("cause", run["network_model"] == got["model"] != "ideal", run["network_model"])
    elif got["jitter"]:
        reader.claim("cause", case.conditions["jitter"], "no jitter")
    elif got["traffic"]:
        reader.claim("cause", case.conditions["background"] or case.experiment.jobs, "no traffic")
    elif got["uneven"]:
        slowest = case.of_live(reasons.slowest) or 1.0
        reader.claim("cause", case.conditions["uneven"] or slowest > 1.05, f"{slowest}")
    else:
        several = len(run["ranks"]) > len(run["hosts"]) or any(link["link_class"] != "nic" for link in run["links"])
        reader.claim("cause", several, "no link is shared")


def ages(case):
    counts = {}
    for run in case.live:
        for age, count in run.get("staleness_counts") or []:
            counts[age] = counts.get(age, 0) + count
    total = sum(counts.values())
    return (sum(age * count for age, count in counts.items()) / total if total else 0.0,
            max(counts)) if counts else None


def staleness(reader, experiment, chart):
    known = {case.name: ages(case) for case in experiment.cases if case.live and ages(case)}
    if reader.take("No gradient is stale: each is applied before any other update."):
        reader.claim("staleness", all(most == 0 for _, most in known.values()), f"{known}")
        return
    got = reader.take(r"The gradients of all <whole n> cases are alike in age, within 5 %: <fixed a> to <fixed b> updates "
                      r"old on average, <whole m> at most\.")
    means = [average for average, _ in known.values()]
    alike = len(known) > 1 and min(means) >= 0.95 * max(means)
    reader.claim("alike", bool(got) == alike or abs(min(means) - 0.95 * max(means)) < 1e-9, f"{known}")
    if got:
        reader.claim("count", int(got["n"]) == len(known), f"{known}")
        reader.number("fixed", "staleness", got["a"], min(means))
        reader.number("fixed", "staleness", got["b"], max(means))
        reader.claim("largest staleness", int(got["m"]) == max(most for _, most in known.values()), f"{known}")
        return
    for which, word in ((max, "oldest gradients"), (min, "freshest")):
        got = reader.take(f"(?: )?<case c> applies the {word}: <fixed n> updates old on average, <whole m> at most")
        if not got:
            reader.claim("freshest", which is min and len({average for average, _ in known.values()}) == 1, f"{known}")
            break
        average, most = known[got["c"]]
        reader.number("fixed", "staleness", got["n"], average)
        reader.claim("largest staleness", int(got["m"]) == most, f"{most}")
        reader.claim(word, average == which(each for each, _ in known.values()), f"{known}")
        because = reader.take(", because the other (?:worker updates|<whole n> workers update)"
                              " between a pull and its push")
        if because:
            case = reader.names.case(got["c"])
            reader.claim("workers", int(because["n"] or 1) == case.workers - 1, f"{case.workers}")
            reader.claim("cause", abs(average / (case.workers - 1) - 1) < 0.1, f"{average}")
        reader.need(r"\.")


def distances(case):
    """The largest distance of replicas during training and the last one, as means over the seeds."""
    def largest(run):
        found = [each["consensus_distance"] for each in run["curve"] if each["consensus_distance"] is not None]
        return max(found) if found else None
    return case.of_live(largest), case.of_live(lambda run: run["curve"][-1]["consensus_distance"]
                                               if run["curve"] else None)


def distance(reader, experiment, known):
    got = reader.need(r"<three d> in <case c>(?: \(spectral gap <three g>\))?")
    case = reader.names.case(got["c"])
    reader.number("three", "distance of replicas", got["d"], known[case.name][1])
    if got["g"]:
        reader.number("three", "spectral gap", got["g"], case.of_live("spectral_gap"))
    return case


def consensus(reader, experiment, chart):
    known = {case.name: distances(case) for case in experiment.cases if case.live}
    apart = {name: pair for name, pair in known.items() if None not in pair and pair[0] > 0}
    last = [pair[1] for pair in apart.values()]
    reader.need("Distance of the replicas from their mean at the end: ")
    first = distance(reader, experiment, known)
    reader.claim("largest distance", known[first.name][1] >= max(last) * (1 - 1e-12), f"{last}")
    if reader.take(", and the same in every other case"):
        reader.claim("equal distances", f"{max(last):.3g}" == f"{min(last):.3g}" and len(last) > 1
                     and all(pair == (None, None) or name in apart for name, pair in known.items()),
                     f"{known}")
    elif reader.take(", the largest, and "):
        case = distance(reader, experiment, known)
        reader.need(", the smallest")
        reader.claim("smallest distance", known[case.name][1] <= min(last) * (1 + 1e-12), f"{last}")
        if reader.take(", on a graph that mixes faster"):
            reader.claim("spectral gap", case.of_live("spectral_gap") > first.of_live("spectral_gap"), "not larger")
    got = reader.need(r"\. The largest distance during training was <three d>\.")
    reader.number("three", "distance of replicas", got["d"], max(pair[0] for pair in apart.values()))
    if reader.take(" In "):
        items, more = reader.list_of("(?:<case c>|<plain p>)")
        for item in items:
            cases = [case for case in experiment.cases
                     if item["c"] == case.name or item["p"] == case.plain or item["c"] == case.plain]
            reader.claim("equal replicas", all(known[case.name][0] == 0 for case in cases if case.live
                                               and known[case.name][0] is not None),
                         f"{[(case.name, known.get(case.name)) for case in cases]}")
        reader.need(r" the replicas are always equal\.")


class Bars:
    """The bars that a chart shows of a run: those that begin before its end, cut there."""

    def __init__(self, experiment, chart_run, case):
        timeline = experiment.timelines[case.live[0]["id"]]
        spans = timeline["spans"]
        self.end = chart_run["to_s"]
        self.whole = chart_run["whole"] and timeline["whole"] and self.end == timeline["to_s"]
        self.length = self.end - timeline["from_s"]
        self.bars = [(rank, lane, kind, step, start, min(stop, self.end)) for rank, lane, kind, step, start,
                     stop in zip(
            *(spans[name] for name in ("rank", "lane", "kind", "step", "from_s", "to_s"))) if start < self.end
                     and stop > start]
        self.names = dict(zip(timeline["ranks"], timeline["rank_names"]))
        roles = [rank["role"] for rank in case.live[0]["ranks"]]
        self.ranks = {way: sorted({bar[0] for bar in self.bars if bar[1] == 0
                                   and (roles[bar[0]] == "worker") == (way == "worker")})
                      for way in ("worker", "server")}
        self.all = {"worker": roles.count("worker"), "server": len(roles) - roles.count("worker")}

    def seconds(self, ranks, kind):
        return math.fsum(stop - start for rank, lane, k, _, start, stop in self.bars if rank in ranks and lane == 0
                         and k == kind)

    def share(self, way, kind):
        total = math.fsum(self.seconds(self.ranks[way], k) for k in range(4))
        return self.seconds(self.ranks[way], kind) / total if total else 0.0


def gantt(reader, experiment, chart):
    reader.need("Shown are ")
    for place, chart_run in enumerate(chart["runs"][:2]):
        got = reader.need(r"(?:(?P<all>all)|the first) <time t> of <case c>(?:, seed <whole s>)? \(<whole n> steps? started\)")
        case = reader.names.case(got["c"])
        several = len(case.runs) > 1
        reader.claim("seed", got["s"] == (str(case.live[0]["seed"]) if several else None), f"{len(case.runs)} seeds")
        bars = Bars(experiment, chart_run, case)
        reader.claim("whole run", bool(got["all"]) == bars.whole, f"{bars.whole}")
        reader.number("time", "time shown", got["t"], bars.length)
        reader.claim("steps", int(got["n"]) == max(bar[3] for bar in bars.bars) + 1,
                     f"{max(bar[3] for bar in bars.bars) + 1}")
        if reader.take(": "):
            lanes(reader, bars, "worker")
        slow = reader.take("; (?P<name>[^;.]*?) waits longest, <percent p>")
        if slow:
            waits = {bars.names[rank]: bars.seconds([rank], 2) for rank in bars.ranks["worker"]}
            reader.claim("waits longest", waits[slow["name"]] >= max(waits.values()) * (1 - 1e-12), f"{waits}")
            reader.number("percent", "share of the time", slow["p"], waits[slow["name"]] / bars.length)
        if reader.take("; (?=its |the first )"):
            lanes(reader, bars, "server")
        if place == 0 and len(chart["runs"]) > 1:
            reader.need(r"\. Next to it, ")
    reader.need(r"\.")


def missing_timelines(reader, shown, of):
    """Reads how many cases have a timeline on the page, and why not all."""
    got = reader.need(r"(?:No timeline of the|Timelines of <whole s> of) <whole n> cases? (?:is|are) here: ")
    reader.claim("timelines", (int(got["s"] or 0), int(got["n"])) == (shown, of) and shown < of, f"{shown} of {of}")
    bound = reader.need(r"those of the first seed of at most <whole m> cases are kept by default, and this page shows no "
                        r"more\. With the same directory, this command simulates the runs again that lack theirs, and "
                        r"leaves their results:")
    reader.claim("bound", int(bound["m"]) == 64 and shown <= 64, f"{shown} are shown")


def lanes(reader, bars, way):
    """Reads "its 8 workers compute 75 % of the time, communicate 20 %, wait 5 %"."""
    got = reader.need(rf"(?:its {way}|its <whole n> {way}s|the first <whole m> of its <whole k> {way}s) "
                      r"computes? <percent a> of the time, communicates? <percent b>, waits? <percent c>"
                      r"(?:, (?:is|are) down <percent d>)?")
    shown, of = len(bars.ranks[way]), bars.all[way]
    holds = (int(got["m"]), int(got["k"])) == (shown, of) if got["m"] else shown == of == int(got["n"] or 1)
    reader.claim("count", holds, f"{shown} of {of} {way}s")
    for kind, name in enumerate("abcd"):
        if got[name]:
            reader.number("percent", f"share of the time: {KINDS[kind]}", got[name], bars.share(way, kind))
        else:
            reader.claim("share of the time: down", bars.share(way, 3) == 0, f"{bars.share(way, 3)}")
