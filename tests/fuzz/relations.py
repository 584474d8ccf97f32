"""Relations between the runs of a scenario and those of a changed one: two to six lines each.

Each says in its predicate to which scenarios it applies. The numbers on both sides are simgrad's own; what is expected
is that they are equal, or in order, for a reason that no formula of simgrad's is part of.
"""

import dataclasses
import re
import zlib
from typing import Callable

import tables
from case import Case, no_longer, same
from program import Fault, Refused, Silent
from sentences import check_named_runs
from star import with_platform

# Strategies in which all ranks wait for one another in each step, in an order that no clock decides.
LOCKSTEP = {"single", "allreduce", "zero", "fsdp", "mapreduce", "data_parallel", "local_sgd", "diloco", "gossip", "d2",
            "gradient_tracking", "sgp"}
# Strategies that are one worker's plain training where there is one worker. The others have a rule of their own even
# then: easgd pulls the worker and the centre together (Zhang et al., 2015), diloco takes an outer step with momentum
# (Douillard et al., 2023), d2 and gradient_tracking correct a step by the last one, which starts at the first gradient
# (Tang et al., 2018; Nedic et al., 2017), federated_averaging forgets the optimizer between rounds (McMahan et al.,
# 2017), and block_sync, hogwild and multitask divide the model or the data otherwise.
ONE_WORKER = {"allreduce", "zero", "fsdp", "mapreduce", "data_parallel", "local_sgd", "gossip", "sgp", "byteps",
              "parameter_server"}
TIMES = ("simulated_s", "compute_s", "communicate_s", "wait_s")


@dataclasses.dataclass
class Relation:
    name: str
    applies: Callable[[Case], bool]
    holds: Callable[[Case], None]
    rare: bool  # applies to few scenarios, and is tried on each of them


RELATIONS: list[Relation] = []


def relation(name, applies, rare=False):
    def register(holds):
        RELATIONS.append(Relation(name, applies, holds, rare))
        return holds
    return register


def chosen(case, count, turn):
    """The relations that are held for a case: those that a kept case names, the rare ones, and `count` others, which
    the scenario's name and the turn decide."""
    named = re.findall(r'^# relation "([^"]+)"', case.scenario.read_text(encoding="utf-8"), re.MULTILINE)
    apply = [each for each in RELATIONS if each.applies(case)]
    usual = [each for each in apply if not each.rare and each.name not in named]
    usual.sort(key=lambda each: zlib.crc32(f"{case.scenario.name} {turn} {each.name}".encode()))
    return [each for each in apply if each.rare or each.name in named] + usual[:count]


def check_relations(case, count, turn, counts, only=None):
    """Tries relations on a case, or only one, and returns all faults. Counts by a relation's name those that compared
    runs, and by the name and a word those that had nothing to compare."""
    tried = [each for each in RELATIONS if each.name == only and each.applies(case)]
    faults = []
    for each in tried if only else chosen(case, count, turn):
        said = each.name
        try:
            each.holds(case)
        except Refused:
            said = (each.name, "refused")
        except Silent:
            said = (each.name, "failed")
        except Fault as fault:
            faults.append(f"relation \"{each.name}\": {fault}")
        counts[said] = counts.get(said, 0) + 1
    return faults


def said_by(each, counts):
    """How often a relation compared runs, and how often it could not: "order of ranks 7 (2 refused, 1 failed)"."""
    other = [f"{counts[each.name, why]} {why}" for why in ("refused", "failed") if (each.name, why) in counts]
    return f"{each.name} {counts.get(each.name, 0)}" + (f" ({', '.join(other)})" if other else "")


# ------------------------------------------------------------------------------------------------------- predicates

def has_steps(case):
    return bool(case.at("stop.steps")) and not case.at("job") and not case.at("serving")


def cut(case):
    return any(case.at(f"parallel.{name}", 1) > 1 for name in ("tensor", "pipeline", "context", "expert"))


def follows_router(case):
    """Whether numbers decide how long ranks work: experts of a cut model that are not padded take what comes."""
    several = cut(case) or case.at("parallel.micro_batches", 1) > 1 or "operators" in case.strategies()
    return (several and case.at("model.kind") == "transformer"
            and case.at("model.experts", 0) > 0 and not case.at("model.pad_experts"))


def steady(case):
    """No failure, and nothing that happens at a date of the clock rather than at a step."""
    failures = case.at("cluster.failures", {})
    return (not failures.get("crash") and all(failures.get(name) in (None, "none") for name in ("hosts", "links"))
            and failures.get("market", "on_demand") == "on_demand" and not case.at("cluster.background")
            and case.kind("cluster.stragglers") not in ("markov", "periodic", "trace", "bimodal")
            and not case.at("training.checkpoint_every") and not case.at("stop.time"))


