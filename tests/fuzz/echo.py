#!/usr/bin/env python3
"""What `validate --resolved` prints is a scenario of the same runs: for `validate`, `capacity` and `plan`.

    tests/fuzz/echo.py --program build/simgrad --generator build/tests/fuzz/random_scenarios [--root DIR]

Tries each text that a test reads: shipped scenarios, lessons, kept cases, the corpus of the fuzzer, the literals of C++
tests that are whole scenarios, and the TOML blocks of the documents. A text that is refused is counted, no more: tests
of refusals have many. Paths in literals are tried beside the small files that the generator writes.
"""

import argparse
import concurrent.futures
import os
import pathlib
import re
import sys
import tempfile
import tomllib

from program import RAN, Fault, called, json_of, run_ids, share_of
from ranges import check_ratios

LITERAL = re.compile(r'R"([^()\\ ]{0,16})\((.*?)\)\1"', re.DOTALL)
BLOCK = re.compile(r"```toml\n(.*?)```", re.DOTALL)


def check_echo(program, scenario):
    """Returns what `validate --resolved` prints, or None where it refuses the scenario."""
    code, resolved, _ = called([program, "validate", "--resolved", scenario])
    if code != 0:
        return None
    echo = scenario.with_name("resolved-" + scenario.name)
    echo.write_text(resolved, encoding="utf-8")
    try:
        code, again, err = called([program, "validate", "--resolved", echo])
        if code != 0:
            raise Fault(f"the resolved scenario is refused: {err[-400:]}")
        if run_ids(again) != run_ids(resolved):
            raise Fault("the resolved scenario has runs of other ids")
        tree = tomllib.loads(resolved)
        if "capacity" in tree:
            # Intervals over seeds take several; those of a drawn fleet are short.
            seeds = ["--seeds", "1..2"] if scenario.name.startswith("valid") else []
            check_command([program, "capacity"], scenario, echo, ["--json", "--jobs", "1", *seeds])
        if "plan" in tree:
            short = ["--json", "--jobs", "1", "--no-confirm", "--seconds", "1s"]
            check_command([program, "plan"], scenario, echo, short)
    finally:
        echo.unlink()
    return resolved


def check_command(command, scenario, echo, options):
    """A command says the same of a scenario and of its echo; `plan` where it has decided in time."""
    with tempfile.TemporaryDirectory(prefix="simgrad-echo-") as directory:
        ends = [called([*command, file, *options, "--out", pathlib.Path(directory) / str(place)])
                for place, file in enumerate((scenario, echo))]
    (code, out, err), (again, echoed, refusal) = ends
    if code != again:
        raise Fault(f"{command[1]} ends with {code} ({err[-300:]}), and with {again} of the resolved scenario "
                    f"({refusal[-300:]})")
    if code not in RAN:
        return
    one, other = (json_of(text) | {"scenario": ""} for text in (out, echoed))
    if command[1] == "capacity":
        check_ratios(one, "capacity")
    elif not (one["decided"] and other["decided"]):
        return
    said = one if command[1] == "capacity" else ("objective", "goal", "winner", "refused")
    if differing := [key for key in said if one[key] != other.get(key)]:
        raise Fault(f"{command[1]} says other things of the resolved scenario: {', '.join(differing)}")


def texts(root):
    """Names and texts; those that are no scenario of their own are left out, as what a test puts together."""
    for folder in ("tests", "scenarios"):
        for file in sorted((root / folder).rglob("*.toml")):
            yield file, file.read_text(encoding="utf-8", errors="replace")
    for file in sorted((root / "tests").rglob("*.cpp")) + sorted((root / "tests").rglob("*.h")):
        for found in LITERAL.findall(file.read_text(encoding="utf-8")):
            yield file, found[1]
    for file in sorted(root.glob("*.md")) + sorted((root / "docs").rglob("*.md")):
        for found in BLOCK.findall(file.read_text(encoding="utf-8")):
            yield file, found


def scenarios(root):
    seen = set()
    for file, text in texts(root):
        try:
            sections = set(tomllib.loads(text))
        except tomllib.TOMLDecodeError:
            continue
        if text not in seen and sections & {"strategy", "job", "serving", "capacity"}:
            seen.add(text)
            yield file, text


def checked(program, directory, place, file, text):
    """What is wrong; or True or False, whether the text was accepted. A shipped scenario's files stand beside it."""
    try:
        if file.suffix == ".toml":
            directory = directory / f"{place}"
            directory.mkdir()
            for companion in file.parent.iterdir():
                (directory / companion.name).symlink_to(companion)
            (directory / file.name).unlink()
        scenario = directory / (file.name if file.suffix == ".toml" else f"text-{place}.toml")
        scenario.write_text(text, encoding="utf-8")
        return check_echo(program, scenario) is not None
    except Fault as fault:
        return str(fault)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", required=True, type=pathlib.Path)
    parser.add_argument("--generator", required=True, type=pathlib.Path)
    parser.add_argument("--root", type=pathlib.Path, default=pathlib.Path(__file__).resolve().parents[2])
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    options = parser.parse_args()
    program = options.program.resolve()
    with tempfile.TemporaryDirectory(prefix="simgrad-echoes-") as name:
        directory = pathlib.Path(name) / "texts"
        code, _, err = called([options.generator.resolve(), directory, 0, 1])
        if code != 0:
            print(f"the generator failed: {err}")
            return 1
        for folder in ("platforms",):  # scenarios name them beside their own folder
            (directory / folder).symlink_to(options.root.resolve() / folder)
        found = share_of(list(enumerate(scenarios(options.root.resolve()))))
        with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
            ends = list(pool.map(lambda cell: checked(program, directory, cell[0], *cell[1]), found))
    faults = [(file, end) for (_, (file, _)), end in zip(found, ends) if isinstance(end, str)]
    for file, fault in faults:
        print(f"FAULT {file}: {fault}")
    accepted = sum(end is True for end in ends)
    print(f"echoes: {len(found)} texts, {accepted} accepted, {len(faults)} faults")
    return 1 if faults or accepted < len(found) / 4 else 0  # a share of them may have more of those that are refused


if __name__ == "__main__":
    sys.exit(main())
