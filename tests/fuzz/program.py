"""Calls of the program, what no answer of it may have, and comparisons of the files that it writes."""

import csv
import gzip
import json
import os
import pathlib
import re
import subprocess

INSIDE = re.compile(
    r"Backtrace|terminate called|Assertion|std::|vector::|bad_alloc|basic_string|map::at|json\.exception|"
    r"\bstoi\b|\bstod\b|invariant|deadlock|stopped early|Sanitizer|runtime error:|CRITICAL|died of signal|Segmentation|"
    r"0x[0-9a-f]{8}")
# The product's limit of a million bursts of background flows between two steps takes 20 s.
FEW_EVENTS = ("--set", "cluster.watchdog.events=20000")
RAN = (0, 1, 4)  # all runs have ended; an expectation is not met; a run has failed
RUNS = []  # of each command that simulates, the number of its runs, baselines not counted


class Fault(Exception):
    """What is wrong with one scenario."""


class Refused(Exception):
    """The program refuses a changed scenario, of which a relation says nothing then."""


class Silent(Exception):
    """No two runs of a relation have both come to an end: it has compared nothing."""


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
    if command[1] == "run" and "--out" in command and done.returncode in RAN:
        table = pathlib.Path(command[command.index("--out") + 1]) / "runs.csv"
        RUNS.append(len(table.read_bytes().splitlines()) - 1 if table.exists() else 0)
    return done.returncode, out, err


def share_of(cells):
    """All cells, or those that script/test takes in the gate: with SIMGRAD_SHARE=3/8 each eighth, from number 3 on."""
    part, parts = (int(number) for number in (os.environ.get("SIMGRAD_SHARE") or "0/1").split("/"))
    return cells[part % parts::parts]


def refuse_constant(text):
    raise Fault(f"JSON with {text}")


def json_of(text):
    return json.loads(text, parse_constant=refuse_constant)


def without_times(text):
    """The text without wall_s and what says by which command it was made."""
    text = re.sub(r'"wall_s":\s*[-0-9.e+]+', '"wall_s":0', text)
    return re.sub(r'"command":\s*"(\\.|[^"\\])*"', '"command":""', text)


def text_of(path):
    """A file's text; kept timelines are packed. Kept states and models are bytes, each a letter here."""
    if path.suffix in (".state", ".model"):
        return path.read_bytes().decode("latin-1")
    if path.suffix == ".gz":
        return gzip.decompress(path.read_bytes()).decode("utf-8")
    return path.read_text(encoding="utf-8")


def without_column(text, name):
    rows = list(csv.reader(text.splitlines()))
    at = rows[0].index(name) if name in rows[0] else None
    return [[cell for i, cell in enumerate(row) if i != at] for row in rows]


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


def run_ids(text):
    return [line.split()[1] for line in text.splitlines() if re.match(r"# [0-9a-f]{16,}  ", line)]
