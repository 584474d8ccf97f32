"""What learning.py makes of a scenario, and how far the program's results are from it.

Written without reading src/.
"""

import numpy as np

import learning
from codes import code_of
from learning_runs import asynchronous, order_of_broadcasts, order_of_cores, order_of_updates, read_sparse, read_table
from learning_strategies import SYNCHRONOUS

TOLERANCE = 1e-9
TOLERANCE_IN_FLOAT32 = 1e-4  # where the oracle computes in eight bytes what the program computes in four
OPTIONS = ("local_steps", "synchronous_steps", "slow_momentum", "slow_rate", "optimizer_memory", "outer_rate",
           "outer_momentum", "proximal", "period", "moving_rate", "one_peer", "overlap", "blocks", "blocks_a_step",
           "periods", "reduce")


def build_model(case, head):
    o = case["model"]
    if o["kind"] == "transformer":
        letters = sorted(set(case["file"][1]))
        tokens = np.array([letters.index(c) for c in case["file"][1]])
        places, rows = o["sequence"], case["rows"]
        return learning.Transformer(o, tokens[:rows * places].reshape(rows, places),
                                    tokens[1:rows * places + 1].reshape(rows, places), len(letters))
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


def build_task(case, theirs, batches):
    model = build_model(case, theirs["head"])
    training, ranks = case["training"], case["ranks"]
    layers = [(layer["first"], layer["count"]) for layer in theirs["head"]["layers"]]
    workers = case["cluster"]["workers"]
    rate = training["learning_rate"] * {"none": 1.0, "linear": workers, "sqrt": workers ** 0.5}[
        training.get("learning_rate_scaling", "none")]

    def optimizer():
        return learning.Optimizer(rate=rate, schedule=training.get("schedule"), warmup=training.get("warmup_steps", 0),
                                  clip=training.get("clip_norm"), layers=layers, **code_of(training["optimizer"]))

    shards = case.get("shards") or learning.stretches(case["rows"], ranks)
    faulty = case["cluster"].get("faulty", {})
    multiple = faulty.get("factor", 1.0) * (-1.0 if faulty.get("kind") == "sign_flip" else 1.0)
    attacks = {int(rank): multiple for rank in faulty.get("workers", [])}
    return learning.Task(model, theirs["start"], shards, optimizer, batches, attacks), layers


def graph_of(s, case):
    """The ranks to whom each rank is joined."""
    return learning.neighbours(case["edges"] if isinstance(s["graph"], dict) else s["graph"], case["ranks"])


def turns_of(s, case):
    """The ranks to which each rank sends in turn."""
    return learning.peers_in_turn(s["graph"], case["ranks"], graph_of(s, case))


def asynchronous_trail(case, task, theirs, code):
    steps, s = case["stop"]["steps"], case["strategy"]
    if s["kind"] == "hogwild":
        return learning.hogwild(task, order_of_cores(theirs["events"], steps))
    if s["kind"] == "async_broadcast":
        adding_s = len(task.start) / 1e5  # at the 100 kF that are drawn
        return learning.async_broadcast(task, order_of_broadcasts(theirs["events"], steps * task.ranks, adding_s))
    order, versions = order_of_updates(theirs["events"])
    if s["kind"] == "easgd":
        return learning.asynchronous_easgd(task, order[:steps], s["period"], s["moving_rate"])
    return learning.asynchronous_server(task, order[:steps], versions, s["gradient"], s["staleness_aware"],
                                        s["delay_compensation"], code)


def mixed_trail(case, task, code, keys):
    steps, s = case["stop"]["steps"], case["strategy"]
    if s["kind"] == "sgp":
        if isinstance(s["graph"], dict) and s["graph"]["kind"] == "exponential":
            outgoing = learning.exponential_turns(case["ranks"], True)
        else:
            outgoing = turns_of(s, case)
        return learning.sgp(task, steps, outgoing, code=code, **keys)
    if s.get("one_peer"):
        return learning.gossip(task, steps, learning.matrices_of_turns(turns_of(s, case)), s["update"])
    matrix = learning.mixing_matrix(graph_of(s, case), s["mixing"], s.get("lazy", s["kind"] == "d2"))
    if code and s["kind"] == "gossip":
        return learning.choco(task, steps, matrix, code, s["consensus_step"], s["update"])
    if s["kind"] == "gossip":
        return learning.gossip(task, steps, matrix, s["update"])
    return {"d2": learning.d2, "gradient_tracking": learning.gradient_tracking}[s["kind"]](task, steps, matrix, code)


def trail_of(case, task, layers, theirs):
    """The parameters at each evaluation."""
    steps, s = case["stop"]["steps"], case["strategy"]
    kind, schedule = s["kind"], case.get("parallel", {}).get("schedule", "")
    keys = {key: value for key, value in s.items() if key in OPTIONS}
    code, parameters, answers = (code_of(s.get(key)) for key in
                                 ("compression", "parameter_compression", "answer_compression"))
    if "wire" in case["training"]:
        code = parameters = code_of(case["training"]["wire"])
    if asynchronous(case):
        return asynchronous_trail(case, task, theirs, code)
    if s.get("job") == "k_means":
        return learning.lloyd(task, steps, case["model"]["clusters"])
    if schedule.startswith("pipedream"):
        return learning.stale_pipeline(task, steps, schedule, [int(n) for n in case["parallel"]["stages"]], layers)
    if s.get("codes") == "reduce_scatter":
        return learning.scattered(task, steps, code)
    if kind in SYNCHRONOUS or kind in ("sparse_parameter_server", "multitask", "operators"):
        return learning.synchronous(task, steps, code, parameters, answers, s.get("reduce"))
    if kind in ("gossip", "d2", "gradient_tracking", "sgp"):
        return mixed_trail(case, task, code, keys)
    if kind == "block_sync":
        return learning.block_sync(task, steps, layers=layers, **keys)
    if kind == "federated_averaging":
        return learning.federated_averaging(task, steps, code=code, parameter_code=parameters, **keys)
    if kind == "local_sgd":
        return learning.local_sgd(task, steps, code=code, **keys)
    return {"diloco": learning.diloco, "easgd": learning.easgd}[kind](task, steps, **keys)


def differences(case, theirs, batches=None, noise=0.0, draw=1):
    """The texts of what differs, the largest relative difference, and the oracle's own last parameters.

    noise: how much each parameter is changed before, relative to itself, by the random numbers of this draw.
    """
    if noise:
        shaken = 1 + noise * np.random.default_rng(draw).normal(size=len(theirs["start"]))
        theirs = dict(theirs, start=theirs["start"] * shaken)
    task, layers = build_task(case, theirs, batches)
    tolerance = TOLERANCE_IN_FLOAT32 if case["training"].get("precision") == "float32" else TOLERANCE
    found, worst, w = [], 0.0, None
    rows = np.arange(case["rows"])
    for step, w in enumerate(trail_of(case, task, layers, theirs)):
        if step not in theirs["losses"]:
            continue
        expected, shown = task.model.value(w, rows), theirs["losses"][step]
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