def shares_links(case):
    """Whether sums or gathers beside a rank's passes share links with its keys and values, or with its tokens.

    Both are slower as long as they meet. How long that is depends on when each begins, so that a step may take longer
    although all begins earlier.
    """
    sharing = case.at("parallel.context", 1) > 1 or case.at("parallel.expert", 1) > 1
    return sharing and bool(case.strategies() & {"allreduce", "fsdp", "zero"})


def neighbours_meet(case):
    """Whether transfers of different steps share a link: workers of unlike speed that wait for their neighbours alone."""
    unlike = case.at("cluster.hosts") or any(case.kind(f"cluster.{name}") not in (None, "none")
                                             for name in ("jitter", "stragglers"))
    return bool(unlike) and bool(case.strategies() & {"gossip", "d2", "gradient_tracking", "sgp"})


def lockstep(case):
    return (has_steps(case) and steady(case) and case.strategies() <= LOCKSTEP and not case.at("cluster.platform")
            and not shares_links(case) and not neighbours_meet(case))


def starts_slowly(case):
    """A connection that has been idle longer, because its messages are faster, may begin slowly again."""
    return case.at("cluster.network_model") == "ethernet" and case.at("cluster.initial_window", 10) > 0


def own_choices(case):
    """NCCL chooses by what its own model expects, which may be worse than what it left."""
    return lockstep(case) and "'nccl'" not in str(case.tree) and not starts_slowly(case)


def by_file(case):
    """Whether a file says something about times."""
    kinds = map(case.kind, ("cluster.stragglers", "cluster.failures.hosts"))
    collectives = case.at("cluster.collectives")
    measured = isinstance(collectives, dict) and collectives.get("measured", "none") != "none"
    return bool(case.at("cluster.platform")) or "trace" in kinds or measured


def own_times(case):
    """Whether all times of a run stand in the scenario, and none in a file, a device's table, a protocol or NCCL's."""
    return (has_steps(case) and not by_file(case) and case.kind("cluster.device") == "none"
            and not starts_slowly(case) and "'nccl'" not in str(case.tree)
            and case.kind("cluster.protocol") in ("none", "smpi")
            and all(host.get("device", "none") == "none" for host in case.at("cluster.hosts", [])))


def plain_star(case):
    return (has_steps(case) and case.kind("cluster.topology") == "star" and case.at("cluster.topology.devices", 1) == 1
            and case.kind("cluster.device") == "none" and not case.at("cluster.platform")
            and not case.at("cluster.slow_links") and case.at("cluster.workers") <= 16)


def one_speed(case):
    return (plain_star(case) and steady(case) and not case.at("cluster.hosts") and not cut(case)
            and case.kind("cluster.stragglers") == "none" and case.kind("cluster.jitter") == "none"
            and case.strategies() <= {"allreduce", "zero", "fsdp", "gossip", "local_sgd"}
            and not re.search(r"'(naive|tree|hierarchical)'", str(case.tree))  # whose first rank is the root
            and case.at("cluster.workers").bit_count() == 1 < case.at("cluster.workers"))  # else the even ones fold


def without_numbers(case):
    """What makes it a run of times alone: no text is read then, from which a transformer would have its sizes."""
    vocabulary = case.at("model.vocabulary", case.at("data.vocabulary"))
    sizes = {"model__vocabulary": vocabulary, "data__features": None}
    return {"training__numbers": False} | (sizes if case.at("model.kind") == "transformer" else {})


# -------------------------------------------------------------------------------------------------------- relations

@relation("numbers or none",
          lambda case: (has_steps(case) and case.at("training.numbers", True) and not case.at("stop.loss")
                        and case.kind("cluster.faulty") == "none"  # faulty workers need numbers
                        and not follows_router(case)
                        and "hogwild" not in case.strategies()))  # its times are those of the keys in its rows
def numbers_or_none(case):
    same(case.base(), case.changed(**without_numbers(case)), ("simulated_s", "bytes"), "without numbers")


@relation("one of alike", lambda case: has_steps(case) and cut(case), rare=True)
def one_of_alike(case):
    one, every = (case.changed(**without_numbers(case), parallel__simulate=ranks) for ranks in ("one_of_alike", "all"))
    same(one, every, (*TIMES, "bytes", "memory_bytes_max"), "when all ranks are simulated")


# A layout that is found may give each stage a unit or two, all of which stage 3 has at a time.
@relation("memory of shards", lambda case: has_steps(case) and not case.at("parallel.automatic")
          and case.strategies() & {"allreduce", "zero", "fsdp", "local_sgd"})
