"""Draws small trainings, with their data, and writes them as the text of a scenario.

Written without reading src/. A scenario is a dictionary with the sections of its file, the name and the text of its
data ("file"), and what the comparison needs to know of it: how many rows, ranks and gradients.
"""

import json
import math
import random

import numpy as np

from learning_strategies import ALONE, ASYNCHRONOUS, CUT, MIXED, SYNCHRONOUS, draw_cut, draw_strategy


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
    case["classes"] = 0 if regression or o["kind"] == "k_means" else classes
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


def draw_optimizer(r, case, loose, lamb):
    """loose: also a limit of the norm, and lamb: also lamb, whose update of a parameter depends on others."""
    kind = r.choice(["sgd", "sgd", "momentum", "nesterov", "adagrad", "rmsprop", "adam", "adamw"] + ["lamb"] * lamb)
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


def draw_kinds(r, case, cut, ranks):
    """The strategies among which one is drawn."""
    o = case["model"]
    if cut:
        pipedream = case["parallel"].get("schedule", "").startswith("pipedream")
        return ["single", "allreduce"] if pipedream else CUT
    if o["kind"] in ("sparse_logistic", "factorization_machine") and r.random() < 0.3:
        return ["sparse_parameter_server"]
    if o["kind"] == "k_means" and r.random() < 0.4:
        return ["lloyd"]
    if o["kind"] == "multitask_perceptron" and ranks > 1 and r.random() < 0.4:
        return ["multitask"]
    if o["kind"] in ("perceptron", "multitask_perceptron") and ranks > 1 and r.random() < 0.1:
        return ["operators"]
    return r.choice([SYNCHRONOUS, SYNCHRONOUS, ALONE, MIXED, ASYNCHRONOUS])


def draw_other(r, kind, case):
    """Strategies of some models alone, that train as one worker does."""
    s = {"kind": kind}
    if kind == "lloyd":
        s = {"kind": r.choice(["single", "mapreduce"]), "job": "k_means"}
        if s["kind"] == "mapreduce":
            s.update(combiner=r.random() < 0.7, broadcast=r.choice(["flat", "binomial", "chain"]))
    if kind == "multitask":
        s["schedule"] = r.choice(["groups", "gang", "sharing"])
        if s["schedule"] == "groups":
            s.update(rows="batch", sizes=r.choice(["equal", "work"]))
        s["algorithm"] = r.choice(["ring", "tree", "naive"])
    if kind == "operators":
        s.update(placement=r.choice(["greedy", "heft", "balanced"]), micro_batches=r.randint(1, 3))
    if kind == "sparse_parameter_server":
        s["servers"] = r.randint(1, 3)
        if s["servers"] > 1:
            s["sharding"] = r.choice(["range", "hash"])
        s["dense"] = r.choice(["servers", "allreduce"])
        if s["dense"] == "allreduce":
            s["hot_keys"] = r.choice([0, 0, 1, 2])
        case["model"].pop("l2", None)  # which moves parameters that a batch does not touch
    return s


def draw_optimizer_of(r, case, strategy, cut, listed):
    loose = strategy not in ("block_sync", "hogwild", "asynchronous_server", "async_broadcast", "operators",
                             "multitask", "sparse_parameter_server")
    if cut:  # lamb needs whole matrices
        p = case["parallel"]
        tied = case["model"].get("tied") and "tied_lamb" in listed
        loose = p.get("tensor", 1) == p.get("expert", 1) == 1 and strategy not in ("zero", "fsdp") and not (
            p.get("pipeline", 1) > 1 and (tied or p["schedule"].startswith("pipedream")))
    case["training"] = draw_optimizer(r, case, loose, loose and strategy not in ("zero", "fsdp"))
    if strategy == "lloyd":
        case["training"] = {"optimizer": "sgd", "learning_rate": 0.1}
    if strategy == "sparse_parameter_server":
        case["training"].update(optimizer=r.choice(["sgd", "adagrad"]))
    options = case["training"]["optimizer"]
    return "clip_norm" in case["training"] or "lamb" in (options, isinstance(options, dict) and options["kind"])


