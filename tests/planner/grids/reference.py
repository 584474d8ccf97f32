#!/usr/bin/env python3
"""Computes the full grid of a space that `simgrad plan` searches, and keeps it beside the scenario as a table.

    python3 tests/planner/grids/reference.py build/simgrad learning     # writes tests/planner/grids/learning.csv

A row is a candidate in the order of the space: its value of the objective (empty if it does not reach the goal), and its
steps times its workers.
"""

import csv
import subprocess
import sys
import tempfile
from pathlib import Path

FOLDER = Path(__file__).resolve().parent
VALUES = {"cheapest": "cost_usd", "fastest": "simulated_s", "least_energy": "energy_j"}


def main(program, name):
    text = (FOLDER / f"{name}.toml").read_text(encoding="utf-8")
    objective = text.split('objective = "')[1].split('"')[0]
    target = "\nloss = " in text
    with tempfile.TemporaryDirectory() as folder:
        scenario = Path(folder) / f"{name}.toml"
        scenario.write_text(text.replace("[plan.space]", "[grid]"), encoding="utf-8")
        subprocess.run([program, "run", scenario, "--no-baseline", "--no-why", "--timelines", "0", "--quiet",
                        "--out", f"{folder}/out"], check=True)
        with open(f"{folder}/out/runs.csv", encoding="utf-8", newline="") as runs:
            rows = list(csv.DictReader(runs))
        with open(f"{folder}/out/ranks.csv", encoding="utf-8", newline="") as ranks:
            workers = {}
            for rank in csv.DictReader(ranks):
                workers[rank["run"]] = workers.get(rank["run"], 0) + (rank["role"] == "worker")
    with open(FOLDER / f"{name}.csv", "w", encoding="utf-8", newline="") as file:
        out = csv.writer(file, lineterminator="\n")
        out.writerow(["value", "worker_steps"])
        for row in rows:
            there = row["status"] == "reached" if target else row["status"] == "stopped"
            out.writerow([f"{float(row[VALUES[objective]]):.9g}" if there else "", int(row["steps"]) * workers[row["id"]]])


if __name__ == "__main__":
    main(*sys.argv[1:])
