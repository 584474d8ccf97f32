"""Runs that the program names in its sentences and results: whether they can be made, and end as it says."""

import re
import shutil

from case import INLINE, RUN
from program import RAN, Fault, called, json_of
from ranges import clock_tolerance

# "give cluster.failures.repair = "1h"", "--set training.numbers=false": a key with a dot, and its value.
NAMED = re.compile(r"(?:--set |give |set |with )([a-z_]+(?:\.[a-z_]+)+) ?= ?(\"[^\"]*\"|[-0-9.a-zA-Z_]+)")


def named_overrides(text):
    """The overrides that a text names; a sentence ends with a dot, which is no part of a number."""
    return [f"{key}={value.rstrip('.')}" for key, value in NAMED.findall(text)]


def overrides(sets):
    return [word for override in sets for word in ("--set", override)]


def check_accepted(case, path, sets, sentence):
    code, _, err = called([case.program, "run", path, "--dry-run", *overrides(sets)])
    if code != 0:
        raise Fault(f"{sentence} names {' '.join(sets)}, which run refuses: {err[-300:]}")


def check_counterfactuals(case, path, found):
    """Each answer to what would make a run faster is the time of the run with the changes that it names."""
    runs = {run["id"]: run for run in found["runs"]}
    for cause in found.get("counterfactuals", []):
        run = runs[cause["id"]]
        for change in cause["changes"][:2]:
            check_accepted(case, path, change["sets"], f"{run['label']}: \"{change['name']}\"")
            if not cause["whole"] or change["samples"] != run["samples_seen"] or run["parameters"]:
                continue
            # A label may follow from an option that the change sets: then all strategies run, and one is looked at.
            renames = any(each.startswith("strategy.") for each in change["sets"])
            chosen = () if renames else ("--strategy", run["label"])
            code, out, err = called([case.program, "run", path, *RUN, *chosen,
                                     *overrides(change["sets"]), "--force", "--out", path.with_suffix(".out")])
            if code not in RAN:
                raise Fault(f"{run['label']}: with {' '.join(change['sets'])} the run ends with {code}: {err[-300:]}")
            again = json_of(out)["runs"][found["runs"].index(run) if renames else 0]
            if again["samples_seen"] != run["samples_seen"] or case.at("stop.time"):
                continue  # stopped by time: a faster run does more, or waits for that time with nothing left to do
            if again["seed"] == run["seed"] and abs(again["simulated_s"] - change["simulated_s"]) > (
                    1e-9 * again["simulated_s"] + 2 * clock_tolerance(again)):
                raise Fault(f"{run['label']}: with {' '.join(change['sets'])} said to take {change['simulated_s']} s, "
                            f"takes {again['simulated_s']} s")


def check_named_runs(case):
    path = case.written(case.tree)
    directory = path.with_suffix(".out")
    try:
        code, out, _ = called([case.program, "run", path, *INLINE, "--force", "--out", directory])
        if code != 0:
            return
        found = json_of(out)
        check_counterfactuals(case, path, found)
        for sentence in {note for run in found["runs"] for note in run["notes"] or []}:
            if sets := named_overrides(sentence):
                check_accepted(case, path, sets, f"\"{sentence}\"")
    finally:
        path.unlink()
        shutil.rmtree(directory, ignore_errors=True)
