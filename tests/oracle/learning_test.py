#!/usr/bin/env python3
"""Draws small trainings, runs them by simgrad, and compares losses and parameters with learning.py.

  learning_test.py [--scenarios N] [--seed S] [--only INDEX] [--program PATH] [--keep DIR]

Exit code: 0 where all agree, 1 at a difference, 77 without numpy. The program is --program, or $SIMGRAD_PROGRAM, or
simgrad in the path. Every scenario starts from the parameters that the program itself writes down: a run whose target
is reached before its first step leaves them in models/.
"""

import argparse
import itertools
import json
import math
import os
import random
import shutil
import subprocess
import sys
import tempfile

try:
    import tomllib

    import numpy as np
except ImportError as missing:
    print(f"learning_test: skipped, {missing}")
    sys.exit(77)

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import learning  # noqa: E402

TOLERANCE = 1e-9
HERE = os.path.dirname(os.path.abspath(__file__))


# ---------------------------------------------------------------------------------------------------------------------
# Scenarios as text.


def toml_value(value):
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return json.dumps(value)
    if isinstance(value, dict):
        return "{ " + ", ".join(f"{k} = {toml_value(v)}" for k, v in value.items()) + " }"
    if isinstance(value, (list, tuple)):
        return "[" + ", ".join(toml_value(v) for v in value) + "]"
    return repr(value)


def toml_text(case):
    lines = [f"seed = {case['seed']}", "save_model = true"]
    for section in ("cluster", "data", "model", "training", "parallel", "stop", "evaluate", "strategy"):
        if section in case:
            lines.append(f"\n[[{section}]]" if section == "strategy" else f"\n[{section}]")
            lines += [f"{key} = {toml_value(value)}" for key, value in case[section].items()]
    return "\n".join(lines) + '\n\n[grid]\n"stop.loss" = [1e300, -1e300]\n'


# ---------------------------------------------------------------------------------------------------------------------
# Drawing.


def draw_table_model(r, kind):
    o = {"kind": kind}
    if r.random() < 0.5 and kind not in ("k_means", "factorization_machine", "multitask_perceptron"):
        o["bias"] = r.random() < 0.5
    if r.random() < 0.4 and kind not in ("k_means", "multitask_perceptron"):
        o["l2"] = r.choice([0.01, 0.3])
    if kind == "k_means":
        o["clusters"] = r.randint(2, 4)
    if kind in ("factorization_machine", "matrix_factorization"):
        o["factors"] = r.randint(1, 4)
    if kind == "multitask_perceptron":
        o.update(hidden=[r.randint(2, 6) for _ in range(r.randint(1, 2))], activation=r.choice(["relu", "tanh"]))
    if kind == "perceptron":
        o.update(hidden=[r.choice([2, 4, 6, 8]) for _ in range(r.randint(1, 3))],
                 activation=r.choice(["relu", "tanh"]), task=r.choice(["regression", "classification"]))
    return o


def write_table(r, case):
    """A CSV file for a linear model or a perceptron."""
    o, rows, features = case["model"], case["rows"], r.randint(1, 6)
    if o["kind"] in ("factorization_machine", "sparse_logistic"):
        return write_sparse(r, case)
    if o["kind"] == "matrix_factorization":
        users, items = r.randint(2, 5), r.randint(2, 5)
        cells = [(u, i, round(r.uniform(1, 5), 1)) for u, i in zip(range(users), [0] * users)]
        cells += [(0, i, round(r.uniform(1, 5), 1)) for i in range(1, items)]
        while len(cells) < rows:
            cells.append((r.randrange(users), r.randrange(items), round(r.uniform(1, 5), 1)))
        case["rows"] = len(cells)
        case["file"] = ("data.csv", "user,item,y\n" + "".join(f"{u},{i},{y}\n" for u, i, y in cells))
        case["data"] = {"source": "csv", "path": "data.csv", "user": "user", "item": "item", "target": "y",
                        "standardize_target": r.random() < 0.5}
        return None
    classes = 2 if o["kind"] == "logistic_regression" else r.randint(2, 4)
    regression = o["kind"] == "least_squares" or o.get("task") == "regression"
    generator = np.random.default_rng(r.randrange(2 ** 32))
    x = generator.normal(size=(rows, features)).round(3) * generator.uniform(0.5, 3, features) + 0.5
    if regression:
        y = (x @ generator.normal(size=features) + 0.3 * generator.normal(size=rows)).round(3)
    else:
        y = generator.integers(0, classes, rows)
        y[:classes] = range(classes)
    lines = [",".join([f"x{i}" for i in range(features)] + ["y"])]
    for a, b in zip(x, y):
        lines.append(",".join([repr(float(v)) for v in a] + [repr(float(b)) if regression else "abcd"[b]]))
    case["file"] = ("data.csv", "\n".join(lines) + "\n")
    case["data"] = {"source": "csv", "path": "data.csv", "target": "y", "standardize": r.random() < 0.7}
    if regression:
        case["data"]["standardize_target"] = r.random() < 0.5
    return None


