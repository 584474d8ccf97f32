"""Trainings whose hosts crash, and the time that they take in all.

Written without reading src/, from what `simgrad explain recovery` and its like say: all ranks know of a crash after
`detection`, and then of those that have happened meanwhile; a lost host is back after `repair`, unless `recovery` goes
on without it; the ranks work again `restart_time` later, from the state that `recovery` names. There are no checkpoints
here, so that "the last checkpoint" is the start. A crash before all that interrupts it.
"""
import itertools

from cables import quantity


def devices_of(cluster):
    """How many devices a host has."""
    topology = cluster["topology"]
    return topology.get("devices", 1) if isinstance(topology, dict) else 1


def crashes_of(cluster):
    """Time, host, and the time at which it is back. A host is lost with all of its devices."""
    crashes = [(quantity(crash["at"]), crash["rank"] // devices_of(cluster),
                quantity(crash["at"]) + quantity(crash["repair"]) if crash.get("repair") else float("inf"))
               for crash in cluster["failures"]["crash"]]
    return sorted(crashes)


def not_covered(scenario, run):
    """What of a scenario's failures is not known here; without a crash, nothing."""
    failures, cluster = scenario["cluster"]["failures"], scenario["cluster"]
    problems = [f"failures.{key}" for key in ("hosts", "links") if failures[key] != "none"]
    problems += ["failures.market"] if failures["market"] != "on_demand" else []
    if not failures["crash"]:
        return problems
    plain = cluster["topology"] in ("star", {"kind": "star", "devices": 1}) and not (
        cluster["relative_speeds"] or cluster["slow_links"])
    recovery, crashes, workers = failures["recovery"], crashes_of(cluster), cluster["workers"]
    known = {"restart": run["strategy"] in ("allreduce", "zero", "fsdp", "local_sgd"),
             "wait": run["strategy"] == "allreduce" and plain,
             "shrink": run["strategy"] == "allreduce" and plain}
    if not known.get(recovery) or failures["spares"]:
        problems.append(f"crashes with recovery {recovery}")
    for (_, host, back), (at, other, _) in itertools.combinations(crashes, 2):
        if host == other and at <= back:
            problems.append("a crash of what has crashed")
    if recovery == "shrink":
        rows, hosts = scenario["training"].get("batch_size_per_worker", 0) * workers, {host for _, host, _ in crashes}
        left = range(workers - len(crashes), workers)
        if len(hosts) < len(crashes) or left[0] < 1 or any(rows % count for count in left):
            problems.append("parts of a batch of unlike size, or none")
    if recovery != "shrink" and any(back == float("inf") for _, _, back in crashes):
        problems.append("hosts that do not come back")
    return problems


class Outage:
    """Crashes before the ranks work again: who is lost, and when the others go on."""

    def __init__(self, cluster):
        self.pending, self.failures = crashes_of(cluster), cluster["failures"]
        self.waits = self.failures["recovery"] != "shrink"
        self.lost = set()  # those that have no state yet, or are gone for good

    def ends(self):
        """The time at which the ranks begin to work again, `restart_time` included."""
        at, host, back = self.pending.pop(0)
        known = at + quantity(self.failures["detection"])
        back = max(known, back) if self.waits else known
        self.lost.add(host)
        while self.pending and self.pending[0][0] <= back:
            at, host, again = self.pending.pop(0)
            self.lost.add(host)
            back = max(back, again if self.waits else 0)
        return back + quantity(self.failures["restart_time"])


def seconds(train, cluster, steps):
    """The time of a training; `train(steps, workers)` makes so many steps alone, from the state behind the ones before.

    Under "wait" the ranks that kept their memory send the state to those that lost it, each to as few as possible. The
    crash of a host whose ranks have made all of their steps changes nothing.
    """
    failures, devices, workers = cluster["failures"], devices_of(cluster), cluster["workers"]
    outage, start, done, state, living = Outage(cluster), 0.0, 0, 0.0, list(range(workers))
    while True:
        part = train(steps - done, len(living))
        begin = start + state

        def ended_at(host):
            return max(part.ended_at[place] for place, rank in enumerate(living) if rank // devices == host)
        while outage.pending and outage.pending[0][0] >= begin + ended_at(outage.pending[0][1]):
            outage.pending.pop(0)
        if not outage.pending:
            return begin + part.finished
        crash = outage.pending[0][0]
        if failures["recovery"] == "wait":
            done += sum(begin + end <= crash for end in part.ends_of_steps())
            if crash >= begin:
                outage.lost.clear()
        start, state = outage.ends(), 0.0
        if failures["recovery"] == "shrink":
            living = [rank for rank in living if rank not in outage.lost]
            outage.lost.clear()
        elif failures["recovery"] == "wait":
            holders = workers - len(outage.lost)
            done = done if holders else 0
            if done:
                state = part.time_of_state(-(-len(outage.lost) // holders))
