"""Sentences on what would make a run faster, and so on what binds it."""

import re

BINDING = 1.02  # the least gain
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
         "jitter": ("no jitter", "the jitter of the messages")}


def finding(reader, experiment, way="case"):
    """Reads "With twice the bandwidth ring would be 1.9x as fast (half the latency: 1.05x): ... binds most."."""
    change = "(?:" + "|".join(words for words, _ in WORDS.values()) + ")"
    over = r"(?: over its first <whole steps> steps?)?"
    seed = r"(?: \(seed <whole seed>\))?"
    got = reader.take(rf"With (?P<change>{change}) <{way} c>{seed} would be <times x> as fast{over}")
    if not got:
        return nothing_binds(reader, experiment, change, over, way)
    case = reader.names.by[way][got["c"]][0]
    tried = tried_on(experiment, case)
    gains = {WORDS[change["name"]][0]: gain_of(change, tried) for change in tried["changes"]}
    reader.number("times", "gain", got["x"], gains[got["change"]])
    if got.get("seed"):
        run = next(run for run in case.runs if run["id"] == tried["id"])
        reader.claim("seed", run["seed"] == int(got["seed"]) and len(case.runs) > 1, f"{run['seed']}")
    if list(gains) == [WORDS["failures"][0]]:
        reader.claim("no failures", gains[got["change"]] >= BINDING - 1e-12, f"{gains}")
        steps(reader, got, tried)
        reader.need(r"\.")
        return True
    reader.claim("binds most", max(gains.values()) >= BINDING - 1e-12
                 and gains[got["change"]] >= max(gains.values()) * (1 - 1e-9), f"{gains}")
    steps(reader, got, tried)
    while other := reader.take(rf"(?: \(|; )(?P<change>{change}): <times x>\)?"):
        reader.number("times", "gain", other["x"], gains[other["change"]])
    causes = {words: cause for words, cause in WORDS.values()}
    reader.need(f": {re.escape(causes[got['change']])} binds most\\.")
    return True


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
    reader.claim("nothing binds", max(gains.values()) < BINDING and got["p"] == "2 %", f"{gains}")
    steps(reader, got, tried)
    reader.need(r"\.")
    return True


def tried_on(experiment, case):
    ids = {run["id"] for run in case.runs}
    return next(each for each in experiment.results["counterfactuals"] if each["id"] in ids)


def gain_of(change, tried):
    return change["samples"] / change["simulated_s"] / (tried["samples"] / tried["simulated_s"])


def steps(reader, got, tried):
    reader.claim("steps", (int(got["steps"]) == tried["steps"] and not tried["whole"])
                 if got["steps"] else tried["whole"],
                 f"{tried['steps']}, whole: {tried['whole']}")


def binds(reader, experiment, case):
    """Reads the cause that binds, in the table's column."""
    tried = tried_on(experiment, case)
    gains = {WORDS[each["name"]][1]: gain_of(each, tried) for each in tried["changes"]}
    got = reader.need(f"(?P<cause>{'|'.join(cause for _, cause in WORDS.values())})")
    most = max(gains.values())
    reader.claim("binds", gains.get(got["cause"], 0.0) >= most * (1 - 1e-9) and most >= BINDING, lambda: f"{gains}")


def nothing(reader, experiment, case):
    """Claims that nothing binds, where the column is empty."""
    ids = {run["id"] for run in case.runs}
    tried = [each for each in experiment.results.get("counterfactuals", []) if each["id"] in ids]
    reader.claim("binds", all(gain_of(change, each) < BINDING for each in tried for change in each["changes"]),
                 lambda: f"{tried}")
