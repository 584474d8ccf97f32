"""Trainings whose hosts crash, and the time that they take in all.

Written without reading src/, from what `simgrad explain recovery` and its like say: all ranks know of a crash after
`detection`, and then of those that have happened meanwhile; a lost host is back after `repair`, unless `recovery` goes
on without it; the ranks work again `restart_time` later, from the state that `recovery` names. There are no checkpoints
here, so that "the last checkpoint" is the start. A crash before all that interrupts it.
"""
from cables import quantity


def crashes_of(failures):
    """Time, rank, and the time at which its host is back."""
    crashes = [(quantity(crash["at"]), crash["rank"],
                quantity(crash["at"]) + quantity(crash["repair"]) if crash.get("repair") else float("inf"))
               for crash in failures["crash"]]
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
    recovery, crashes, workers = failures["recovery"], crashes_of(failures), cluster["workers"]
    known = {"restart": run["strategy"] in ("allreduce", "zero", "fsdp", "local_sgd"),
             "wait": run["strategy"] == "allreduce" and plain,
             "shrink": run["strategy"] == "allreduce" and plain}
    if not known.get(recovery) or failures["spares"]:
        problems.append(f"crashes with recovery {recovery}")
    for (_, rank, back), (at, other, _) in zip(crashes, crashes[1:]):
        if rank == other and at <= back:
            problems.append("a crash of what has crashed")
    if recovery == "shrink":
        rows, ranks = scenario["training"].get("batch_size_per_worker", 0) * workers, {rank for _, rank, _ in crashes}
        left = range(workers - len(crashes), workers)
        if len(ranks) < len(crashes) or left[0] < 1 or any(rows % count for count in left):
            problems.append("parts of a batch of unlike size, or none")
    if recovery != "shrink" and any(back == float("inf") for _, _, back in crashes):
        problems.append("hosts that do not come back")
    return problems


class Outage:
    """Crashes before the ranks work again: who is lost, and when the others go on."""

    def __init__(self, failures):
        self.pending, self.failures = crashes_of(failures), failures
        self.waits = failures["recovery"] != "shrink"
        self.lost = set()  # those that have no state yet, or are gone for good

    def ends(self):
        """The time at which the ranks begin to work again, `restart_time` included."""
        at, rank, back = self.pending.pop(0)
        known = at + quantity(self.failures["detection"])
        back = max(known, back) if self.waits else known
        self.lost.add(rank)
        while self.pending and self.pending[0][0] <= back:
            at, rank, again = self.pending.pop(0)
            self.lost.add(rank)
            back = max(back, again if self.waits else 0)
        return back + quantity(self.failures["restart_time"])


def seconds(train, failures, steps, workers):
    """The time of a training; `train(steps, workers)` makes so many steps alone, from the state behind the ones before.

    Under "wait" the ranks that kept their memory send the state to those that lost it, each to as few as possible. The
    crash of a rank that has made all of its steps changes nothing.
    """
    outage, start, done, state, living = Outage(failures), 0.0, 0, 0.0, list(range(workers))
    while True:
        part = train(steps - done, len(living))
        begin = start + state
        while outage.pending and outage.pending[0][0] >= begin + part.ended_at[living.index(outage.pending[0][1])]:
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
