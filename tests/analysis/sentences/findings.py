"""Sentences on what would make a run faster, and so on what binds it."""

import re

from sentences.quantities import interval_of


def binding(tried):
    """The least gain: of asynchronous runs it is larger, because any change reorders their updates."""
    return 1.05 if tried.get("asynchronous") else 1.02


def untried(reader, experiment):
    """Reads why no change was tried on jobs."""
    if not reader.take("No change was tried to find the bottleneck: jobs share the cluster, and a change for one "
                       r"changes all\."):
        return False
    reader.claim("no change was tried", experiment.jobs and not experiment.results.get("counterfactuals"), "not so")
    return True


WORDS = {"bandwidth": ("twice the bandwidth", "the bandwidth of the links"),
         "latency": ("half the latency", "the latency of the links"),
         "worker_speed": ("workers twice as fast", "the speed of the workers"),
         "server_speed": ("servers twice as fast", "the speed of the servers"),
         "storage": ("a storage twice as fast", "the speed of the storage"),
         "stragglers": ("no stragglers", "the time that stragglers take"),
         "slow_workers": ("all workers at full speed", "the slowness of some workers"),
         "failures": ("no failures", "the time that failures take"),
         "slow_links": ("all links at full bandwidth", "the slowness of some links"),
         "background": ("no other traffic", "the other traffic on the links"),
         "jitter": ("no jitter", "the jitter of the messages"),
         "algorithm": ("the fastest algorithm for each sum", "the algorithm of the allreduce"),
         "micro_batches": ("twice the micro-batches", "the number of micro-batches"),
         "schedule": ("the schedule zb_h1", "the schedule of the stages"),
         "tensor_place": ("tensor innermost", "the places of the tensor ranks"),
         "recompute": ("no recomputation", "the recomputation of activations")}


COLUMN = {name: name.replace("_", " ") for name in WORDS} | {
    "background": "other traffic", "micro_batches": "micro-batches", "tensor_place": "tensor ranks",
    "recompute": "recomputation"}


def finding(reader, experiment, way="case"):
    """Reads "With twice the bandwidth ring would be 1.9x as fast (half the latency: 1.05x): ... is the main bottleneck."."""
    change = "(?:" + "|".join(words for words, _ in WORDS.values()) + ")"
    over = r"(?: over its first (?:<whole steps> steps|(?P<one>step)))?"
    seed = r"(?: \(seed <whole seed>\))?"
    several = rf"(?:(?P<more>{change}(?:, {change})*) or )?"
    got = reader.take(rf"With {several}(?P<change>{change}) <{way} c>{seed} "
                      rf"(?:would be <times x> as fast|would process <times s> as many samples a second){over}")
    if not got:
        return nothing_binds(reader, experiment, change, over, way)
    case = reader.names.by[way][got["c"]][0]
    tried = tried_on(experiment, case)
    gains = {WORDS[change["name"]][0]: gain_of(change, tried) for change in tried["changes"]}
    reader.number("times", "gain", got["x"] or got["s"], gains[got["change"]])
    reader.claim("no failures", (got["s"] is not None) == (list(gains) == [WORDS["failures"][0]]), f"{gains}")
    if got.get("seed"):
        run = next(run for run in case.runs if run["id"] == tried["id"])
        reader.claim("seed", run["seed"] == int(got["seed"]) and len(case.runs) > 1, f"{run['seed']}")
    if list(gains) == [WORDS["failures"][0]]:
        reader.claim("no failures", gains[got["change"]] >= binding(tried) - 1e-12, f"{gains}")
        steps(reader, got, tried)
        reader.need(r"\.")
        assumed(reader, tried, way)
        return True
    named = [*(re.findall(change, got["more"]) if got["more"] else []), got["change"]]
    for each in named:
        reader.number("times", "gain", got["x"], gains[each])
    shown = interval_of("times", got["x"])
    reader.claim("main bottleneck", max(gains.values()) >= binding(tried) - 1e-12
                 and max(gains.values()) <= shown[1] * (1 + 1e-9), f"{gains}")
    steps(reader, got, tried)
    beside = []
    while other := reader.take(rf"(?: \(|; )(?P<change>{change}): <times x>\)?"):
        reader.number("times", "gain", other["x"], gains[other["change"]])
        beside.append(other["x"])
    reader.claim("main bottleneck", got["x"] not in beside, f"{gains}")
    causes = {words: cause for words, cause in WORDS.values()}
    if len(named) == 1:
        reader.need(f": {re.escape(causes[got['change']])} is the main bottleneck\\.")
    else:
        items, more = reader.list_of(f"(?:: )?(?P<cause>{'|'.join(map(re.escape, causes.values()))})")
        reader.claim("limit it about equally",
                     [item["cause"] for item in items] == [causes[each] for each in named] and not more, f"{named}")
        reader.need(r" limit it about equally\.")
    slower(reader, tried, gains, change, way)
    assumed(reader, tried, way)
    return True