def draw_hosts(r, case, strategy, cut, ranks):
    """How many devices a host has, which are one worker."""
    if cut or ranks == 1 or 2 * ranks > case["rows"] or r.random() >= 0.15 or strategy not in (
            "allreduce", "parameter_server", "gossip", "sgp", "d2", "gradient_tracking", "local_sgd", "diloco",
            "federated_averaging", "easgd"):
        return 1
    case["cluster"]["topology"] = {"kind": "star", "devices": 2}
    case["strategy"]["hosts_first"] = True
    return 2


def draw_surroundings(r, case, strategy, cut, hosts):
    """What changes times alone: cabling, stragglers, a crash behind which the training goes on as if nothing was."""
    cluster, s = case["cluster"], case["strategy"]
    if strategy in ASYNCHRONOUS:
        return
    if not cut and hosts == 1 and r.random() < 0.3:
        cluster["topology"] = r.choice(["ring", "fat_tree", "torus", "shared_memory",
                                        {"kind": "two_tier", "hosts_per_rack": 2}])
    if r.random() < 0.25:
        cluster["stragglers"] = r.choice([{"kind": "log_normal", "sigma": 1.0}, {"kind": "constant", "slowdown": 3.0},
                                          {"kind": "bimodal", "probability": 0.3, "pause": "1ms"}])
    lost = any(key in s for key in ("compression", "answer_compression", "splits"))
    if r.random() < 0.2 and not lost and strategy not in ("single", "federated_averaging", "easgd", "lloyd",
                                                          "operators", "multitask"):
        crash = {"rank": r.randrange(cluster["workers"]), "at": r.choice(["150us", "400us", "1ms"]), "repair": "2ms"}
        # By "wait" a lost replica goes on from the memory of another one, which is the same where all are alike.
        alike = strategy in SYNCHRONOUS and strategy not in ("zero", "fsdp")
        recovery = r.choice(["restart", "wait"]) if alike else "restart"
        cluster["failures"] = {"crash": [crash], "detection": "1ms", "recovery": recovery}
        case["training"]["checkpoint_every_steps"] = r.randint(1, 3)
    if r.random() < 0.2:
        case["evaluate"] = {"every_steps": 2}


