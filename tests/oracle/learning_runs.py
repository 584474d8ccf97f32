"""Runs simgrad on a scenario, and reads what it wrote: losses, parameters and the order of events; and the data.

Written without reading src/.
"""

import itertools
import glob
import json
import math
import os
import subprocess

import numpy as np

from learning_scenarios import toml_text
from models import Linear
from recursions import stretches


def read_model(out, run):
    """The head and the parameters of a run's model, whose name ends in the id (`simgrad explain models`)."""
    path, = glob.glob(os.path.join(glob.escape(out), "models", f"*-{run['id']}.model"))
    with open(path, "rb") as file:
        head = json.loads(file.readline())
        return head, np.frombuffer(file.read(8 * head["count"]), dtype="<f8").copy()


def documented_addend(program):
    """What is added to a norm that is limited, as `simgrad explain clip_norm` says; nothing if it does not say it."""
    text = subprocess.run([program, "explain", "clip_norm"], capture_output=True, text=True, timeout=60).stdout
    return 1e-6 if "1e-6" in text or "0.000001" in text else 0.0


def asynchronous(case):
    s = case["strategy"]
    return s["kind"] in ("hogwild", "async_broadcast") or "consistency" in s or (
        s["kind"] == "easgd" and not s.get("synchronous"))


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


def order_of_broadcasts(events, updates, adding_s):
    """What happens to the replicas of async_broadcast: reads, own updates, and others' ones, each of which is added in
    adding_s seconds behind its arrival, beside all others."""
    moments, sent = [], {}
    for begin, end, who, kind, what, _, peer in events:
        rank = int(who.split()[1].split("+")[0])
        if kind == "message":
            number = sent[rank, peer] = sent.get((rank, peer), -1) + 1
            moments.append((end + adding_s, 0, begin, "add", int(peer.split()[1]), rank, number))
        elif what == "gradient":
            moments.append((begin, 2, begin, "read", rank))
        elif "+" not in who:
            moments += [(begin, 1, begin, "move", rank), (end, 1, begin, "update", rank)]
    moments.sort()
    last = [at for at, moment in enumerate(moments) if moment[3] == "update"][updates - 1]
    return [moment[3:] for moment in moments[:last + 1]]


def run(program, case, directory):
    """The start, the end and the losses by step of the program; or a refusal's text."""
    os.makedirs(directory, exist_ok=True)
    with open(os.path.join(directory, case["file"][0]), "w") as file:
        file.write(case["file"][1])
    for name, text in case.get("files", {}).items():
        with open(os.path.join(directory, name), "w") as file:
            file.write(text)
    with open(os.path.join(directory, "scenario.toml"), "w") as file:
        file.write(toml_text(case))
    out = os.path.join(directory, "out")
    told = ["--events", "--trace-steps", "0..1000"] if asynchronous(case) else ["--quiet"]
    done = subprocess.run([program, "run", os.path.join(directory, "scenario.toml"), "--out", out,
                           "--force", "--no-baseline", "--no-why", "--jobs", "1", "--threads", "0", "--timelines", "0",
                           *told],
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
    head, first = read_model(out, start)
    last = read_model(out, end)[1]
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
    batch = case["batch"]
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


def find_shards(program, case, directory):
    """The rows of each rank under a partition that draws them, as a probe of the same seed, workers and classes shows.

    The probe's row i has feature i alone, so that its parameters move by this row alone, and an asynchronous server
    applies the ranks' gradients one by one, at a rate that falls: each rank leaves another trace. What the rows' traces
    are where all rows are one rank's says whose a row is.
    """
    rows, ranks = case["rows"], case["dealt"]
    steps = rows * ranks  # so many that the rank with most rows comes to its turn beside one with a single row
    labels = [line.split(",")[-1] for line in case["file"][1].split()[1:]]
    names = sorted(set(labels))
    probe = {"seed": case["seed"], "rows": rows, "cluster": {"workers": ranks, "speed": "100kF"},
             "model": {"kind": "softmax_regression"}, "stop": {"steps": steps},
             "data": {"source": "csv", "path": "data.csv", "target": "y", "standardize": False},
             "strategy": {"kind": "parameter_server", "consistency": "asp"},
             "training": {"partition": case["training"]["partition"], "learning_rate": 3.0,
                          "schedule": {"kind": "inverse_time", "decay": 1.0}}}
    lines = [",".join([f"x{i}" for i in range(rows)] + ["y"])]
    lines += [",".join(["1" if i == j else "0" for j in range(rows)] + [labels[i]]) for i in range(rows)]
    probe["file"] = ("data.csv", "\n".join(lines) + "\n")
    theirs, why = run(program, probe, directory)
    if theirs is None:
        raise RuntimeError(why)
    classes = theirs["head"]["encoding"]["class_names"]
    model = Linear("softmax_regression", np.eye(rows), np.array([classes.index(label) for label in labels]), len(names))
    order, versions = order_of_updates(theirs["events"])
    result, end = [[] for _ in range(ranks)], theirs["end"].reshape(len(names), rows)
    for rank in range(ranks):
        states, mine = [(0, theirs["start"])], [at for at, who in enumerate(order[:steps]) if who == rank]
        for update, version in zip(mine, versions.get(rank, [])):
            seen = [w for at, w in states if at <= version][-1]
            rate = 3.0 / (1 + update / ranks)
            states.append((update + 1, states[-1][1] - rate * model.gradient(seen, np.arange(rows))))
        gaps = np.abs(states[-1][1].reshape(len(names), rows) - end).max(axis=0)
        result[rank] = np.flatnonzero(gaps < 1e-12) if mine else np.array([], dtype=int)
    if sorted(np.concatenate(result)) != list(range(rows)):
        raise RuntimeError(f"the probe does not tell which rows are whose: {[list(rows) for rows in result]}")
    devices = ranks // case["ranks"]  # of a host, which are one worker
    return [np.concatenate(result[first:first + devices]) for first in range(0, ranks, devices)]
