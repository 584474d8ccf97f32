"""Runs simgrad on a scenario, and reads what it wrote: losses, parameters and the order of events; and the data.

Written without reading src/.
"""

import itertools
import json
import math
import os
import subprocess

import numpy as np

from learning_scenarios import toml_text
from recursions import stretches


def read_model(path):
    """The head and the parameters of models/ID.model (`simgrad explain models`)."""
    with open(path, "rb") as file:
        head = json.loads(file.readline())
        return head, np.frombuffer(file.read(8 * head["count"]), dtype="<f8").copy()


def asynchronous(case):
    s = case["strategy"]
    return s["kind"] == "hogwild" or s["kind"] == "easgd" and not s.get("synchronous") or "consistency" in s


def read_events(text):
    """The lines of --events: (from, to, who, kind, what, step, peer)."""
    result = []
    for line in text.splitlines():
        words = line.split()
        if len(words) > 8 and words[2] in ("rank", "server") and words[4] in ("compute", "message"):
            result.append((float(words[0]), float(words[1]), words[2] + " " + words[3], words[4], words[5], words[6],
                           " ".join(words[8:])))
    return result


def order_of_updates(events):
    """The ranks of a server's updates in the order in which their pushes came, and the versions that ranks pulled."""
    pushed = sorted((e[1], int(e[2].split()[1])) for e in events if e[4] == "push" and e[3] == "message")
    versions = {}
    for _, _, _, _, _, step, peer in (e for e in events if e[4] == "pull" and e[3] == "message"):
        versions.setdefault(int(peer.split()[1]), []).append(0 if step == "-" else int(step))
    return [rank for _, rank in pushed], versions


def order_of_cores(events, steps):
    """What hogwild's cores do: they read at a gradient's start, and have written at an update's end."""
    moments = []
    for begin, end, who, _, what, _, _ in events:
        rank = int(who.split()[1])
        # The end of the run cuts the updates that are under way, so that several end with the last one: it began first.
        moments.append((begin, 1, begin, "read", rank) if what == "gradient" else (end, 0, begin, "update", rank))
    moments.sort()
    last = [at for at, moment in enumerate(moments) if moment[3] == "update"][steps - 1]
    return [moment[3:] for moment in moments[:last + 1]]


def run(program, case, directory):
    """The start, the end and the losses by step of the program; or a refusal's text."""
    os.makedirs(directory, exist_ok=True)
    with open(os.path.join(directory, case["file"][0]), "w") as file:
        file.write(case["file"][1])
    with open(os.path.join(directory, "scenario.toml"), "w") as file:
        file.write(toml_text(case))
    out = os.path.join(directory, "out")
    told = ["--events", "--trace-steps", "0..1000"] if asynchronous(case) else ["--quiet"]
    done = subprocess.run([program, "run", os.path.join(directory, "scenario.toml"), "--out", out,
                           "--no-baseline", "--no-why", "--jobs", "1", "--threads", "0", "--timelines", "0", *told],
                          capture_output=True, text=True, timeout=120)
    try:
        with open(os.path.join(out, "results.json")) as file:
            runs = json.load(file)["runs"]
    except FileNotFoundError:
        return None, done.stderr
    if done.returncode or any(r["status"] == "failed" for r in runs):
        return None, done.stderr + " ".join(str(r["error"]) for r in runs)
    start = next(r for r in runs if r["status"] == "reached")
    end = next(r for r in runs if r["status"] != "reached")
    head, first = read_model(os.path.join(out, "models", start["id"] + ".model"))
    last = read_model(os.path.join(out, "models", end["id"] + ".model"))[1]
    losses = {c["step"]: c["loss"] for c in end["curve"]}
    return {"head": head, "start": first, "end": last, "run": end, "losses": losses,
            "events": read_events(done.stdout)}, ""


def read_sparse(case):
    lines = [line.split() for line in case["file"][1].splitlines()]
    entries = [[(int(f), float(v)) for f, v in (cell.split(":") for cell in line[1:])] for line in lines]
    x = np.zeros((len(lines), max(f for line in entries for f, _ in line)))
    for row, line in enumerate(entries):
        for feature, value in line:
            x[row, feature - 1] = value
    return x, np.array([int(line[0]) for line in lines])


def read_table(case, head):
    lines = case["file"][1].split()[1:]
    cells = [line.split(",") for line in lines]
    x = np.array([[float(v) for v in line[:-1]] for line in cells])
    if case["data"]["standardize"]:
        x = (x - x.mean(axis=0)) / x.std(axis=0)
    if "standardize_target" in case["data"]:
        y = np.array([float(line[-1]) for line in cells])
        if case["data"]["standardize_target"]:
            y = (y - y.mean()) / y.std()
        return x, y, 0
    names = head["encoding"]["class_names"]
    if case["model"]["kind"] == "k_means":
        return x, None, 0
    return x, np.array([names.index(line[-1]) for line in cells]), len(names)


def find_batches(program, case, directory):
    """The rows of each rank in each step, as a probe of the same seed, workers and batches shows them.

    The probe's row i has feature i alone, which is 1, and the target 1: with a rate that falls to 0.4 of itself in each
    step, the error of parameter i at the end tells the steps whose batches had the row, and how often.
    """
    rows, ranks, steps = case["rows"], case["ranks"], case["gradients"]
    probe = {"seed": case["seed"], "rows": rows, "cluster": {"workers": case["probed"]},
             "model": {"kind": "least_squares"},
             "data": {"source": "csv", "path": "data.csv", "target": "y", "standardize": False,
                      "standardize_target": False},
             "stop": {"steps": steps}, "strategy": {"kind": "allreduce"}}
    lines = [",".join([f"x{i}" for i in range(rows)] + ["y"])]
    lines += [",".join(["1" if i == j else "0" for j in range(rows)] + ["1"]) for i in range(rows)]
    probe["file"] = ("data.csv", "\n".join(lines) + "\n")
    batch = case["training"]["batch_size"]
    probe["training"] = {"batch_size": batch, "partition": case["training"].get("partition", "iid"),
                         "learning_rate": 0.4 * batch, "schedule": {"kind": "step", "factor": 0.4, "every_steps": 1}}
    theirs, why = run(program, probe, directory)
    if theirs is None:
        raise RuntimeError(why)
    products = {}
    for counts in itertools.product(range(3), repeat=steps):
        products[math.prod(1 - c * 0.4 ** (k + 1) for k, c in enumerate(counts))] = counts
    keys = np.array(list(products))
    shards = stretches(rows, ranks)
    result = [[[] for _ in range(ranks)] for _ in range(steps)]
    for rank, shard in enumerate(shards):
        for row in shard:
            error = 1 - theirs["end"][row]
            nearest = keys[np.abs(keys - error).argmin()]
            if abs(nearest - error) > 1e-12:
                raise RuntimeError(f"the probe's row {row} has the error {error!r}, which no set of batches gives")
            for step, count in enumerate(products[nearest]):
                result[step][rank] += [row] * count
    return [[np.array(rows, dtype=int) for rows in step] for step in result]
