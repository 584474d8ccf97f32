#!/usr/bin/env python3
"""Runs random scenarios and holds their results to what is true of every run, and of every run beside another one.

  run_scenarios.py --program simgrad --generator random_scenarios [--scenarios N] [--seed S] [--keep DIR] [--jobs J]
                   [--cases DIR]      # scenarios that once had a fault, before the random ones
                   [--shipped DIR]    # scenarios of the project, whose relations are tried with few steps
                   [--within SECONDS] # ends early; the seed decides which scenarios are tried by then
  run_scenarios.py ... --keep-case valid-17 --as NAME [--cases DIR]   # the smallest scenario of the same fault

Every scenario that `validate` accepts is run inline, with two threads, every third one inline again, and once more with
all collectives simulated by messages; and some of the relations of relations.py are held, which a hash of its name and
the seed chooses. A fault is a signal, a hang, words of the program's inside, a result outside of its range, two results
that differ, or a relation that does not hold. The scenario of a fault is kept with its number. Exit 1 at a fault.

The seed is that of SIMGRAD_SEED, if it is not given: in script/test's gate, which sets SIMGRAD_SHARE, the number of
commits, and 60 scenarios are drawn; in --all the date, and more are, and more relations are held for each. A fault
stands beside the command that shows it again.
"""

import argparse
import concurrent.futures
import json
import math
import os
import pathlib
import random
import re
import shutil
import sys
import tempfile
import time
import tomllib
import zlib

import tables
from case import Case
from echo import check_echo
from known import Known
from minimise import keep_case
from program import FEW_EVENTS, RUNS, Fault, called, same_files, share_of, text_of, without_times
from ranges import check_results, compare_by_messages
from relations import RELATIONS, check_relations, said_by

KEPT = "valid-case-"
TWO_RUNS = ("--quiet", "--jobs", "2", "--no-why", *FEW_EVENTS)


def third_part(scenario):
    """0, 1 or 2, by the scenario's name."""
    return zlib.crc32(scenario.name.encode()) % 3


def check_valid(program, scenario, scratch):
    directories = []
    # Two inline runs differ by chance only, as by addresses of memory: every third scenario tells as much.
    for i, threads in enumerate((0, 2, 0) if third_part(scenario) == 0 else (0, 2)):
        directories.append(scratch / str(i))
        code, _, err = called([program, "run", scenario, "--quiet", "--jobs", "1", "--trace", "--threads", threads,
                               *FEW_EVENTS, "--out", directories[-1]])
        if code not in (0, 1, 4):
            raise Fault(f"validate accepts, run ends with {code}: {err[-400:]}")
    found = check_results(directories[0])
    for other in directories[1:]:
        same_files(directories[0], other)
    auto = '"collectives":"auto"' in json.dumps(found["scenario"], separators=(",", ":"))
    if auto and not found["scenario"].keys() & {"job", "serving"}:
        code, _, err = called([program, "run", scenario, "--quiet", "--jobs", "1", "--threads", "0", "--no-baseline",
                               *FEW_EVENTS, "--set", "cluster.collectives=messages", "--out", scratch / "messages"])
        if code not in (0, 1, 4):
            raise Fault(f"by messages, run ends with {code}: {err[-400:]}")
        compare_by_messages(found, check_results(scratch / "messages"))
    if third_part(scenario) == 1:
        check_answer(program, scenario, len(found["runs"]))
        check_shared_numbers(program, scenario, scratch)
    if third_part(scenario) == 2:
        check_kept_states(program, scenario, scratch, found)
    errors = [run["error"] for run in found["runs"] if run["status"] == "failed"]
    if scenario.name.startswith(KEPT) and not all("given up:" in error for error in errors):
        raise Fault(f"a kept case fails: {errors}")
    return [run["status"] for run in found["runs"]]


def check_answer(program, scenario, runs):
    """The first line of `validate`, which tries the runs, counts them."""
    code, out, err = called([program, "validate", scenario])
    if code != 0 or not re.match(rf"ok: {runs} runs?[,;] ", out):
        raise Fault(f"validate of {runs} runs: exit {code}: {out[:100]} {err[-400:]}")


