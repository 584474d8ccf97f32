"""Draws small trainings, with their data, and writes them as the text of a scenario.

Written without reading src/. A scenario is a dictionary with the sections of its file, the name and the text of its
data ("file"), and what the comparison needs to know of it: how many rows, ranks and gradients.
"""

import json
import math
import random

import numpy as np

SYNCHRONOUS = ["single", "allreduce", "mapreduce", "parameter_server", "data_parallel", "zero", "fsdp", "byteps"]
ALONE = ["local_sgd", "diloco", "federated_averaging", "block_sync", "easgd"]
MIXED = ["gossip", "d2", "gradient_tracking", "sgp"]
ASYNCHRONOUS = ["asynchronous_server", "asynchronous_server", "asynchronous_easgd", "hogwild"]
CUT = ["single", "allreduce", "allreduce", "zero", "fsdp", "local_sgd", "diloco", "gossip", "d2", "gradient_tracking",
       "sgp"]


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
        if s["graph"] == "hypercube":
            s["one_peer"] = False  # nobody says in which order the neighbours have their turns
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
