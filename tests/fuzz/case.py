"""A scenario whose runs a relation compares: in its resolved form, and changed."""

import json
import math
import shutil
import tomllib

import tables
from program import FEW_EVENTS, RAN, Fault, Refused, Silent, called, json_of
from ranges import clock_tolerance

INLINE = ("--json", "--jobs", "1", "--threads", "0", *FEW_EVENTS)
RUN = (*INLINE, "--no-baseline", "--no-why", "--timelines", "0")


def few_runs(tree, steps):
    """A shipped scenario with the first value of each list of its grid, and few steps."""
    values = {"expect": None, "stop.steps": min(tree["stop"].get("steps", steps), steps)} if "stop" in tree else {}
    grid = dict(tree.get("grid", {}))
    for together in grid.pop("zip", []):
        grid |= together  # each list's first value: no longer together with others
    for key, listed in list(grid.items()):
        if isinstance(listed, list) and isinstance(tables.at(tree, key.rpartition(".")[0]), dict):
            values[key] = grid.pop(key)[0]
        elif isinstance(listed, list):
            grid[key] = listed[:1]  # of a strategy, or of a component whose kind alone is written
    return tables.with_values(tree, values | {"grid": grid or None})


class Case:
    """The scenario as `validate --resolved` prints it, beside the file from which it comes: relative paths stay true."""

    def __init__(self, program, scenario, steps=None, resolved=None):
        self.program, self.scenario, self.calls, self.known = program, scenario, 0, {}
        if resolved is None:
            code, resolved, err = called([program, "validate", "--resolved", scenario])
            if code != 0:
                raise Fault(f"validate: exit {code}: {err[-400:]}")
        self.tree = tomllib.loads(resolved)
        if steps:
            self.tree = few_runs(self.tree, steps)

    def at(self, key, otherwise=None):
        return tables.at(self.tree, key, otherwise)

    def kind(self, key):
        """The kind of a component, which stands alone where all its options have their defaults."""
        found = self.at(key)
        return found.get("kind") if isinstance(found, dict) else found

    def strategies(self):
        return {strategy["kind"] for strategy in self.tree.get("strategy", [])}

    def written(self, tree):
        """A file of the tree beside the scenario."""
        self.calls += 1
        path = self.scenario.with_name(f"changed-{self.calls}-{self.scenario.name}")
        path.write_text(tables.toml(tree), encoding="utf-8")
        return path

    def runs(self, tree, *options):
        """The results of a tree. A tree that was run before is not run again."""
        key = json.dumps([tree, options], sort_keys=True)
        if key not in self.known:
            path = self.written(tree)
            directory = path.with_suffix(".out")
            try:
                code, out, err = called([self.program, "run", path, *RUN, "--force", "--out", directory, *options])
            finally:
                path.unlink()
                shutil.rmtree(directory, ignore_errors=True)
            if code not in (*RAN, 2, 5):
                raise Fault(f"run ends with {code}: {err[-400:]}")
            self.known[key] = json_of(out) if code in RAN else err
        if isinstance(self.known[key], str):
            raise Refused(self.known[key])
        return self.known[key]

    def base(self):
        return self.runs(self.tree)

    def changed(self, **values):
        """The results with other values; two underscores stand for a dot: training__numbers."""
        dotted = {key.replace("__", "."): value for key, value in values.items()}
        return self.runs(tables.with_values(self.tree, dotted))


def pairs(one, other, what):
    """Runs of the same label, parameters and seed that both ended. If one of the two has failed, the other should have;
    but either may be given up, for what is changed takes another time."""
    others = {(run["label"], json.dumps(run["parameters"]), run["seed"]): run for run in other["runs"]}
    silent = True
    for run in one["runs"]:
        twin = others.get((run["label"], json.dumps(run["parameters"]), run["seed"]))
        if not twin:
            continue
        errors = [each["error"] for each in (run, twin) if each["status"] == "failed"]
        if len(errors) == 1 and "given up:" not in errors[0]:
            raise Fault(f"{run['label']}: {run['status']}, and {twin['status']} {what}: {errors[0][:400]}")
        if run["status"] == twin["status"] != "failed":
            silent = False
            yield run, twin
    if silent:
        raise Silent


def same(one, other, names, what, factor=1.0, rel=1e-9):
    """Holds that the numbers of the names in `other` are `factor` times those in `one`."""
    for run, twin in pairs(one, other, what):
        for name in names:
            a, b = run[name], twin[name]
            if a is None or b is None:
                continue
            # SimGrid takes dates within a nanosecond (precision/timing) for one.
            tolerance = 2 * factor * clock_tolerance(run) + 5e-9 if name.endswith("_s") else 1e-9
            if not math.isclose(a * factor, b, rel_tol=rel, abs_tol=tolerance):
                raise Fault(f"{run['label']}: {name} is {a}, and {b} {what}"
                            + (f", which is {b / a} times as much, not {factor}" if a else ""))


def no_longer(one, other, what):
    """Holds that the runs of `other` take no longer than those of `one`."""
    for run, twin in pairs(one, other, what):
        most = run["simulated_s"] * (1 + 1e-9) + 2 * clock_tolerance(run)
        if run["steps"] == twin["steps"] and twin["simulated_s"] > most:
            raise Fault(f"{run['label']}: takes {run['simulated_s']} s, and {twin['simulated_s']} s {what}, which is "
                        f"{twin['simulated_s'] / run['simulated_s']} times as long")