def write_sparse(r, case):
    """A LIBSVM file, whose last row has the last feature."""
    features, lines = r.randint(2, 6), []
    for row in range(case["rows"]):
        here = sorted(r.sample(range(1, features + 1), r.randint(1, features)) + [features] * (row == 0))
        entries = " ".join(f"{f}:{round(r.uniform(-2, 2), 2)}" for f in sorted(set(here)))
        lines.append(f"{row % 2 if row < 2 else r.randint(0, 1)} {entries}")
    case["file"] = ("data.svm", "\n".join(lines) + "\n")
    case["data"] = {"source": "libsvm", "path": "data.svm"}


def draw_text(r):
    """A transformer."""
    heads = r.choice([1, 2, 4])
    o = {"kind": "transformer", "layers": r.choice([1, 1, 2, 3]), "hidden": heads * r.choice([2, 4]), "heads": heads,
         "kv_heads": r.choice([k for k in (1, 2, 4) if heads % k == 0]), "sequence": r.choice([2, 4, 6, 8]),
         "gated": r.random() < 0.5, "tied": r.random() < 0.5, "bias": r.random() < 0.5,
         "norm": r.choice(["layer_norm", "rms_norm"]), "positions": r.choice(["learned", "rotary", "none"])}
    if r.random() < 0.3:
        o["l2"] = 0.01
    if r.random() < 0.5:
        o["feed_forward"] = r.choice([4, 8, 12])
    if r.random() < 0.5:
        o["experts"] = r.choice([2, 4])
        o["top_k"] = r.choice([1, 2])
        o["capacity_factor"] = r.choice([0.25, 0.5, 1.0, 1.25, 4.0])
        o["auxiliary_loss"] = r.choice([0.0, 0.01, 0.3])
        if o["layers"] > 1:
            o["expert_every"] = r.choice([1, 2])
    return o


def write_text(r, case):
    letters, places = "abcdefgh"[:r.choice([4, 6, 8])], case["model"]["sequence"]
    length = case["rows"] * places + 1 + r.randrange(places)
    text = letters + "".join(r.choice(letters) for _ in range(length - len(letters)))
    case["file"] = ("data.txt", text)
    case["data"] = {"source": "text", "path": "data.txt", "tokens": "characters"}


def draw_optimizer(r, case, loose):
    """loose: also optimizers whose update of a parameter depends on others."""
    kind = r.choice(["sgd", "sgd", "momentum", "nesterov", "adagrad", "rmsprop", "adam", "adamw"] + ["lamb"] * loose)
    o, options = case["model"], {"kind": kind}
    if kind in ("momentum", "nesterov") and r.random() < 0.5:
        options["momentum"] = r.choice([0.5, 0.99])
    adaptive = kind not in ("sgd", "momentum", "nesterov")
    if adaptive and (o["kind"] == "transformer" or r.random() < 0.5):
        # Gradients that are nothing but rounding, as a key's biases have, must not be divided by their own size.
        options["epsilon"] = r.choice([1e-2, 1e-3])
    if adaptive and o["kind"] not in ("transformer", "perceptron", "matrix_factorization"):
        o.pop("bias", None)  # whose gradient is nothing but rounding where all columns have the mean 0
    if kind in ("adam", "adamw", "lamb") and r.random() < 0.5:
        options.update(beta1=r.choice([0.5, 0.95]), beta2=r.choice([0.9, 0.99]))
    if kind in ("adamw", "lamb") and r.random() < 0.5:
        options["weight_decay"] = 0.1
    training = {"optimizer": options if len(options) > 1 or r.random() < 0.5 else kind,
                "learning_rate": r.choice([0.01, 0.03] if adaptive else [0.05, 0.2])}
    if r.random() < 0.3:
        training["schedule"] = r.choice([{"kind": "inverse_time", "decay": 0.2},
                                         {"kind": "step", "factor": 0.5, "every_steps": 2},
                                         {"kind": "cosine", "steps": 5, "minimum": 0.1}])
    if r.random() < 0.2:
        training["warmup_steps"] = 3
    if loose and r.random() < 0.15:
        training["clip_norm"] = r.choice([0.05, 0.3])
    return training