def memory_of_shards(case):
    family = [{"kind": "zero", "stage": stage, "label": f"stage {stage}"} for stage in (1, 2, 3)]
    found = case.changed(strategy=[*family, {"kind": "fsdp", "limit": 1}], training__memory="ignore")
    failed = [run["error"] for run in found["runs"] if run["status"] == "failed"]
    if failed and (len(failed) == len(found["runs"]) or "given up:" in failed[0]):
        raise Silent
    if failed:
        raise Fault(f"not all of stages 1, 2, 3 and fsdp fail: {failed[0][:400]}")
    peaks = [run["memory_bytes_max"] or 0 for run in found["runs"]]
    shard = max((rank["memory_parameters_bytes"] for rank in found["runs"][2]["ranks"]), default=0)
    # A model of one unit is there as a whole in the middle of a step, and its rank's shard beside it. Stage 3 has two
    # units at a time, and a tied embedding with the head's: more than it saves where the model has few.
    names = ("stage 1", "stage 2", "stage 3", "fsdp")
    for place, more in ((1, shard), (2, (2 if cut(case) else 3) * shard), (3, 0)):
        if peaks[place] > peaks[place - 1] + more:
            raise Fault(f"{names[place]} holds {peaks[place]} bytes, {names[place - 1]} {peaks[place - 1]}; "
                        f"a shard has {shard}")


def faster(case, dimension, factor, what):
    keys = {"bandwidth": "bandwidth", "time": "latency", "speed": "speed"}
    changed = tables.scaled(case.tree, lambda path, found: factor if found == dimension and path.startswith("cluster.")
                            and path.endswith(keys[dimension]) and "storage" not in path else None)
    no_longer(case.base(), case.runs(changed), what)


@relation("more bandwidth", own_choices)
def more_bandwidth(case):
    faster(case, "bandwidth", 2.0, "with twice the bandwidth")


@relation("less latency", own_choices)
def less_latency(case):
    faster(case, "time", 0.5, "with half the latency")


@relation("faster hosts", lambda case: lockstep(case) and case.kind("cluster.device") == "none"
          and not starts_slowly(case))
def faster_hosts(case):
    faster(case, "speed", 2.0, "on hosts of twice the speed")


@relation("named runs", lambda case: has_steps(case) and not case.at("plan"))
def named_runs(case):
    check_named_runs(case)


# Threads of one host are one host, and a spare that has taken a lost host's place is another one.
@relation("hosts and devices", lambda case: plain_star(case) and case.at("cluster.workers") % 2 == 0
          and "hogwild" not in case.strategies() and not case.at("cluster.failures.spares"))
def hosts_and_devices(case):
    devices = 2
    for topology in ("star", "gpu_hosts"):
        for run in case.changed(cluster__topology={"kind": topology, "devices": devices})["runs"]:
            hosts = len({host["host_number"] for host in run.get("hosts", []) if not host["serves"]})
            if hosts and hosts != -(-run["workers"] // devices):  # one worker has a host of its own
                raise Fault(f"{run['label']}: {hosts} hosts of {devices} devices for {run['workers']} workers on "
                            f"\"{topology}\"")


@relation("order of ranks", one_speed, rare=True)
def order_of_ranks(case):
    workers = case.at("cluster.workers")
    speeds = [0.5] + [1.0] * (workers - 1)
    rows = {"data__samples": 8 * workers, "training__batch_size": None, "training__batch_size_per_worker": 2,
            "training__partition": None}  # as many for each rank
    one, other = (case.changed(cluster__relative_speeds=order, **rows) for order in (speeds, speeds[::-1]))
    # Parts of a sum, and so its hops, differ by a number where there are not as many numbers as ranks times parts.
    same(one, other, ("simulated_s",), "when the last rank is slow instead of the first", rel=1e-2)


@relation("one worker", lambda case: has_steps(case) and case.strategies() & ONE_WORKER and not cut(case))
def one_worker(case):
    kinds = sorted(ONE_WORKER & case.strategies() | {"allreduce"})
    strategies = [{"kind": kind} for kind in ["single", *kinds]]
    # A limit of simulated time ends those earlier that have messages, or rows to read.
    one, *others = case.changed(cluster={"workers": 1}, parallel=None, training__wire=None, stop__time=None,
                                strategy=strategies)["runs"]
    for run in others:
        twin = run | {"label": one["label"]}
        same({"runs": [one]}, {"runs": [twin]}, ("final_loss", "samples"), f"with {run['label']}")


@relation("all times twice", own_times)
def all_times_twice(case):
    factors = {"time": 2.0, "bandwidth": 0.5, "speed": 0.5}
    slower = tables.scaled(case.tree, lambda path, found: factors[found] if "watchdog" not in path else None)
    # SimGrid takes what ends within a nanosecond as one event, whose members then go on in another order. On InfiniBand
    # the bandwidth of a transfer also depends on those that begin in the same nanosecond.
    names, rel = (("simulated_s",), 0.02) if case.at("cluster.network_model") == "infiniband" else (TIMES, 1e-5)
    same(case.base(), case.runs(slower), names, "when all times are doubled", factor=2.0, rel=rel)


@relation("a link in two", lambda case: plain_star(case) and case.kind("cluster.failures.links") in (None, "none"))
def a_link_in_two(case):
    whole, split = (with_platform(case, parts) for parts in (1, 2))
    same(whole, split, ("simulated_s", "final_loss"), "when each link is two of half the latency in a row")
