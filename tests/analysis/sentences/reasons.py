"""Clauses on what limits a case, and on why one case is ahead of another."""

import math
import re

from sentences.facts import EQUAL, mean
from sentences.quantities import agrees, at_most

DOES = ["computes", "communicates", "waits", "is down"]


def faster(reader, first, second, measure):
    """Reads "5 % faster than B", "2.1x faster than B" or "as fast as B". Returns B."""
    got = reader.need(r"(?:as fast as|(?:<percent p>|<times x>) faster than) <case b>")
    other = reader.names.case(got["b"]) if second is None else second
    ratio = other.score(measure) / first.score(measure)
    if got["p"]:
        reader.number("percent", "lead", got["p"], ratio - 1)
    elif got["x"]:
        reader.number("times", "lead", got["x"], ratio)
    else:
        reader.claim("lead", ratio < EQUAL * (1 + 1e-9), f"as fast, but the ratio is {ratio}")
    reader.claim("names", got["b"] == other.name, f"expected {other.name}")
    return other


def slowest(run):
    times = [rank["compute_s"] for rank in run["ranks"] if rank["role"] == "worker"]
    return max(times) / mean(times) if len(times) > 1 and sum(times) > 0 else None


def slowest_excess(run):
    times = [rank["compute_s"] for rank in run["ranks"] if rank["role"] == "worker"]
    return max(times) - mean(times) if len(times) > 1 and sum(times) > 0 else None


def utilisations(case):
    """Utilisation by direction of each link: means over the seeds."""
    links = [link["link"] for link in case.live[0]["links"]] if case.live else []
    return {name: mean(link["utilisation"] for run in case.live for link in run["links"] if link["link"] == name)
            for name in links}


def duplex(case):
    """Returns (up, down) by full-duplex link."""
    found = {}
    for name, use in utilisations(case).items():
        stem = re.sub("_(UP|DOWN)$", "", name)
        up, down = found.get(stem, (0.0, 0.0))
        found[stem] = (up, use) if name.endswith("_DOWN") else (use, down)
    return found


def lateness(case):
    def of(run):
        uses = run.get("collectives") or []
        calls = sum(use["calls"] for use in uses)
        return sum(use["calls"] * use["skew_s"] for use in uses) / calls if calls else None
    return case.of_live(of)


def lateness_s(case):
    return case.of_live(lambda run: sum(use["calls"] * use["skew_s"] for use in run["collectives"])
                        if run.get("collectives") else None)


def fault_share(case, name):
    return (case.of_live(name) or 0.0) / case.mean("simulated_s")


def faults(case):
    """Shares of the time that crashes take; hosts that are down are part of a recovery, where there is one."""
    down = case.shares()[3]
    return {"recovering": max(fault_share(case, "recovery_s"), 0.0), "being down": down,
            "repeating lost work": fault_share(case, "lost_s"),
            "writing checkpoints": fault_share(case, "checkpoint_s")}


def owner_of(case, link):
    """The roles on the hosts that sent and received what the link carried."""
    run = case.live[0]
    carried = {end: sum(use["bytes"] for use in run["links"] if use["link"] == f"{link}_{end}")
               for end in ("UP", "DOWN")}
    roles = set()
    for host in {rank["host"] for rank in run["ranks"]}:
        ranks = [rank for rank in run["ranks"] if rank["host"] == host]
        if (sum(rank["bytes_sent"] for rank in ranks) == carried["UP"]
                and sum(rank["bytes_received"] for rank in ranks) == carried["DOWN"]):
            roles |= {"worker" if rank["role"] == "worker" else "server" for rank in ranks}
    servers = sum(rank["role"] != "worker" for rank in run["ranks"])
    return roles, servers


