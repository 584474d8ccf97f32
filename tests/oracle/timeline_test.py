#!/usr/bin/env python3
"""Draws scenarios, lets simgrad run them, and compares its results with those of timeline.py, to a relative 1e-6.

    tests/oracle/timeline_test.py --program build/simgrad --scenarios 300 --seed 7
    tests/oracle/timeline_test.py --program build/simgrad --seed 7 --only 13

Each scenario is one model on one cluster with several strategies. The seed is SIMGRAD_SEED, unless it is given. A
difference is printed with the scenario's file, what each side says, and the command that repeats it; the exit code is
then 1, and 77 if something is missing that the test needs.

Faults of the program that the project knows stand in tests/known_faults.toml. As long as one does, timeline.py imitates
it in a scenario that differs without it, so that everything else in that scenario is compared. Each fault has a
scenario of its own (timeline_scenarios.py), which must still show it, so that the line in the file goes once the fault
is mended.
"""
import argparse
import json
import os
import random
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
try:
    import tomllib
    import timeline
    from known import suppose
    from timeline_scenarios import FAULTS, draw_scenario, text_of
except ImportError as missing:
    print(f"timeline_test: skipped, {missing}")
    sys.exit(77)

KNOWN_FAULTS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "known_faults.toml")
PREFIX = "timeline: "


def simulate(program, folder, cases):
    """Runs all scenarios with one call; the results of each, and what the program said."""
    for name, (scenario, profile) in cases.items():
        with open(os.path.join(folder, f"{name}.toml"), "w") as file:
            file.write(text_of(scenario))
        if profile:
            with open(os.path.join(folder, scenario["model"]["path"]), "w") as file:
                file.write(profile)
    command = [program, "run", *(f"{name}.toml" for name in cases), "--out", "out", "--quiet", "--no-baseline",
               "--no-why", "--timelines", "0", "--jobs", "1", "--threads", "0"]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True)
    results = {}
    for name in cases:
        path = os.path.join(folder, "out", name, "results.json")
        if os.path.exists(path):
            with open(path) as file:
                results[name] = json.load(file)
    return results, done.stderr


def listed_faults():
    """The faults of this oracle in tests/known_faults.toml."""
    with open(KNOWN_FAULTS, "rb") as file:
        tests = [fault["test"] for fault in tomllib.load(file).get("fault", [])]
    names = [test.removeprefix(PREFIX) for test in tests if test.startswith(PREFIX)]
    for name in names:
        if name not in FAULTS:
            sys.exit(f"timeline_test: tests/known_faults.toml has the fault {name}, which has no scenario here")
    return names


def differences(results, folder, faults=()):
    """What differs in a scenario's results, where the timeline has these faults, too."""
    suppose(faults)
    lines = []
    for run, what, found, expected in timeline.compare(results, folder):
        ratio = "" if isinstance(found, str) else f", ratio {found / expected if expected else 'inf'}"
        lines.append(f"{run['label']}: {what}: simgrad says {found}, the oracle {expected}{ratio}")
    suppose()
    return lines


class Comparison:
    """Compares scenario by scenario, and prints those that differ in what is not known."""

    def __init__(self, results, folder, repeat):
        self.results, self.folder, self.repeat = results, folder, repeat
        self.scenarios, self.runs, self.wrong, self.imitated = 0, 0, 0, 0

    def differs(self, name, case, lines):
        scenario, profile = case
        self.wrong += 1
        print(f"--- {name}\n{text_of(scenario)}{profile or ''}" + "\n".join(lines))
        print(f"repeat: {self.repeat(name)}")

    def compare(self, name, case, faults):
        """Compares what the publications say first, and then what these faults make of it."""
        self.scenarios += 1
        if name not in self.results:
            self.differs(name, case, ["simgrad wrote no results"])
            return
        results = self.results[name]
        self.runs += sum(not timeline.not_covered(results["scenario"], run) for run in results["runs"])
        lines = differences(results, self.folder)
        if lines and faults:
            self.imitated += 1
            lines = differences(results, self.folder, faults)
        if lines:
            self.differs(name, case, lines)

    def still_shown(self, listed):
        """The listed faults that their own scenarios show; one that does not is mended."""
        shown = []
        for name in listed:
            results = self.results.get(f"fault_{name}")
            if results and differences(results, self.folder):
                shown.append(name)
            elif results:
                self.differs(f"fault_{name}", FAULTS[name],
                             [f"{PREFIX}{name} is mended: take it out of tests/known_faults.toml"])
        return shown


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--program", default=os.environ.get("SIMGRAD_PROGRAM"))
    # The gate, which takes a share of long tests, draws fewer.
    parser.add_argument("--scenarios", type=int, default=20 if os.environ.get("SIMGRAD_SHARE") else 300)
    parser.add_argument("--seed", type=int, default=int(os.environ.get("SIMGRAD_SEED") or 1))
    parser.add_argument("--only", type=int, help="the number of one scenario")
    parser.add_argument("--keep", help="a folder in which scenarios and results are kept")
    options = parser.parse_args()
    program = shutil.which(options.program or "simgrad")
    if not program:
        print("timeline_test: skipped, no program: give --program or SIMGRAD_PROGRAM")
        sys.exit(77)
    numbers = range(options.scenarios) if options.only is None else [options.only]
    print(f"timeline_test: seed {options.seed}, {len(numbers)} scenarios", flush=True)
    cases = {f"fault_{name}": case for name, case in FAULTS.items()}
    drawn = {f"drawn_{options.seed}_{number}": number for number in numbers}
    for name, number in drawn.items():
        cases[name] = draw_scenario(random.Random(options.seed * 1000003 + number), number)

    def repeat(name):
        only = f" --only {drawn[name]}" if name in drawn else " --scenarios 0"
        return f"tests/oracle/timeline_test.py --program {options.program or program} --seed {options.seed}{only}"
    with tempfile.TemporaryDirectory() as temporary:
        folder = os.path.abspath(options.keep or temporary)
        os.makedirs(folder, exist_ok=True)
        results, said = simulate(os.path.abspath(program), folder, cases)
        if len(results) < len(cases):
            print(said)
        comparison = Comparison(results, folder, repeat)
        faults = comparison.still_shown(listed_faults())
        for name, case in cases.items():
            comparison.compare(name, case, faults)
    print(f"{comparison.scenarios} scenarios of seed {options.seed}, {comparison.runs} runs compared: "
          f"{comparison.wrong} scenarios differ in what is not known, {comparison.imitated} have known faults")
    sys.exit(1 if comparison.wrong else 0)


if __name__ == "__main__":
    main()
