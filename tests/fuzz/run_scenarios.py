#!/usr/bin/env python3
"""Runs random scenarios and holds their results to what is true of every run.

  run_scenarios.py --program simgrad --generator random_scenarios --scenarios N [--seed S] [--keep DIR] [--jobs J]
                   [--cases DIR]   # scenarios that once had a fault, before the random ones

Every scenario that `validate` accepts is run inline, with two threads, every third one inline again, and once more with
all collectives simulated by messages. A fault is a signal, a hang, words of the program's inside, a result outside of its
range, or two results that differ. The scenario of a fault is kept with its number. Exit 1 at a fault.
"""

import argparse
import concurrent.futures
import csv
import gzip
import json
import math
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import time
import zlib

INSIDE = re.compile(
    r"Backtrace|terminate called|Assertion|std::|vector::|bad_alloc|basic_string|map::at|json\.exception|"
    r"\bstoi\b|\bstod\b|invariant|deadlock|stopped early|Sanitizer|runtime error:|CRITICAL|died of signal|Segmentation|0x[0-9a-f]{8}")
PARTS = ("compute_s", "communicate_s", "wait_s", "down_s")
# The product's limit of a million bursts of background flows between two steps takes 20 s.
FEW_EVENTS = ("--set", "cluster.watchdog.events=20000")
# Ranks that pass messages on their own time take them in the order of their arrival, and times of computed collectives
# are equal to nine digits: ties among them may break the other way.
LOCKSTEP_TOLERANCE = 1e-6
KEPT = "valid-case-"


class Fault(Exception):
    """What is wrong with one scenario."""


def called(command, seconds=300):
    """Returns the exit code, stdout and stderr."""
    try:
        done = subprocess.run([str(word) for word in command], capture_output=True, timeout=seconds, check=False)
    except subprocess.TimeoutExpired:
        raise Fault(f"no end after {seconds} s: {' '.join(map(str, command[1:3]))}") from None
    out, err = (text.decode("utf-8", "replace") for text in (done.stdout, done.stderr))
    if done.returncode < 0 or done.returncode > 125:
        raise Fault(f"ended by signal or status {done.returncode}: {err[-300:]}")
    if INSIDE.search(err):
        raise Fault(f"words of the inside: {err[-600:]}")
    return done.returncode, out, err


def share_of(cells):
    """All cells, or those that script/test takes in the gate: with SIMGRAD_SHARE=3/8 each eighth, from number 3 on."""
    part, parts = (int(number) for number in (os.environ.get("SIMGRAD_SHARE") or "0/1").split("/"))
    return cells[part % parts::parts]


def refuse_constant(text):
    raise Fault(f"JSON with {text}")


def ratios(value, path=""):
    """All utilisations and the goodput of a run, with their names."""
    if isinstance(value, dict):
        for key, inner in value.items():
            if ("utilisation" in key or key == "goodput") and isinstance(inner, (int, float)):
                yield path + key, inner
            else:
                yield from ratios(inner, path + key + ".")
    elif isinstance(value, list):
        for inner in value:
            yield from ratios(inner, path)


def check_parts(run, row):
    whole = row.get("simulated_s", run["simulated_s"])
    parts = [row[part] for part in PARTS]
    if any(part < -1e-9 * max(whole, 1e-9) for part in parts):
        raise Fault(f"{run['label']}: a part of the time below 0: {parts}")
    if not math.isclose(sum(parts), whole, rel_tol=1e-6, abs_tol=1e-12):
        raise Fault(f"{run['label']}: parts of the time add up to {sum(parts)}, not {whole}: {parts}")
    for part in PARTS[:3]:  # each is divided by work or cause
        activity = part.removesuffix("_s")
        smaller = {key: number for key, number in row.items() if key.startswith(activity + "_") and key != part}
        if any(number is not None and number < 0 for number in smaller.values()):
            raise Fault(f"{run['label']}: a part of {part} below 0: {smaller}")
        if not math.isclose(sum(number or 0.0 for number in smaller.values()), row[part], rel_tol=1e-9, abs_tol=1e-12):
            raise Fault(f"{run['label']}: the parts of {part} = {row[part]} do not add up to it: {smaller}")