def link_clause(reader, case, of=""):
    """Reads "the server's link "nic-8" is busy 97 % of the time"."""
    got = reader.need(rf"(?P<owner>the server's|a server's|a worker's|a host's|the) link "
                      rf"\"(?P<link>[^\"]*)\"{re.escape(of)}"
                      r"(?P<shared>, which also carries other traffic,)? is busy <percent p> of the time")
    loads = duplex(case)
    up, down = loads.get(got["link"], (math.nan, math.nan))
    reader.claim("busiest link", up + down >= max(map(sum, loads.values())) * (1 - 1e-12), lambda: f"busier: {loads}")
    both = reader.take(r", <percent u> in one direction and <percent d> in the other")
    each = reader.take(r" in one direction and <percent d> in the other")
    if both:
        reader.number("percent", "utilisation", got["p"], up + down)
        directions = (both["u"], both["d"])
    elif each:
        directions = (got["p"], each["d"])
    else:
        reader.number("percent", "utilisation", got["p"], max(up, down))
        directions = None
    if directions:
        pairs = ((up, down), (down, up))
        reader.claim("utilisation", any(agrees("percent", directions[0], a) and agrees("percent", directions[1], b)
                                        for a, b in pairs), f"{directions} are {up} and {down}")
    roles, servers = owner_of(case, got["link"])
    if got["owner"] != "the":
        holds = {"the server's": roles == {"server"} and servers == 1, "a server's": roles == {"server"}
                 and servers > 1,
                 "a worker's": roles == {"worker"}, "a host's": len(roles) == 2}[got["owner"]]
        reader.claim("owner of a link", holds, f"{got['owner']}, but {roles}, {servers} servers")
    traffic = any(link["link"].startswith(got["link"]) and link.get("background_bytes", 0) > 0
                  for link in case.live[0]["links"])
    reader.claim("other traffic", bool(got["shared"]) == traffic, f"other traffic: {traffic}")
    if reader.take(", other jobs not counted"):
        reader.claim("jobs", "job" in case.experiment.scenario, "no jobs")
    talk = case.shares()[1] + case.shares()[2]
    reader.claim("cause", up + down >= 0.5 * talk * (1 - 1e-9),
                 f"busy {up} + {down}, but {talk} of the time is not computing")


def faults_clause(reader, case):
    """Reads "recovering from 32 crashes takes 65 % of the time and writing checkpoints 5 %"."""
    crash = r"(?: (?:from|after) <three n> crash(?:es)?(?P<mean> on average)?)?"
    until = r"(?: \(until all ranks work again\))?"
    what = rf"(?P<what>recovering|being down|repeating lost work|writing checkpoints){crash}{until}"
    first = reader.need(what + " takes <percent p> of the time")
    items = [first]
    while more := reader.take(r"(?:, | and )" + what + " <percent p>"):
        items.append(more)
    known = faults(case)
    for item in items:
        reader.number("percent", "share of the time", item["p"], known[item["what"]])
        if item["n"]:
            reader.number("three", "crashes", item["n"], case.of_live("crashes"))
            reader.claim("a mean", bool(item["mean"]) == (len(case.live) > 1), f"{len(case.live)} seeds")
    reader.claim("cause", known[first["what"]] >= max(known[item["what"]] for item in items) * (1 - 1e-9),
                 lambda: f"not the largest: {known}")


def limit_clause(reader, case, whole):
    """Reads what limits a case. whole: of all of its time, else of the time that is not computing."""
    compute, communicate, wait, down = case.shares()
    lost = fault_share(case, "lost_s")
    got = reader.take("computing takes <percent p> of the time")
    if got:
        reader.number("percent", "share of the time", got["p"], compute)
        mostly(reader, case, "compute")
        reader.claim("bottleneck", compute - lost >= max(communicate, wait, down) * (1 - 1e-9), f"{case.shares()}")
        return
    if whole:
        reader.claim("bottleneck", communicate + wait + down + sum(faults(case).values()) >= compute - lost,
                     f"{case.shares()}, {faults(case)}")
    got = reader.take("(?P<what>reading and writing a storage|reading the training data|writing and reading checkpoints)"
                      " takes <percent p> of the time")
    if got:
        parts = case.detail("communicate")
        rows, results, checkpoints = (parts.get(f"communicate_{kind}_s", 0.0)
                                      for kind in ("input", "storage", "checkpoint"))
        storage = rows + results + checkpoints
        what = ("reading the training data" if storage == rows else
                "writing and reading checkpoints" if storage == checkpoints else "reading and writing a storage")
        reader.claim("storage", got["what"] == what, f"{parts}")
        reader.number("percent", "share of the time", got["p"], communicate * storage / sum(parts.values()))
        reader.claim("storage", storage >= 0.5 * sum(parts.values()) * (1 - 1e-9) and communicate >= wait, f"{parts}")
        return
    got = reader.take("(?P<what>communicating|waiting|waiting for its turn) takes <percent p> of the time")
    if not got:
        faults_clause(reader, case)
        return
    share = communicate if got["what"] == "communicating" else wait
    reader.number("percent", "share of the time", got["p"], share)
    if reader.take(", and (?=the|a )"):
        reader.claim("bottleneck", share >= max(communicate, wait) * (1 - 1e-9), f"{case.shares()}")
        link_clause(reader, case)
        return
    waiting(reader, case, wait, communicate) if got["what"] != "communicating" else network(reader, case)