def check_shared_numbers(program, scenario, scratch):
    """Runs that find their numbers known leave the files of runs that compute them."""
    sweep = ["--grid", "cluster.bandwidth=1Gbps,37Mbps", "--grid", "cluster.latency=50us,3ms"]
    directories = []
    for own in ([], ["--own-numbers"]):
        directories.append(scratch / f"sweep{len(own)}")
        code, _, err = called([program, "run", scenario, *TWO_RUNS, *sweep, *own, "--out", directories[-1]])
        if code == 2:
            return  # on a platform the file says how fast links are
        if code not in (0, 1, 4):
            raise Fault(f"a sweep over the network ends with {code}: {err[-400:]}")
    shutil.rmtree(directories[0] / "trajectories", ignore_errors=True)
    same_files(*directories)


def check_kept_states(program, scenario, scratch, found):
    """Runs that go on from the states that shorter ones have left leave the files of runs that compute everything."""
    steps = [run["steps"] for run in found["runs"] if run["status"] != "failed"]
    if not steps or max(steps) < 4 or found["scenario"].keys() & {"job", "serving"}:
        return
    last = max(steps)
    networks = ["--grid", "cluster.latency=50us,3ms"]  # numbers of several runs are kept, however short these are
    directories = []
    for own in ([], ["--own-numbers"]):
        directories.append(scratch / f"longer{len(own)}")
        for length in (last // 2, last) if not own else (last,):
            code, _, err = called([program, "run", scenario, *TWO_RUNS, *networks, *own,
                                   "--grid", f"stop.steps={length}", "--out", directories[-1]])
            if code == 2:
                return  # its grid has steps already, or a platform file says how fast links are
            if code not in (0, 1, 4):
                raise Fault(f"a longer run ends with {code}: {err[-400:]}")
    for name in sorted(str(path.relative_to(directories[1])) for path in directories[1].rglob("*.json")):
        if name == "experiment.json":
            continue  # of both commands
        a, b = (without_times(text_of(root / name)) for root in directories)
        if a != b:
            raise Fault(f"{name} of a run from a kept state differs")


def drop_refused_sections(program, scenario, scratch):
    """Takes [plan] and [capacity] out of a drawn scenario where `validate` refuses them: the generator asks what runs
    refuse alone. `plan` or `capacity` refuses the scenario in the same words: `validate` says first what is wrong with
    one of them, and of the scenario without it what is wrong with the other."""
    tree = tomllib.loads(scenario.read_text(encoding="utf-8"))
    while sections := tree.keys() & {"plan", "capacity"}:
        code, _, refusal = called([program, "validate", "--resolved", scenario])
        if code != 2:
            return
        same = {name for name in sections if called([program, name, scenario, "--out", scratch / name])[2] == refusal}
        if not same:
            raise Fault(f"validate refuses, and {' or '.join(sorted(sections))} not in the same words: "
                        f"{refusal[-400:]}")
        training = tree.get("training", {})
        if "capacity" in same and not {"checkpoint_every", "checkpoint_every_steps"} & training.keys():
            training.pop("checkpoint_async", None)  # the checkpoints were those of [capacity]
            tree.get("cluster", {}).pop("host_memory_bandwidth", None)
        tree = {name: of for name, of in tree.items() if name not in same}
        scenario.write_text(tables.toml(tree), encoding="utf-8")


def check_refused(program, scenario, scratch):
    code, _, _ = called([program, "validate", "--resolved", scenario])
    if code not in (2, 5):
        raise Fault(f"validate: exit {code} of a scenario that the generator saw refused")
    ran, _, _ = called([program, "run", scenario, "--quiet", "--out", scratch / "refused"])
    if ran != code:
        raise Fault(f"validate ends with {code}, run with {ran}")
    return []


class Round:
    """The checks of one call, and what they count."""

    def __init__(self, options, known):
        self.program, self.seed, self.known = options.program, options.seed, known
        self.relations = 2 if os.environ.get("SIMGRAD_SHARE") else 3
        self.counts, self.statuses, self.faults = {}, {}, 0

    def own_faults(self, scenario, scratch):
        """The faults of a scenario's runs by themselves, known ones too, and what `validate` prints of it."""
        faults, resolved = [], None
        try:
            drop_refused_sections(self.program, scenario, scratch)
            resolved = check_echo(self.program, scenario)
            if resolved is None:
                return [], None  # as whoever goes on with it will say
            for status in check_valid(self.program, scenario, scratch):
                self.statuses[status] = self.statuses.get(status, 0) + 1
        except Fault as fault:
            faults.append(str(fault))
        return faults, resolved

    def unknown(self, scenario, scratch):
        """All faults of a drawn scenario or kept case, but those that are known."""
        if scenario.name.startswith("refused"):
            try:
                return check_refused(self.program, scenario, scratch)
            except Fault as fault:
                return [str(fault)]
        faults, resolved = self.own_faults(scenario, scratch)
        return self.related(scenario, resolved=resolved, faults=faults)

    def related(self, scenario, steps=None, resolved=None, faults=()):
        """These faults and those in relations, but those that are known."""
        try:
            case = Case(self.program, scenario, steps, resolved)
            return self.known.unknown(case, [*faults, *check_relations(case, self.relations, self.seed, self.counts)])
        except Fault as fault:
            return [*faults, str(fault)]

    def checked(self, scenario, steps=None):
        """All faults of a scenario; of a shipped one, which runs for so many steps, those in relations."""
        scratch = pathlib.Path(tempfile.mkdtemp(prefix="simgrad-scenario-"))
        try:
            return self.related(scenario, steps) if steps else self.unknown(scenario, scratch)
        except (KeyError, ValueError, OSError, TypeError) as error:
            return [f"{type(error).__name__} in the results: {error}"]
        finally:
            shutil.rmtree(scratch, ignore_errors=True)

    def report(self, scenario, found, again):
        for fault in found:
            self.faults += 1
            print(f"FAULT {scenario.name} of seed {self.seed}: {fault}", flush=True)
        if found:
            print(f"  again: {again} --only {scenario.stem}", flush=True)
            print(f"  to keep it: {again} --keep-case {scenario.stem} --as NAME", flush=True)


def keep_files(scenario, directory):
    """A scenario of a fault, and the small files that scenarios name."""
    directory.mkdir(parents=True, exist_ok=True)
    for file in scenario.parent.iterdir():
        if file.is_file() and (file == scenario or not file.name.endswith(".toml")):
            shutil.copy(file, directory)


def draw(options, directory, scenarios):
    """Draws the scenarios of the seed; the generator writes the small files that they name besides."""
    code, _, err = called([options.generator, directory, scenarios, options.seed], 3600)
    if code != 0:
        raise Fault(f"the generator failed: {err}")


def drawn_and_kept(options, directory):
    """The scenarios of the seed, and the kept cases whose turn it is."""
    draw(options, directory, options.scenarios)
    for case in share_of(sorted(options.cases.glob("*.toml"))) if options.cases else []:
        shutil.copy(case, directory / f"{KEPT}{case.name}")
    return sorted([*directory.glob("valid-*.toml"), *directory.glob("refused-*.toml")])  # beside files that they name


def shipped(options, directory):
    """Copies of the shipped scenarios whose turn it is, beside what they name: changed ones are written beside them."""
    copied = directory / "shipped" / "scenarios"
    shutil.copytree(options.shipped, copied)
    (copied.parent / "platforms").symlink_to(options.shipped.resolve().parent / "platforms")
    complete = [path for path in copied.glob("*.toml") if not path.name.startswith("real_")]  # users bring those
    return share_of(sorted([*complete, *(copied / "lessons").glob("*.toml")]))


def in_turn(options, drawn, of_project):
    """The scenarios with their steps, the kept cases first. The seed decides which of the others come early enough."""
    others = [(scenario, None) for scenario in drawn if not scenario.name.startswith(KEPT)]
    others += [(scenario, 3) for scenario in of_project]
    random.Random(options.seed).shuffle(others)
    cells = [(scenario, None) for scenario in drawn if scenario.name.startswith(KEPT)] + others
    return [cell for cell in cells if options.only in (None, cell[0].stem)]


def run_all(options, directory):
    checks = Round(options, Known(options.program, directory))
    drawn = drawn_and_kept(options, directory)
    valid = sum(scenario.name.startswith("valid") for scenario in drawn)
    print(f"seed {options.seed}: {len(drawn)} scenarios", flush=True)
    again = (f"{sys.argv[0]} --program {options.program} --generator {options.generator} --seed {options.seed} "
             f"--scenarios {options.scenarios}")
    again += "".join(f" --{name} {path}" for name in ("cases", "shipped") if (path := getattr(options, name)))
    cells = in_turn(options, drawn, shipped(options, directory) if options.shipped else [])
    end = time.monotonic() + options.within
    tried = []

    def checked(cell):
        if time.monotonic() > end and not cell[0].name.startswith(KEPT):
            return []
        tried.append(cell)
        return checks.checked(*cell)

    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        for (scenario, _), found in zip(cells, pool.map(checked, cells)):
            checks.report(scenario, found, again)
            if found and options.keep:
                keep_files(scenario, options.keep / f"seed-{options.seed}")

    def own_faults(scenario):
        scratch = directory / "known" / scenario.stem
        scratch.mkdir(parents=True)
        return checks.own_faults(scenario, scratch)[0]

    for line in checks.known.mended(own_faults):
        checks.faults += 1
        print(f"FAULT {line}", flush=True)
    # In the gate it may be chance that none of a few scenarios was one for a relation.
    all_tried = len(tried) == len(cells) and not options.only and not os.environ.get("SIMGRAD_SHARE")
    many = options.scenarios >= 100 and all_tried
    missing = [each.name for each in RELATIONS if many and not checks.counts.get(each.name)]
    if missing:
        print(f"FAULT of this test: relations that applied to no scenario: {', '.join(missing)}")
    ends = ", ".join(f"{count} {status}" for status, count in sorted(checks.statuses.items()))
    held = ", ".join(said_by(each, checks.counts) for each in RELATIONS)
    print(f"scenarios: {valid} valid, {len(drawn) - valid} refused; {len(tried)} of {len(cells)} tried "
          f"with the shipped ones, in {sum(RUNS)} runs of {len(RUNS)} commands; they ended: {ends}; "
          f"relations: {held}; {checks.faults} faults")
    few = len(tried) < min(len(cells), 20)
    return 1 if checks.faults or missing or few or valid < options.scenarios * 0.8 else 0


def parsed():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", required=True, type=pathlib.Path)
    parser.add_argument("--generator", required=True, type=pathlib.Path)
    parser.add_argument("--scenarios", type=int, default=60 if os.environ.get("SIMGRAD_SHARE") else 90)
    parser.add_argument("--seed", type=int, default=int(os.environ.get("SIMGRAD_SEED") or 1))
    parser.add_argument("--keep", type=pathlib.Path, help="the directory for scenarios with a fault")
    parser.add_argument("--cases", type=pathlib.Path, help="a directory of scenarios that once had a fault")
    parser.add_argument("--shipped", type=pathlib.Path, help="the directory of the project's scenarios")
    parser.add_argument("--only", metavar="SCENARIO", help="the only one of the scenarios that is tried: valid-17")
    parser.add_argument("--keep-case", metavar="SCENARIO", help="a scenario whose fault is kept: valid-17, or a file")
    parser.add_argument("--as", dest="name", help="the name of the kept case")
    parser.add_argument("--within", metavar="SECONDS", type=float, default=math.inf,
                        help="after so many seconds only kept cases are begun")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    options = parser.parse_args()
    if options.keep_case and not options.name:
        parser.error("--keep-case needs a name: --as NAME")
    options.program, options.generator = options.program.resolve(), options.generator.resolve()
    return options


def main():
    options, begin = parsed(), time.monotonic()
    try:
        with tempfile.TemporaryDirectory(prefix="simgrad-scenarios-") as name:
            directory = pathlib.Path(name)
            if options.keep_case:
                draw(options, directory, 0 if options.keep_case.endswith(".toml") else options.scenarios)
                return keep_case(options, directory, Round(options, Known(options.program, directory)))
            return run_all(options, directory)
    except Fault as fault:
        print(fault)
        return 1
    finally:
        print(f"{time.monotonic() - begin:.0f} s")


if __name__ == "__main__":
    sys.exit(main())