def check_collectives(run):
    for use in run.get("collectives") or []:
        most = (use["simulated_s"] + use["skew_s"]) * (1 + 1e-9) + clock_tolerance(run)
        if not 0 <= use["exposed_s"] <= use["duration_s"] * (1 + 1e-9) <= most:
            raise Fault(f"{run['label']}: {use['name']} is exposed for {use['exposed_s']} s of {use['duration_s']} s: {use}")


def check_run(run, last_steps):
    if run["status"] == "failed":
        if not run["error"]:
            raise Fault(f"{run['label']}: failed without an error")
        if INSIDE.search(run["error"]):
            raise Fault(f"{run['label']}: words of the inside: {run['error'][:400]}")
        if "watchdog" in run["error"] and "real" in run["error"]:
            raise Fault(f"{run['label']}: slow: {run['error'][:400]}")
        return
    check_parts(run, run)
    for rank in run.get("ranks", []):
        check_parts(run, rank)
    check_collectives(run)
    for name, value in ratios(run):
        if not -1e-9 <= value <= 1 + 1e-6:
            raise Fault(f"{run['label']}: {name} = {value}")
    curve = run.get("curve", [])
    if not curve or curve[0]["step"] != 0:
        raise Fault(f"{run['label']}: the curve begins at {curve[0]['step'] if curve else 'nothing'}")
    steps = [point["step"] for point in curve]
    times = [point["simulated_s"] for point in curve]
    if times != sorted(times):
        raise Fault(f"{run['label']}: the curve goes back: {steps[:20]} {times[:20]}")
    if steps[-1] != run["steps"]:
        raise Fault(f"{run['label']}: the curve ends at step {steps[-1]}, the run at {run['steps']}")
    if times[-1] > run["simulated_s"] * (1 + 1e-9):
        raise Fault(f"{run['label']}: the curve ends at {times[-1]} s, the run at {run['simulated_s']} s")
    for name in ("bytes", "messages", "samples", "wall_s"):
        if run[name] is not None and run[name] < 0:
            raise Fault(f"{run['label']}: {name} = {run[name]}")


def results(directory):
    with open(directory / "results.json", encoding="utf-8") as file:
        return json.load(file, parse_constant=refuse_constant)