PHRASES = {"sums": "compute_reduction_s", "updates": "compute_update_s", "encoding": "compute_encoding_s",
           "other computing": "compute_other_s", "waiting for a gradient": "wait_gradient_s",
           "waiting for another worker's other work": "wait_worker_s",
           "waiting for a server's processor": "wait_server_s",
           "waiting for the transfers of others": "wait_transfer_s", "waiting for a turn": "wait_turn_s",
           "waiting for a storage": "wait_storage_s", "waiting for a checkpoint": "wait_checkpoint_s",
           "waiting for a recovery": "wait_recovery_s"}


def mostly(reader, case, activity):
    """Reads ", mostly sums": the part that is half of an activity at least."""
    parts = case.detail(activity)
    total = sum(parts.values())
    got = reader.take(f", mostly (?P<part>{'|'.join(PHRASES)})")
    if got:
        reader.claim("part", parts[PHRASES[got["part"]]] >= 0.5 * total * (1 - 1e-9), f"{parts}")
    else:
        usual = {"compute_gradient_s", "wait_other_s"}
        reader.claim("part", total == 0 or all(name in usual or s <= 0.5 * total for name, s in parts.items()),
                     f"{parts}")


def network(reader, case):
    if reader.take(", on links that other jobs also use"):
        reader.claim("jobs", case.experiment.jobs, "no jobs")
    got = reader.take(", although no link is busy for more than <percent p> of the time")
    if got:
        most = max(utilisations(case).values())
        reader.claim("utilisation", at_most("percent", got["p"], most) and (
            got["p"] == "0.1 %" or agrees("percent", got["p"], most)), f"no more than {got['p']}, but {most}")
    got = reader.take("; a step has <count c> messages?")
    if got:
        reader.number("count", "messages", got["c"], case.mean("messages") / case.mean("steps"))


def waiting(reader, case, wait, communicate):
    got = reader.take(": the slowest worker computes <times x> as long as the mean")
    if got:
        reader.number("times", "slowest worker", got["x"], case.of_live(slowest))
        reader.claim("cause", case.of_live(slowest_excess) >= 0.5 * case.parts()[2] * (1 - 1e-9),
                     "less than half of the wait")
    if reader.take(": the jobs compute one after another"):
        reader.claim("jobs", case.experiment.scenario["cluster"].get("sharing") == "gang", "not in turns")
    got = reader.take(": the last member of a collective arrives <time t> after the mean")
    if got:
        reader.number("time", "lateness", got["t"], lateness(case))
        reader.claim("cause", lateness_s(case) >= 0.5 * case.parts()[2] * (1 - 1e-9), "less than half of the wait")
    if reader.take("; the scenario has stragglers"):
        reader.claim("stragglers", case.conditions["stragglers"], "no stragglers")


def samples(case):
    return case.mean(lambda run: run["samples"] if run.get("samples_seen") is None else run["samples_seen"])


def factor(reader, got, ratio, change):
    """Claims "3.0x fewer samples", or "4 % fewer"."""
    if got["x"]:
        reader.number("times", "samples", got["x"], ratio)
    else:
        reader.number("percent", "samples", got["p"], ratio - 1 if change == "more" else 1 - 1 / ratio)


def reason(reader, first, second, measure):
    """Reads why the first is ahead of the second."""
    ratio = second.score(measure) / first.score(measure)
    got = reader.take("it needs (?:<times x>|<percent p>) fewer samples to reach the target")
    if got:
        fewer = samples(second) / samples(first)
        factor(reader, got, fewer, "fewer")
        reader.claim("cause", math.log(fewer) >= 0.5 * math.log(ratio) * (1 - 1e-9), f"{fewer} of {ratio}")
        samples_reason(reader, first, second)
        return
    shared = reader.take("<whole a> workers share the work of <whole b>: ")
    if shared:
        reader.claim("workers", (int(shared["a"]), int(shared["b"])) == (first.workers, second.workers),
                     "other numbers")
    else:
        fact(reader, first, second)
    if not in_spite_of_samples(reader, first, second):
        seconds(reader, first, second)