SYNCHRONOUS = ["single", "allreduce", "mapreduce", "parameter_server", "data_parallel", "zero", "fsdp", "byteps"]
ALONE = ["local_sgd", "diloco", "federated_averaging", "block_sync", "easgd"]
MIXED = ["gossip", "d2", "gradient_tracking", "sgp"]
ASYNCHRONOUS = ["asynchronous_server", "asynchronous_server", "asynchronous_easgd", "hogwild"]
CUT = ["single", "allreduce", "allreduce", "zero", "fsdp", "local_sgd", "diloco", "gossip", "d2", "gradient_tracking",
       "sgp"]


def draw_graph(r, ranks):
    graphs = ["ring", "complete", "star", "path", "exponential"]
    if ranks >= 4:
        graphs += ["grid_2d", "torus_2d"]
    if ranks in (2, 4, 8):
        graphs.append("hypercube")
    return r.choice(graphs)


def draw_strategy(r, kind, ranks, whole, cut, sharp):
    """whole: the optimizer needs all of a gradient at one place; sharp: some gradients are nothing but rounding, whose
    signs are chance."""
    s = {"kind": kind}
    if kind == "allreduce":
        s["algorithm"] = r.choice(["ring", "recursive_doubling", "rabenseifner", "tree", "double_binary_tree",
                                   "bcube", "naive"])
        if r.random() < 0.3:
            s["bucket_size"] = r.choice(["64B", "1kB"])
    if kind in ("allreduce", "zero", "fsdp") and r.random() < 0.2:
        s.update(micro_batches=2, no_sync=r.random() < 0.5)
    if kind == "parameter_server":
        s["servers"] = 1 if whole else r.randint(1, 3)
        if s["servers"] > 1:
            s["sharding"] = r.choice(["range", "hash"])
    if kind == "mapreduce":
        s.update(reducers=1 if whole else r.randint(1, 2), combiner=r.random() < 0.8)
        if s["reducers"] == 1:
            s["broadcast"] = r.choice(["flat", "binomial", "chain", "van_de_geijn"])
    if not cut and (kind in ("allreduce", "data_parallel", "gossip") and ranks > 1
                    or kind == "parameter_server" and s["servers"] == 1
                    or kind == "mapreduce" and s["reducers"] == 1) and r.random() < 0.3:
        s["compression"] = {"kind": "top_k", "k": r.randint(1, 4)} if sharp or r.random() < 0.5 else {"kind": "sign"}
        s.pop("bucket_size", None)
        s.pop("combiner", None)
        s.pop("algorithm", None)
        s.pop("micro_batches", s.pop("no_sync", None))
        if kind != "gossip":
            s["compression"]["error_feedback"] = r.random() < 0.5
    if kind == "zero":
        s["stage"] = r.randint(1, 3)
    if kind == "fsdp":
        s.update(limit=r.randint(1, 3), reshard_after_forward=r.random() < 0.7)
    if kind == "byteps":
        s["spare_hosts"] = r.randint(0, 2)
    if kind == "local_sgd":
        s["local_steps"] = r.choice([1, 2, 3, "all"])
        if s["local_steps"] != "all":
            if r.random() < 0.4:
                s["synchronous_steps"] = r.randint(1, 3)
            if r.random() < 0.4:
                s.update(slow_momentum=r.choice([0.3, 0.7]), slow_rate=r.choice([0.5, 1.0]))
        if r.random() < 0.4:
            s["optimizer_memory"] = r.choice(["keep", "average", "reset"])
    if kind == "diloco":
        s.update(local_steps=r.randint(1, 3), outer_rate=r.choice([0.3, 0.7, 1.0]), outer_momentum=r.choice([0.0, 0.9]))
    if kind == "federated_averaging":
        s.update(local_steps=r.randint(1, 3), proximal=r.choice([0.0, 0.5]))
    if kind == "block_sync":
        s["blocks"] = r.choice([1, 2, 3, "layers"])
        if r.random() < 0.5 and s["blocks"] != "layers":
            s.update(schedule="list", periods=[float(r.randint(1, 3)) for _ in range(s["blocks"])])
        else:
            s.update(schedule="round_robin", blocks_a_step=1 if s["blocks"] in (1, "layers") else r.randint(1, 2))
    if kind == "easgd":
        s.update(period=r.randint(1, 3), moving_rate=r.choice([0.3, 0.9]), synchronous=True)
    if kind == "asynchronous_easgd":
        s.update(kind="easgd", period=r.randint(1, 2), moving_rate=r.choice([0.3, 0.9]), synchronous=False)
    if kind == "asynchronous_server":
        s.update(kind="parameter_server", consistency=r.choice(["asp", "ssp"]), gradient=r.choice(["sum", "mean"]),
                 staleness_aware=r.random() < 0.4, delay_compensation=r.choice([0.0, 0.0, 0.5]))
        if s["consistency"] == "ssp":
            s["staleness_bound"] = r.randint(1, 2)
    if kind in MIXED:
        s["graph"] = draw_graph(r, ranks)
    if kind in ("gossip", "d2", "gradient_tracking"):
        s["mixing"] = r.choice(["metropolis", "max_degree"] + (["uniform"] if kind == "gossip" else []))
        if kind != "d2" and r.random() < 0.5:
            s["lazy"] = r.random() < 0.5
    if kind == "gossip":
        s["update"] = r.choice(["combine_then_adapt", "adapt_then_combine", "gradient_exchange"])
        if "compression" in s:
            s["update"] = r.choice(["combine_then_adapt", "adapt_then_combine"])
            s["consensus_step"] = r.choice([0.2, 0.5])
        elif s["update"] == "combine_then_adapt" and r.random() < 0.3:
            s["overlap"] = True
    if kind == "sgp" and r.random() < 0.4:
        s["graph"] = {"kind": "exponential", "directed": True}
    if kind == "sgp":
        s.update(one_peer=r.random() < 0.5, overlap=r.random() < 0.3)
    return s