def draw_faulty(r, case, strategy, cut, hosts, ranks):
    """Ranks that hand over multiples of their gradients."""
    s, kinds = case["strategy"], SYNCHRONOUS + ALONE + MIXED
    if (cut or hosts > 1 or ranks == 1 or strategy not in kinds or "splits" in s or case["model"].get("experts")
            or r.random() >= (0.6 if "reduce" in s else 0.1)):
        return
    ranks_at_fault = r.sample(range(ranks), r.randint(1, (ranks + 1) // 2))
    case["cluster"]["faulty"] = {"kind": r.choice(["sign_flip", "scale"]), "factor": r.choice([0.5, 2.0, 3.0]),
                                 "workers": [float(rank) for rank in sorted(ranks_at_fault)]}


def draw_batches(r, case, strategy, cut, workers):
    rows = case["rows"]
    if r.random() >= 0.3 or rows < 2 * workers or "splits" in case["strategy"]:
        if not cut and "partition" in case["training"] and case.get("classes") and r.random() < 0.4:
            case["training"]["partition"] = r.choice([
                "by_label", {"kind": "by_label", "stretches": 2}, {"kind": "dirichlet", "alpha": r.choice([0.3, 2.0])},
                {"kind": "quantity", "alpha": r.choice([0.3, 2.0])}])
            case["dealt"] = workers
        return
    batch = workers * r.randint(1, rows // workers - 1)
    if cut:
        batch = 12
    elif r.random() < 0.2:
        batch = r.randint(1, rows - 1)
    case["training"]["batch_size"] = case["batch"] = batch
    if not cut and batch % workers == 0 and r.random() < 0.3:
        case["training"]["batch_size_per_worker"] = case["training"].pop("batch_size") // workers
        case["training"]["learning_rate_scaling"] = r.choice(["none", "linear", "sqrt"])
    if strategy == "async_broadcast":
        case["stop"]["steps"] = min(case["stop"]["steps"], 3)
    rounds = 2 if strategy == "async_broadcast" else case["strategy"].get("period", 1)
    if strategy == "federated_averaging":
        rounds = case["strategy"]["local_steps"]
    case["stop"]["steps"] = min(case["stop"]["steps"], 6 // rounds)
    case["gradients"] = case["stop"]["steps"] * rounds + 1
    case["probed"] = workers


def draw_formats(r, case, strategy):
    """Numbers of four bytes, everywhere or on the wire alone."""
    training, s = case["training"], case["strategy"]
    options = training["optimizer"]
    kind = options["kind"] if isinstance(options, dict) else options
    coded = any("compression" in key for key in s)
    reduced = "reduce" in s or "faulty" in case["cluster"]
    if r.random() < 0.12 and strategy in SYNCHRONOUS + ["diloco", "sgp", "gossip"] and not coded and not (
            reduced) and kind in ("sgd", "momentum", "nesterov"):
        if case["model"]["kind"] not in ("factorization_machine", "sparse_logistic", "matrix_factorization"):
            training["precision"] = "float32"
    elif r.random() < 0.1 and strategy in ("parameter_server", "mapreduce") and not coded:
        training.update(wire=r.choice(["float32", "float16", "bfloat16"]), partition="contiguous")


def draw(seed, index, attempt=0, listed=()):
    """A scenario. listed: the known faults, as far as scenarios with them cannot be compared."""
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
    ranks = case["parallel"]["data"] if cut else min(r.choice([1, 2, 2, 3, 4, 4, 5, 8]), case["rows"])
    kinds = draw_kinds(r, case, cut, ranks)
    (write_text if kind == "transformer" else write_table)(r, case)
    strategy = r.choice([k for k in kinds if ranks > 1 or k not in MIXED] or SYNCHRONOUS)
    workers = ranks
    if strategy == "single":
        ranks = workers = 1
    whole = draw_optimizer_of(r, case, strategy, cut, listed)
    known_kinds = SYNCHRONOUS + ALONE + MIXED + ASYNCHRONOUS
    case["strategy"] = (draw_strategy(r, strategy, ranks, whole, cut, kind == "transformer", case, listed)
                        if strategy in known_kinds else draw_other(r, strategy, case))
    if strategy == "operators":
        ranks = 1
    hosts = draw_hosts(r, case, strategy, cut, ranks)
    workers *= hosts
    draw_faulty(r, case, strategy, cut, hosts, ranks)
    if cut:
        case["parallel"]["data"] = ranks
        workers = math.prod(case["parallel"].get(k, 1) for k in ("tensor", "context", "expert", "pipeline", "data"))
    if case["strategy"]["kind"] == "single" and not cut:
        ranks = workers = 1
    case["cluster"]["workers"] = workers
    if strategy not in SYNCHRONOUS + ["sparse_parameter_server", "lloyd", "operators", "multitask"] or any(
            key in case["strategy"] for key in ("compression", "parameter_compression", "answer_compression", "reduce")
            ) or "faulty" in case["cluster"]:
        case["training"]["partition"] = "contiguous"
    if strategy in ASYNCHRONOUS:
        case["cluster"]["speed"] = "100kF"  # so slow that the printed times tell the order of events
    if r.random() < 0.15 and kind == "transformer":
        case["training"]["recompute"] = r.choice(["selective", "full"])
    case["ranks"] = ranks
    case["stop"] = {"steps": r.randint(3, 7)}
    if strategy != "operators":
        draw_batches(r, case, strategy, cut, ranks * hosts)
    draw_formats(r, case, strategy)
    draw_surroundings(r, case, strategy, cut, hosts)
    if strategy == "hogwild":
        case["cluster"]["topology"] = "shared_memory"
    return case