def named(case):
    return f"(?:{re.escape(case.name)}|{re.escape(case.plain)})"


def samples_reason(reader, first, second):
    got = reader.take(f": the gradients of {re.escape(second.name)} are <fixed n> updates old on average")
    if got:
        reader.number("fixed", "staleness", got["n"], second.of_live("staleness_mean"))
        reader.claim("cause", second.of_live("staleness_mean") > (first.of_live("staleness_mean") or 0.0), "not older")
    got = reader.take(rf": the replicas of {re.escape(second.name)} disagree "
                      r"\(distance <three d> from their mean at the end(?:, spectral gap <three g>)?\)")
    if got:
        apart = [case.of_live(lambda run: run["curve"][-1]["consensus_distance"] if run["curve"] else None)
                 for case in (first, second)]
        reader.number("three", "distance of replicas", got["d"], apart[1])
        reader.claim("cause", apart[1] > (apart[0] or 0.0), "not further apart")
        if got["g"]:
            reader.number("three", "spectral gap", got["g"], second.of_live("spectral_gap"))


def fact(reader, first, second):
    """Reads a fact about the second, with a colon."""
    start = reader.at
    for name in (second.name, second.plain):
        got = reader.take(f"the slowest worker of {re.escape(name)} computes <times x> as long as the mean: ")
        if got:
            reader.number("times", "slowest worker", got["x"], second.of_live(slowest))
            reader.claim("cause", second.of_live(slowest) > (first.of_live(slowest) or 1.0),
                         "not slower than the other's")
            return
        if reader.take(rf"in {re.escape(name)} (?=recovering|being|repeating|writing)"):
            faults_clause(reader, second)
            reader.need(": ")
            return
        if reader.take(rf"(?=[a-z' ]+ link \"[^\"]*\" of {re.escape(name)}(?: is busy|, which))"):
            link_clause(reader, second, " of " + name)
            reader.need(": ")
            return
        reader.at = start


def seconds(reader, first, second):
    """Reads "server communicates for 3.2 s, ring for 1 s", or the same with "per sample" before it."""
    got = reader.need(f"(?P<scaled>per sample )?{named(second)} (?P<does>computes|communicates|waits|is down) for "
                      f"<time b>, {named(first)} for <time a>")
    part = DOES.index(got["does"])
    scale = samples(first) / samples(second)
    reader.claim("number of samples", got["scaled"] or 1 / EQUAL <= scale <= EQUAL, f"samples differ by {scale}")
    for time, case in (("b", second), ("a", first)):
        reader.number("time", "time of an activity", got[time],
                      case.parts()[part] / (samples(case) if got["scaled"] else 1.0))
    is_lost_most(reader, first, second, part)


def per_sample(case):
    return [part / samples(case) for part in case.parts()]


def is_lost_most(reader, first, second, part):
    more = [b - a for a, b in zip(per_sample(first), per_sample(second))]
    reader.claim("cause", more[part] > 0 and more[part] >= max(more) * (1 - 1e-9), f"by activity, per sample: {more}")


def in_spite_of_samples(reader, first, second):
    """Reads "per sample ring communicates less (1.63 ms against 3.04 ms), which outweighs its 3 % more samples"."""
    got = reader.take(f"per sample {named(first)} (?:(?P<does>computes|communicates|waits|is down) less|takes less time) "
                      r"\(<time a> against <time b>\)")
    if not got:
        return False
    parts = [per_sample(case) for case in (first, second)]
    if got["does"]:
        part = DOES.index(got["does"])
        is_lost_most(reader, first, second, part)
        times = [each[part] for each in parts]
    else:
        times = [math.fsum(each) for each in parts]
    reader.number("time", "time of an activity", got["a"], times[0])
    reader.number("time", "time of an activity", got["b"], times[1])
    more = reader.take(", which outweighs (?:that it needs <times x> as many|its <percent p> more) samples")
    if more:
        factor(reader, more, samples(first) / samples(second), "more")
        saved = samples(first) * (times[1] - times[0])
        further = (samples(first) - samples(second)) * math.fsum(parts[1])
        reader.claim("outweighs", saved > further * (1 - 1e-9) > 0, f"{saved} s of {further} s")
    return True