def draw_cut(r, case):
    """How the model is cut: its shape is changed where a cut needs it."""
    p, o = {}, case["model"]
    if o["kind"] == "transformer":
        p = {"tensor": r.choice([1, 1, 2]), "context": r.choice([1, 1, 2]), "pipeline": r.choice([1, 1, 2, 3]),
             "expert": r.choice([1, 2]) if o.get("experts") else 1}
        if p["tensor"] == 2:
            o.update(heads=max(o["heads"], 2), kv_heads=max(o["kv_heads"], 2), hidden=max(o["hidden"], 4))
            p["sequence_parallel"] = r.random() < 0.3
        case["rows"] = 24
    else:
        p = {"tensor": r.choice([1, 2]), "pipeline": r.choice([1, 2])}
        case["rows"] = r.choice([16, 24, 48])
    p["data"] = r.choice([1, 2, 2, 4])
    if p["pipeline"] > 1:
        p["schedule"] = r.choice(["naive", "gpipe", "1f1b", "zb_h1", "zb_h2"])
        p["micro_batches"] = r.choice([1, 2, 3]) if case["rows"] == 24 else 2
        p["scatter_gather"] = p["tensor"] > 1 and r.random() < 0.3
        if o["kind"] == "perceptron" and r.random() < 0.4:
            p = {"pipeline": 2, "data": 1, "schedule": r.choice(["pipedream", "pipedream_2bw"])}
            first = r.randint(1, len(o["hidden"]))
            p["stages"] = [float(first), float(len(o["hidden"]) + 1 - first)]
            if p["schedule"] == "pipedream_2bw":
                p["micro_batches"] = 2
        elif o["kind"] == "transformer" and p["pipeline"] == 2 and r.random() < 0.3:
            o["layers"] = 4
            p.update(schedule="interleaved_1f1b", chunks=2, micro_batches=2)
    case["parallel"] = p