def check_results(directory):
    found = results(directory)
    for run in found["runs"] + found["baselines"]:
        check_run(run, None)
    with open(directory / "runs.csv", newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    if [row["id"] for row in rows] != [run["id"] for run in found["runs"]]:
        raise Fault("runs.csv and results.json have other runs")
    return found


def without_times(text):
    """The text without wall_s and what says by which command it was made."""
    text = re.sub(r'"wall_s":\s*[-0-9.e+]+', '"wall_s":0', text)
    return re.sub(r'"command":\s*"(\\.|[^"\\])*"', '"command":""', text)


def text_of(path):
    """A file's text; kept timelines are packed. Kept states and models are bytes, each a letter here."""
    if path.suffix in (".state", ".model"):
        return path.read_bytes().decode("latin-1")
    return gzip.decompress(path.read_bytes()).decode("utf-8") if path.suffix == ".gz" else path.read_text(encoding="utf-8")


def same_files(one, other):
    names = sorted(str(p.relative_to(one)) for p in one.rglob("*") if p.is_file())
    others = sorted(str(p.relative_to(other)) for p in other.rglob("*") if p.is_file())
    if names != others:
        raise Fault(f"other files: {set(names) ^ set(others)}")
    for name in names:
        if name in ("report.html",):
            continue  # made of the rest, with wall_s
        a, b = (text_of(root / name) for root in (one, other))
        if name == "runs.csv":
            a, b = (without_column(text, "wall_s") for text in (a, b))
        elif name.endswith(".json"):
            a, b = without_times(a), without_times(b)
        if a != b:
            at = next((i for i, (x, y) in enumerate(zip(a, b)) if x != y), min(len(a), len(b)))
            raise Fault(f"{name} differs at {at}: ...{a[max(0, at - 60):at + 40]!r} and {b[max(0, at - 60):at + 40]!r}")


def without_column(text, name):
    rows = list(csv.reader(text.splitlines()))
    at = rows[0].index(name) if name in rows[0] else None
    return [[cell for i, cell in enumerate(row) if i != at] for row in rows]


def clock_tolerance(run):
    """The rounding of a sum of durations: each is a difference of two dates, and a date has the clock's precision.
    A computation by itself takes SimGrid's 1e-12 s at least; within a computed collective it may take less."""
    return ((run["messages"] or 0) + run["steps"] + 1) * (1e-12 + 2 * math.ulp(run["simulated_s"]))


def close(a, b, abs_tol):
    if a is None or b is None:
        return a is b
    return math.isclose(a, b, rel_tol=LOCKSTEP_TOLERANCE, abs_tol=abs_tol)


def compare_by_messages(found, by_messages):
    """Computed collectives are as collectives by messages, to nine digits."""
    others = {(run["label"], json.dumps(run["parameters"])): run for run in by_messages["runs"]}
    for run in found["runs"]:
        other = others.get((run["label"], json.dumps(run["parameters"])))
        if other is None or "failed" in (run["status"], other["status"]):
            continue
        for name in ("simulated_s", "compute_s", "bytes", "messages", "steps", "final_loss"):
            if not close(run[name], other[name], clock_tolerance(other) if name.endswith("_s") else 1e-12):
                raise Fault(f"{run['label']}: {name} is {run[name]} with computed collectives, {other[name]} by messages")
        uses = [{(use["name"], use["members"], use["bytes"], use["calls"]): use for use in each.get("collectives") or []}
                for each in (run, other)]
        for key in uses[0].keys() & uses[1].keys():
            for name in ("duration_s", "exposed_s"):
                a, b = (each[key][name] for each in uses)
                if not close(a, b, clock_tolerance(other)):
                    raise Fault(f"{run['label']}: {name} of {key} is {a} s with computed collectives, {b} s by messages")


def run_ids(text):
    return [line.split()[1] for line in text.splitlines() if re.match(r"# [0-9a-f]{16,}  ", line)]


def third_part(scenario):
    """0, 1 or 2, by the scenario's name."""
    return zlib.crc32(scenario.name.encode()) % 3


def check_valid(program, scenario, scratch):
    code, resolved, _ = called([program, "validate", scenario])
    if code != 0:
        raise Fault(f"validate: exit {code} of a scenario that the generator saw accepted")
    echo = scenario.with_name("resolved-" + scenario.name)
    echo.write_text(resolved, encoding="utf-8")
    code, again, err = called([program, "validate", echo])
    echo.unlink()
    if code != 0:
        raise Fault(f"the resolved scenario is refused: {err[-400:]}")
    if run_ids(again) != run_ids(resolved):
        raise Fault("the resolved scenario has runs of other ids")
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
    if '"collectives":"auto"' in json.dumps(found["scenario"], separators=(",", ":")) and not found["scenario"].get("job"):
        code, _, err = called([program, "run", scenario, "--quiet", "--jobs", "1", "--threads", "0", "--no-baseline",
                               *FEW_EVENTS, "--set", "cluster.collectives=messages", "--out", scratch / "messages"])
        if code not in (0, 1, 4):
            raise Fault(f"by messages, run ends with {code}: {err[-400:]}")
        compare_by_messages(found, check_results(scratch / "messages"))
    if third_part(scenario) == 1:
        check_shared_numbers(program, scenario, scratch)
    if third_part(scenario) == 2:
        check_kept_states(program, scenario, scratch, found)
    errors = [run["error"] for run in found["runs"] if run["status"] == "failed"]
    if scenario.name.startswith(KEPT) and not all("given up:" in error for error in errors):
        raise Fault(f"a kept case fails: {errors}")
    return [run["status"] for run in found["runs"]]


def check_shared_numbers(program, scenario, scratch):
    """Runs that find their numbers known leave the files of runs that compute them."""
    sweep = ["--grid", "cluster.bandwidth=1Gbps,37Mbps", "--grid", "cluster.latency=50us,3ms"]
    directories = []
    for own in ([], ["--own-numbers"]):
        directories.append(scratch / f"sweep{len(own)}")
        code, _, err = called([program, "run", scenario, "--quiet", "--jobs", "2", "--no-why", *FEW_EVENTS, *sweep, *own,
                               "--out", directories[-1]])
        if code == 2:
            return  # on a platform the file says how fast links are
        if code not in (0, 1, 4):
            raise Fault(f"a sweep over the network ends with {code}: {err[-400:]}")
    shutil.rmtree(directories[0] / "trajectories", ignore_errors=True)
    same_files(*directories)


def check_kept_states(program, scenario, scratch, found):
    """Runs that go on from the states that shorter ones have left leave the files of runs that compute everything."""
    steps = [run["steps"] for run in found["runs"] if run["status"] != "failed"]
    if not steps or max(steps) < 4 or found["scenario"].get("job"):
        return
    last = max(steps)
    networks = ["--grid", "cluster.latency=50us,3ms"]  # numbers of several runs are kept, however short these are
    directories = []
    for own in ([], ["--own-numbers"]):
        directories.append(scratch / f"longer{len(own)}")
        for length in (last // 2, last) if not own else (last,):
            code, _, err = called([program, "run", scenario, "--quiet", "--jobs", "2", "--no-why", *FEW_EVENTS, *networks, *own,
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


def check_refused(program, scenario, scratch):
    code, _, _ = called([program, "validate", scenario])
    if code not in (2, 5):
        raise Fault(f"validate: exit {code} of a scenario that the generator saw refused")
    ran, _, _ = called([program, "run", scenario, "--quiet", "--out", scratch / "refused"])
    if ran != code:
        raise Fault(f"validate ends with {code}, run with {ran}")
    return []


def checked(program, scenario):
    scratch = pathlib.Path(tempfile.mkdtemp(prefix="simgrad-scenario-"))
    try:
        check = check_valid if scenario.name.startswith("valid") else check_refused
        return check(program, scenario, scratch), None
    except Fault as fault:
        return [], str(fault)
    except (KeyError, ValueError, OSError) as error:
        return [], f"{type(error).__name__} in the results: {error}"
    finally:
        shutil.rmtree(scratch, ignore_errors=True)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--program", required=True, type=pathlib.Path)
    parser.add_argument("--generator", required=True, type=pathlib.Path)
    parser.add_argument("--scenarios", type=int, default=60)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--keep", type=pathlib.Path, help="the directory for scenarios with a fault")
    parser.add_argument("--cases", type=pathlib.Path, help="a directory of scenarios that once had a fault")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    options = parser.parse_args()
    options.program, options.generator = options.program.resolve(), options.generator.resolve()
    begin = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="simgrad-scenarios-") as name:
        directory = pathlib.Path(name)
        code, _, err = called([options.generator, directory, options.scenarios, options.seed], 3600)
        if code != 0:
            print(f"the generator failed: {err}")
            return 1
        for case in sorted(options.cases.glob("*.toml")) if options.cases else []:
            shutil.copy(case, directory / f"{KEPT}{case.name}")
        drawn = sorted(directory.glob("*.toml"))
        valid = sum(scenario.name.startswith("valid") for scenario in drawn)
        scenarios = share_of(drawn)
        faults, statuses = 0, {}
        with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
            for scenario, (ended, fault) in zip(scenarios, pool.map(lambda s: checked(options.program, s), scenarios)):
                for status in ended:
                    statuses[status] = statuses.get(status, 0) + 1
                if fault is None:
                    continue
                faults += 1
                print(f"FAULT {scenario.name} of seed {options.seed}: {fault}", flush=True)
                if options.keep:
                    kept = options.keep / f"seed-{options.seed}"
                    kept.mkdir(parents=True, exist_ok=True)
                    for file in directory.iterdir():
                        if file == scenario or not file.name.endswith(".toml"):
                            shutil.copy(file, kept)
    ends = ", ".join(f"{count} {status}" for status, count in sorted(statuses.items()))
    print(f"scenarios: {valid} valid, {len(drawn) - valid} refused, {len(scenarios)} run; runs {ends}; {faults} faults; "
          f"{time.monotonic() - begin:.0f} s")
    return 1 if faults or valid < options.scenarios * 0.8 else 0


if __name__ == "__main__":
    sys.exit(main())
