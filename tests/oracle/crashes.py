"""Trainings of which one host crashes, and the time that they take in all.

Written without reading src/, from what `simgrad explain recovery` and its like say: all ranks know of the crash after
`detection`; a lost host is back after `repair`; the ranks work again `restart_time` later, from the state that
`recovery` names. There are no checkpoints here, so that "the last checkpoint" is the start.
"""
from cables import quantity


def not_covered(scenario, run):
    """What of a scenario's failures is not known here; without a crash, nothing."""
    failures = scenario["cluster"]["failures"]
    problems = [f"failures.{key}" for key in ("hosts", "links") if failures[key] != "none"]
    problems += ["failures.market"] if failures["market"] != "on_demand" else []
    if not failures["crash"]:
        return problems
    plain = scenario["cluster"]["topology"] in ("star", {"kind": "star", "devices": 1}) and not (
        scenario["cluster"]["relative_speeds"] or scenario["cluster"]["slow_links"])
    recovery = failures["recovery"]
    known = {"restart": run["strategy"] in ("allreduce", "zero", "fsdp", "local_sgd"),
             "wait": run["strategy"] == "allreduce" and plain}
    if not known.get(recovery) or len(failures["crash"]) > 1 or failures["spares"]:
        problems.append(f"a crash with recovery {recovery}")
    return problems


def seconds(train, failures, steps):
    """The time of a training; `train(steps)` makes so many steps alone, from the state behind the ones before."""
    whole = train(steps)
    if not failures["crash"] or quantity(failures["crash"][0]["at"]) >= whole.finished:
        return whole.finished
    crash = failures["crash"][0]
    away = max(quantity(failures["detection"]), quantity(crash["repair"]))
    again = quantity(crash["at"]) + away + quantity(failures["restart_time"])
    if failures["recovery"] == "restart":
        return again + whole.finished
    done = sum(end <= quantity(crash["at"]) for end in whole.ends_of_steps())
    return again + (whole.time_of_state() if done else 0) + train(steps - done).finished