def slower(reader, tried, gains, change, way):
    """Reads " With half the latency ring would be 3 % slower."."""
    got = reader.take(rf" With (?P<change>{change}) <{way} c>(?: \(seed <whole seed>\))? would be <percent p> slower\.")
    least = min(gains.values())
    reader.claim("slower", (got is not None) == (least * binding(tried) <= 1), f"{gains}")
    if got:
        reader.number("percent", "slower", got["p"], 1 - gains[got["change"]])
        reader.claim("slower", gains[got["change"]] <= least * (1 + 1e-12), f"{gains}")


def assumed(reader, tried, way):
    """Reads " The speed of ring if an assumed number is 10 % off: the latency of links 0.99x to 1.00x."."""
    gains = {each["name"]: gain_of(each, tried) for each in tried.get("assumed", [])}
    got = reader.take(rf" The speed of <{way} c>(?: \(seed <whole seed>\))? if an assumed number is 10 % off: ")
    reader.claim("assumed", (got is not None) == bool(gains), f"{gains}")
    kinds = []
    while got and (part := reader.take(r"(?:, )?the (?P<kind>efficiency|bandwidth|latency) of (?:devices|links) "
                                       r"<times w> to <times b>")):
        reader.number("times", "assumed worse", part["w"], gains[part["kind"] + "_worse"])
        reader.number("times", "assumed better", part["b"], gains[part["kind"] + "_better"])
        kinds.append(part["kind"])
    reader.claim("assumed", len(set(kinds)) == len(gains) / 2, f"{kinds}, {gains}")
    if got:
        reader.need(r"\.")


def nothing_binds(reader, experiment, change, over, way):
    got = reader.take(rf"No single change that was tried would make <{way} c>(?: \(seed <whole seed>\))? <percent p> "
                      rf"faster{over}: ")
    if not got:
        return False
    tried = tried_on(experiment, reader.names.by[way][got["c"]][0])
    gains = {WORDS[each["name"]][0]: gain_of(each, tried) for each in tried["changes"]}
    items, more = reader.list_of(f"(?P<change>{change})")
    reader.claim("changes", len(items) + more == len(gains) and all(item["change"] in gains for item in items),
                 f"{gains}")
    reader.claim("nothing binds", max(gains.values()) < binding(tried)
                 and got["p"] == f"{100 * (binding(tried) - 1):.0f} %", f"{gains}")
    steps(reader, got, tried)
    reader.need(r"\.")
    slower(reader, tried, gains, change, way)
    assumed(reader, tried, way)
    return True


def tried_on(experiment, case):
    ids = {run["id"] for run in case.runs}
    return next(each for each in experiment.results["counterfactuals"] if each["id"] in ids)


def gain_of(change, tried):
    return change["samples"] / change["simulated_s"] / (tried["samples"] / tried["simulated_s"])


def steps(reader, got, tried):
    shown = 1 if got.get("one") else got["steps"] and int(got["steps"])
    reader.claim("steps", (shown == tried["steps"] and not tried["whole"]) if shown else tried["whole"],
                 f"{tried['steps']}, whole: {tried['whole']}")


def binds(reader, experiment, case):
    """Reads the causes that bind, in the table's column, or why none is named."""
    ids = {run["id"] for run in case.runs}
    tried = next((each for each in experiment.results["counterfactuals"] if each["id"] in ids), None)
    if reader.take("not tried$"):
        reader.claim("binds", tried is None or not tried["changes"], lambda: f"{tried}")
        return
    gains = {COLUMN[each["name"]]: gain_of(each, tried) for each in tried["changes"]}
    most = max(gains.values(), default=0.0)
    failures = list(gains) == ["failures"]
    if reader.take("only failures tried$"):
        reader.claim("binds", failures, lambda: f"{gains}")
        return
    if reader.take("no single cause$"):
        reader.claim("binds", not failures and most < binding(tried), lambda: f"{gains}")
        return
    items, more = reader.list_of(f"(?P<cause>{'|'.join(COLUMN.values())})")
    named = [gains.get(item["cause"], 0.0) for item in items]
    reader.claim("binds", max(named) >= most * (1 - 1e-9) and most >= binding(tried) and min(named) >= 0.9 * most
                 and not more, lambda: f"{gains}")


def nothing(reader, experiment, case):
    """Claims that nothing was tried at all, where the column is empty."""
    reader.claim("binds", not any(each["changes"] for each in experiment.results.get("counterfactuals", [])), "tried")