def draw(seed, index, attempt=0):
    r = random.Random(f"{seed}/{index}/{attempt}")
    case = {"seed": r.randint(1, 1000), "cluster": {}}
    kind = r.choice(["least_squares", "logistic_regression", "softmax_regression", "k_means", "factorization_machine",
                     "sparse_logistic", "matrix_factorization", "multitask_perceptron", "perceptron", "perceptron",
                     "perceptron"] + ["transformer"] * 9)
    options = draw_text(r) if kind == "transformer" else draw_table_model(r, kind)
    case["model"], case["rows"] = options, r.randint(8, 40) if kind != "transformer" else r.choice([4, 6, 8, 12])
    cut = kind in ("perceptron", "transformer") and r.random() < 0.5
    if cut:
        draw_cut(r, case)
        ranks, kinds = case["parallel"]["data"], CUT
        if case["parallel"].get("schedule", "").startswith("pipedream"):
            kinds = ["single", "allreduce"]
    else:
        ranks = min(r.choice([1, 2, 2, 3, 4, 4, 5, 8]), case["rows"])
        kinds = r.choice([SYNCHRONOUS, SYNCHRONOUS, ALONE, MIXED, ASYNCHRONOUS])
    (write_text if kind == "transformer" else write_table)(r, case)
    if kind in ("sparse_logistic", "factorization_machine") and r.random() < 0.3:
        kinds = ["sparse_parameter_server"]
    strategy = r.choice([k for k in kinds if ranks > 1 or k not in MIXED] or SYNCHRONOUS)
    if strategy == "single":
        ranks = 1
    loose = strategy not in ("block_sync", "hogwild", "asynchronous_server")
    if cut:  # lamb needs whole matrices; tied ones in a pipeline are a scenario of their own (tied_lamb)
        p, o = case["parallel"], case["model"]
        pipe = p.get("pipeline", 1) > 1
        loose = p.get("tensor", 1) == p.get("expert", 1) == 1 and strategy not in ("zero", "fsdp") and not (
            pipe and (o.get("tied") or p["schedule"].startswith("pipedream")))
    case["training"] = draw_optimizer(r, case, loose)
    whole = "clip_norm" in case["training"] or case["training"]["optimizer"] in ("lamb",) or isinstance(
        case["training"]["optimizer"], dict) and case["training"]["optimizer"]["kind"] == "lamb"
    case["strategy"] = draw_strategy(r, strategy, ranks, whole, cut, kind == "transformer")
    hosts = 1
    if not cut and ranks > 1 and r.random() < 0.15 and strategy in (
            "allreduce", "parameter_server", "gossip", "sgp", "d2", "gradient_tracking", "local_sgd", "diloco",
            "federated_averaging", "easgd"):
        hosts = 2
        case["cluster"]["topology"] = {"kind": "star", "devices": 2}
        case["strategy"]["hosts_first"] = True
    if cut:
        case["parallel"]["data"] = ranks
        sizes = (case["parallel"].get(k, 1) for k in ("tensor", "context", "expert", "pipeline", "data"))
        case["cluster"]["workers"] = math.prod(sizes)
    else:
        case["cluster"]["workers"] = ranks * hosts
    if strategy not in SYNCHRONOUS + ["sparse_parameter_server"] or "compression" in case["strategy"]:
        case["training"]["partition"] = "contiguous"
    if strategy in ASYNCHRONOUS:
        case["cluster"]["speed"] = "100kF"  # so slow that the printed times tell the order of events
    if strategy == "hogwild":
        case["cluster"]["topology"] = "shared_memory"
    if r.random() < 0.15 and kind == "transformer":
        case["training"]["recompute"] = r.choice(["selective", "full"])
    case["ranks"] = ranks
    case["stop"] = {"steps": r.randint(3, 7)}
    workers = ranks * hosts
    if r.random() < 0.3 and case["rows"] >= 2 * workers:
        case["training"]["batch_size"] = workers * r.randint(1, case["rows"] // workers - 1)
        if cut:
            case["training"]["batch_size"] = 12
        elif r.random() < 0.2:
            case["training"]["batch_size"] = r.randint(1, case["rows"] - 1)
        rounds = case["strategy"].get("period", 1)
        if strategy == "federated_averaging":
            rounds = case["strategy"]["local_steps"]
        case["stop"]["steps"] = min(case["stop"]["steps"], 6 // rounds)
        case["gradients"] = case["stop"]["steps"] * rounds + 1
        case["probed"] = workers
    return case


# ---------------------------------------------------------------------------------------------------------------------
# Both sides.


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
    head, first = learning.read_model(os.path.join(out, "models", start["id"] + ".model"))
    last = learning.read_model(os.path.join(out, "models", end["id"] + ".model"))[1]
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
    shards = learning.stretches(rows, ranks)
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


def build_model(case, head):
    o = case["model"]
    if o["kind"] == "transformer":
        letters = sorted(set(case["file"][1]))
        tokens = np.array([letters.index(c) for c in case["file"][1]])
        places, rows = o["sequence"], case["rows"]
        model = learning.Transformer(o, tokens[:rows * places].reshape(rows, places),
                                     tokens[1:rows * places + 1].reshape(rows, places), len(letters))
        return model
    if o["kind"] == "factorization_machine":
        return learning.FactorizationMachine(*read_sparse(case), o["factors"], o.get("l2", 0.0))
    if o["kind"] == "sparse_logistic":
        return learning.Linear("logistic_regression", *read_sparse(case), 2, o.get("bias", False), o.get("l2", 0.0))
    if o["kind"] == "matrix_factorization":
        cells = np.array([[float(v) for v in line.split(",")] for line in case["file"][1].split()[1:]])
        ratings = cells[:, 2]
        if case["data"]["standardize_target"]:
            ratings = (ratings - ratings.mean()) / ratings.std()
        return learning.MatrixFactorization(cells[:, 0].astype(int), cells[:, 1].astype(int), ratings, o["factors"],
                                            o.get("bias", False), o.get("l2", 0.0))
    x, y, classes = read_table(case, head)
    if o["kind"] == "k_means":
        return learning.Clusters(x, o["clusters"])
    if o["kind"] == "multitask_perceptron":
        return learning.Perceptron(x, y, classes, o["hidden"], o["activation"], classes="tasks")
    if o["kind"] == "perceptron":
        return learning.Perceptron(x, y, classes or 1, o["hidden"], o["activation"], o.get("bias", True),
                                   o.get("l2", 0.0), bool(classes))
    return learning.Linear(o["kind"], x, y, classes, o.get("bias", False), o.get("l2", 0.0))


def ours(case, theirs, batches=None):
    """What learning.py makes of the scenario: the parameters at each evaluation, and the model."""
    model = build_model(case, theirs["head"])
    training = case["training"]
    options = training["optimizer"]
    options = dict(options) if isinstance(options, dict) else {"kind": options}
    layers = [(layer["first"], layer["count"]) for layer in theirs["head"]["layers"]]

    def optimizer():
        return learning.Optimizer(rate=training["learning_rate"], schedule=training.get("schedule"),
                                  warmup=training.get("warmup_steps", 0), clip=training.get("clip_norm"),
                                  layers=layers, **options)

    ranks, steps, s = case["ranks"], case["stop"]["steps"], case["strategy"]
    task = learning.Task(model, theirs["start"], learning.stretches(case["rows"], ranks), optimizer, batches)
    kind = s["kind"]
    keys = {k: v for k, v in s.items() if k in ("local_steps", "synchronous_steps", "slow_momentum", "slow_rate",
                                                "optimizer_memory", "outer_rate", "outer_momentum", "proximal",
                                                "period", "moving_rate", "one_peer", "overlap", "blocks",
                                                "blocks_a_step", "periods")}
    if kind == "parameter_server" and "consistency" in s:
        order, versions = order_of_updates(theirs["events"])
        return model, learning.asynchronous_server(task, order[:steps], versions, s["gradient"], s["staleness_aware"],
                                                   s["delay_compensation"])
    if kind == "easgd" and not s["synchronous"]:
        return model, learning.asynchronous_easgd(task, order_of_updates(theirs["events"])[0][:steps], s["period"],
                                                  s["moving_rate"])
    if kind == "hogwild":
        return model, learning.hogwild(task, order_of_cores(theirs["events"], steps))
    if case.get("parallel", {}).get("schedule", "").startswith("pipedream"):
        return model, learning.stale_pipeline(task, steps, case["parallel"]["schedule"],
                                              [int(n) for n in case["parallel"]["stages"]], layers)
    if kind in SYNCHRONOUS or kind == "sparse_parameter_server":
        return model, learning.synchronous(task, steps, s.get("compression"))
    if kind == "block_sync":
        return model, learning.block_sync(task, steps, layers=layers, **keys)
    if kind in ("gossip", "d2", "gradient_tracking"):
        matrix = learning.mixing_matrix(learning.neighbours(s["graph"], ranks), s["mixing"],
                                        s.get("lazy", kind == "d2"))
        if "compression" in s:
            return model, learning.choco(task, steps, matrix, s["compression"], s["consensus_step"], s["update"])
        if kind == "gossip":
            return model, learning.gossip(task, steps, matrix, s["update"])
        return model, getattr(learning, kind)(task, steps, matrix)
    if kind == "sgp":
        outgoing = [sorted(n) for n in learning.neighbours(s["graph"], ranks)] if isinstance(s["graph"], str) else []
        if s["graph"] == "exponential" or not outgoing:
            outgoing = learning.exponential_turns(ranks, not outgoing)
        return model, learning.sgp(task, steps, outgoing, **keys)
    return model, getattr(learning, kind)(task, steps, **keys)


def differences(case, theirs, batches=None, noise=0.0):
    """The texts of what differs, the largest relative difference, and the oracle's own last parameters.

    noise: how much each parameter is changed before, relative to itself.
    """
    if noise:
        shaken = 1 + noise * np.random.default_rng(1).normal(size=len(theirs["start"]))
        theirs = dict(theirs, start=theirs["start"] * shaken)
    model, trail = ours(case, theirs, batches)
    found, worst, w = [], 0.0, None
    rows = np.arange(case["rows"])
    # The last digit decides now and then to which number of single precision a compressed one is rounded.
    tolerance = 1e-6 if "compression" in case["strategy"] else TOLERANCE
    for step, w in enumerate(trail):
        if step not in theirs["losses"]:
            continue
        expected, shown = model.value(w, rows), theirs["losses"][step]
        gap = abs(expected - shown) / max(abs(expected), 1e-12)
        worst = max(worst, gap)
        if not gap <= tolerance:
            found.append(f"loss at step {step}: the program has {shown!r}, the oracle {expected!r}")
    if len(w) != len(theirs["end"]):
        found.append(f"the program has {len(theirs['end'])} parameters, the oracle {len(w)}")
    else:
        gaps = np.abs(w - theirs["end"]) / max(np.abs(w).max(), 1e-12)
        worst = max(worst, gaps.max())
        if not gaps.max() <= tolerance:
            at = int(gaps.argmax())
            found.append(f"parameter {at}: the program has {theirs['end'][at]!r}, the oracle {w[at]!r}")
    return found, worst, w


# ---------------------------------------------------------------------------------------------------------------------
# Known faults: for each word a scenario that shows the fault, and whether learning.py can have it too.


def listed_words():
    """The words of the faults that are known: known_faults.toml has them as "learning: WORD"."""
    prefix = "learning: "
    with open(os.path.join(HERE, "..", "known_faults.toml"), "rb") as file:
        tests = [fault["test"] for fault in tomllib.load(file).get("fault", [])]
    return [test.removeprefix(prefix) for test in tests if test.startswith(prefix)]


def exhibit(word):
    """The scenario in which the fault with this word shows, and whether the oracle can have it, too."""
    case = {"seed": 1, "rows": 8, "ranks": 1, "cluster": {"workers": 1}, "stop": {"steps": 4},
            "training": {"optimizer": "sgd", "learning_rate": 0.1}, "strategy": {"kind": "single"},
            "model": {"kind": "transformer", "layers": 1, "hidden": 4, "heads": 2, "kv_heads": 2, "sequence": 4,
                      "gated": False, "tied": True, "bias": False, "norm": "rms_norm", "positions": "learned"}}
    if word == "capacity":
        case["model"].update(experts=2, top_k=1, capacity_factor=0.25)
    elif word == "tied_lamb":
        case["training"]["optimizer"] = "lamb"
        case["model"]["layers"] = 2
        case["parallel"] = {"pipeline": 2, "data": 1}
        case["cluster"]["workers"] = 2
    elif word == "clip_norm":
        case["model"] = {"kind": "least_squares"}
        case["training"]["clip_norm"] = 0.05
    elif word == "count":
        case["model"] = {"kind": "least_squares"}
        case["training"].update(optimizer="adam", partition="contiguous")
        case.update(ranks=2, cluster={"workers": 2}, strategy={"kind": "local_sgd", "local_steps": 2,
                                                              "optimizer_memory": "reset"})
    elif word == "one_worker":
        case["model"] = {"kind": "least_squares"}
        case["strategy"] = {"kind": "parameter_server", "compression": {"kind": "top_k", "k": 1}}
    else:
        raise RuntimeError(f"known_faults.toml has the word {word!r}, for which there is no scenario here")
    (write_text if case["model"]["kind"] == "transformer" else write_table)(random.Random(1), case)
    return case, word != "tied_lamb"


WORDS = ["capacity", "clip_norm", "count", "tied_lamb", "one_worker"]


class Report:
    def __init__(self):
        self.bad = self.known = self.rounding = self.compared = 0

    def differs(self, name, case, found):
        self.bad += 1
        print(f"{name} differs:\n{toml_text(case)}\n# {case['file'][0]}:\n# "
              + case["file"][1].strip().replace("\n", "\n# "))
        print("\n".join(found[:4]), flush=True)


def check_exhibits(program, directory, listed, report):
    """A fault that is listed must show, and one that is not must not."""
    for word in WORDS:
        case, both = exhibit(word)
        theirs, why = run(program, case, os.path.join(directory, word))
        if theirs is None:
            raise RuntimeError(why)
        learning.FAULTS = set()
        found = differences(case, theirs)[0]
        if word not in listed:
            if found:
                report.differs(f"the scenario of {word}", case, found)
            continue
        if not found:
            report.bad += 1
            print(f"the fault {word} no longer shows: take it out of known_faults.toml")
        elif both:
            learning.FAULTS = {word}
            found = differences(case, theirs)[0]
            if found:
                report.differs(f"the scenario of {word}, beside this fault,", case, found)
    learning.FAULTS = set()


def check_drawn(program, directory, seed, index, listed, report, verbose):
    """Draws until the program takes a scenario, and compares."""
    for attempt in range(10):
        case = draw(seed, index, attempt)
        here = os.path.join(directory, f"{index}_{attempt}")
        theirs, why = run(program, case, here)
        if theirs is not None:
            break
        if verbose:
            print(f"scenario {index} refused: {why.strip().splitlines()[-1]}")
    else:
        raise RuntimeError(f"ten scenarios with the number {index} were refused, at last: {why}")
    batches = find_batches(program, case, here + "/probe") if "gradients" in case else None
    learning.FAULTS = set()
    found, worst, w = differences(case, theirs, batches)
    report.compared += 1
    verdict = ""
    if found:
        learning.FAULTS = set(listed)
        beside, worst, w = differences(case, theirs, batches)
        if not beside:
            report.known += 1
            verdict = "known fault"
        else:
            # Where the oracle's own result changes as much by noise in the last digits of the start, nothing follows.
            shaken = differences(case, theirs, batches, noise=1e-14)[2]
            own = np.abs(shaken - w).max() / max(np.abs(w).max(), 1e-12)
            if own >= worst:
                report.rounding += 1
                verdict = "rounding alone"
            else:
                verdict = "DIFFERS"
                report.differs(f"scenario {index} of seed {seed}", case, beside)
        learning.FAULTS = set()
    if verbose:
        print(index, case["model"]["kind"], case["strategy"], case.get("parallel", ""), case["ranks"],
              case["training"]["optimizer"], f"{worst:.1e}", verdict, flush=True)


def main():
    parser = argparse.ArgumentParser()
    # The gate, which takes a share of long tests, draws fewer.
    parser.add_argument("--scenarios", type=int, default=20 if os.environ.get("SIMGRAD_SHARE") else 120)
    parser.add_argument("--seed", default="1")
    parser.add_argument("--only", type=int, help="the number of one scenario")
    parser.add_argument("--program", default=os.environ.get("SIMGRAD_PROGRAM", "simgrad"))
    parser.add_argument("--keep", help="a directory for the scenarios and their results")
    parser.add_argument("--verbose", action="store_true")
    options = parser.parse_args()
    np.seterr(divide="ignore")  # masked scores of attention are exp(-inf)
    report = Report()
    for problem in learning.self_test():
        report.bad += 1
        print(problem)
    listed = listed_words()
    for word in listed:
        exhibit(word)
    program = shutil.which(options.program)
    if program is None:
        print(f"there is no program {options.program}; give --program or SIMGRAD_PROGRAM")
        return 1
    directory = options.keep or tempfile.mkdtemp()
    try:
        if options.only is None:
            check_exhibits(program, directory, listed, report)
        for index in range(options.scenarios) if options.only is None else [options.only]:
            check_drawn(program, directory, options.seed, index, listed, report, options.verbose)
    finally:
        if not options.keep:
            shutil.rmtree(directory, ignore_errors=True)
    print(f"{report.compared} scenarios of seed {options.seed} compared: {report.bad} differences, {report.known} with "
          f"known faults alone, {report.rounding} that rounding may explain")
    return 1 if report.bad else 0


if __name__ == "__main__":
    sys.exit(main())
