"""Draws strategies with their options, and the cuts of a model; learning_scenarios.py draws the rest of a scenario.

Written without reading src/.
"""

SYNCHRONOUS = ["single", "allreduce", "mapreduce", "parameter_server", "data_parallel", "zero", "fsdp", "byteps"]
ALONE = ["local_sgd", "diloco", "federated_averaging", "block_sync", "easgd"]
MIXED = ["gossip", "d2", "gradient_tracking", "sgp"]
ASYNCHRONOUS = ["asynchronous_server", "asynchronous_server", "asynchronous_easgd", "hogwild",
                "async_broadcast"]
CUT = ["single", "allreduce", "allreduce", "zero", "fsdp", "local_sgd", "diloco", "gossip", "d2", "gradient_tracking",
       "sgp"]
SUMS = ["ring", "recursive_doubling", "rabenseifner", "tree", "double_binary_tree", "bcube", "naive", "nccl"]
COMPRESSED = ["allreduce", "data_parallel", "gossip", "parameter_server", "mapreduce", "byteps", "local_sgd",
              "federated_averaging", "d2", "gradient_tracking", "sgp"]


def draw_graph(r, ranks, case, files):
    graphs = ["ring", "complete", "star", "path", "exponential"] + ["file"] * files
    if ranks >= 4:
        graphs += ["grid_2d", "torus_2d"]
    if ranks in (2, 4, 8):
        graphs.append("hypercube")
    graph = r.choice(graphs)
    if graph == "file":  # a tree, and some edges besides
        edges = {(r.randrange(rank), rank) for rank in range(1, ranks)}
        edges |= {tuple(sorted(r.sample(range(ranks), 2))) for _ in range(r.randint(0, ranks))}
        case["edges"] = sorted(edges)
        case.setdefault("files", {})["graph.txt"] = "# edges\n" + "".join(f"{a} {b}\n" for a, b in sorted(edges))
        graph = {"kind": "file", "path": "graph.txt"}
    return graph


def draw_rounding(r):
    """A code of each number by itself."""
    kind = r.choice(["float32", "float16", "bfloat16", "qsgd"])
    return {"kind": "qsgd", "bucket": 1} if kind == "qsgd" else {"kind": kind}


def draw_code(r, kind, sharp, shards, pairs):
    """sharp: some gradients are nothing but rounding, whose signs are chance; shards: whether the vector is cut among
    servers in pieces whose codes are not those of the whole; pairs: whether numbers come in pairs of one size."""
    kinds = ["rounding"]
    if not shards:
        kinds += ["top_k", "top_k", "int8"] + ["sign"] * (not sharp)
    if kind == "gossip":
        kinds = ["top_k", "sign"] if not sharp else ["top_k"]
    if kind in ("d2", "gradient_tracking", "sgp"):
        kinds = ["rounding", "int8"]
    if kind in ("allreduce", "local_sgd"):  # formats add up on the way, and each sum is rounded again
        kinds = ["top_k", "int8", "qsgd"] + ["sign"] * (not sharp)
    if kind == "federated_averaging":
        kinds += ["top_k"]
    kind_of_code = r.choice([k for k in kinds if k != "top_k" or not pairs] or ["sign"])
    if kind_of_code == "top_k":
        code = {"kind": "top_k", "k": r.randint(1, 4)}
    elif kind_of_code == "sign":
        code = {"kind": "sign"}
        if kind in ("allreduce", "parameter_server", "mapreduce") and r.random() < 0.3:
            code["scale"] = "majority"
    elif kind_of_code == "int8":
        code = {"kind": "int8", "rounding": "nearest", "bucket": r.choice([1, 3, 1024])}
    elif kind_of_code == "qsgd":
        code = {"kind": "qsgd", "bucket": 1}
    else:
        code = draw_rounding(r)
    if kind in MIXED or code["kind"] == "qsgd" or code.get("scale") == "majority":
        return code
    return dict(code, error_feedback=r.random() < 0.5)


def draw_reduce(r, s, ranks):
    """How gradients or models become one, where that is not their mean."""
    whole = s.get("servers", 1) == s.get("reducers", 1) == 1 and "bucket_size" not in s
    kinds = ["min", "max", "median", "median", "trimmed_mean"] + ["sum"] * (s["kind"] != "federated_averaging")
    kind = r.choice(kinds + ["krum", "krum"] * (whole and ranks > 2))
    s["reduce"] = kind
    if kind == "trimmed_mean" and r.random() < 0.7:
        s["reduce"] = {"kind": kind, "trim": r.choice([0.1, 0.25, 0.4])}
    if kind == "krum" and r.random() < 0.7:
        faulty = r.randint(0, (ranks - 3) // 2)
        s["reduce"] = {"kind": kind, "krum_faulty": faulty, "krum_selected": r.randint(1, ranks - faulty)}


def draw_sum(r, s):
    s["algorithm"] = r.choice(SUMS)


def draw_buckets(r, s):
    s["bucket_size"] = r.choice(["64B", "200B", "1kB"])
    if r.random() < 0.5:
        s["credits"] = r.randint(1, 3)


def draw_synchronous(r, s, whole, ranks, cut):
    kind = s["kind"]
    if kind == "allreduce":
        draw_sum(r, s)
        if r.random() < 0.3 and not whole:
            s["bucket_size"] = r.choice(["64B", "1kB"])
    if kind in ("allreduce", "zero", "fsdp") and r.random() < 0.2 and not cut:
        s.update(micro_batches=2, no_sync=r.random() < 0.5)
    if kind == "parameter_server":
        s["servers"] = 1 if whole else r.randint(1, 3)
        if s["servers"] > 1:
            s["sharding"] = r.choice(["range", "hash"])
        if r.random() < 0.3 and s["servers"] <= ranks:
            s["placement"] = "colocated"
        if r.random() < 0.3 and s.get("sharding") != "hash" and not whole:
            draw_buckets(r, s)
            s["pull"] = r.choice(["by_layer", "at_once"])
    if kind == "mapreduce":
        s.update(reducers=1 if whole else r.randint(1, 2), combiner=r.random() < 0.8)
        if s["reducers"] == 1:
            s["broadcast"] = r.choice(["flat", "binomial", "chain", "van_de_geijn"])
        if r.random() < 0.2:
            s["storage"] = "disk"
        if r.random() < 0.2:
            s.update(splits=r.randint(2, 3), speculative=r.random() < 0.5)
            s.pop("broadcast", None)
        elif r.random() < 0.2 and s["combiner"] and not whole:
            draw_buckets(r, s)
            s.pop("broadcast", None)
            s.pop("storage", None)
    if kind == "data_parallel" and not whole and r.random() < 0.3:
        draw_buckets(r, s)
    if kind == "zero":
        s["stage"] = r.randint(1, 3)
        if s["stage"] < 3 and not whole and r.random() < 0.3:
            s["bucket_size"] = r.choice(["64B", "1kB"])
    if kind == "fsdp":
        s.update(reshard_after_forward=r.random() < 0.7, prefetch=r.random() < 0.7)
        if s["prefetch"]:
            s["limit"] = r.randint(1, 3)
        if ranks > 1 and r.random() < 0.3:
            s["shard_group"] = r.choice([size for size in range(1, ranks + 1) if ranks % size == 0])
    if kind == "byteps":
        s["spare_hosts"] = r.randint(0, 2)
        if r.random() < 0.3 and not whole:
            draw_buckets(r, s)
        else:
            s["partitions"] = r.randint(1, 8)


def draw_alone(r, s, whole):
    kind = s["kind"]
    if kind in ("local_sgd", "diloco", "block_sync") and r.random() < 0.5:
        draw_sum(r, s)
    if kind == "local_sgd":
        s["local_steps"] = r.choice([1, 2, 3, "all"])
        if s["local_steps"] != "all":
            if r.random() < 0.4:
                s["synchronous_steps"] = r.randint(1, 3)
            if r.random() < 0.4:
                s.update(slow_momentum=r.choice([0.3, 0.7]), slow_rate=r.choice([0.5, 1.0]))
        if r.random() < 0.4:
            s["optimizer_memory"] = r.choice(["keep", "average", "reset"])
        if r.random() < 0.2 and not whole:
            s["bucket_size"] = r.choice(["64B", "1kB"])
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
        if r.random() < 0.5:
            s["send"] = r.choice(["ready", "needed"])
    if kind == "easgd":
        s.update(period=r.randint(1, 3), moving_rate=r.choice([0.3, 0.9]), synchronous=True)
    if kind == "asynchronous_easgd":
        s.update(kind="easgd", period=r.randint(1, 2), moving_rate=r.choice([0.3, 0.9]), synchronous=False)
    if kind == "asynchronous_server":
        s.update(kind="parameter_server", consistency=r.choice(["asp", "ssp"]), gradient=r.choice(["sum", "mean"]),
                 staleness_aware=r.random() < 0.4, delay_compensation=r.choice([0.0, 0.0, 0.5]))
        if s["consistency"] == "ssp":
            s["staleness_bound"] = r.randint(1, 2)
        if not whole and not s["delay_compensation"] and r.random() < 0.25:
            s["compression"] = {"kind": r.choice(["float32", "bfloat16"]), "error_feedback": r.random() < 0.5}


def draw_mixed(r, s, ranks, whole, case, files):
    kind = s["kind"]
    s["graph"] = draw_graph(r, ranks, case, files)
    if kind != "sgp":
        s["mixing"] = r.choice(["metropolis", "max_degree"] + (["uniform"] if kind == "gossip" else []))
        if kind != "d2" and r.random() < 0.5:
            s["lazy"] = r.random() < 0.5
    if kind == "gossip":
        s["update"] = r.choice(["combine_then_adapt", "adapt_then_combine", "gradient_exchange"])
    if kind == "sgp" and r.random() < 0.4:
        s["graph"] = {"kind": "exponential", "directed": True}
    if kind == "sgp":
        s.update(one_peer=r.random() < 0.5, overlap=r.random() < 0.3)
    if kind == "gossip" and s["graph"] in ("ring", "complete", "exponential", "hypercube", "torus_2d") and r.random() < 0.4:
        s.update(one_peer=True, mixing="metropolis", lazy=False)
    if kind in ("gossip", "sgp") and not whole and not s.get("overlap") and r.random() < 0.3:
        s["bucket_size"] = r.choice(["64B", "1kB"])


def draw_compression(r, s, sharp, case):
    kind = s["kind"]
    shards = s.get("servers", 1) > 1 or s.get("reducers", 1) > 1 or kind == "byteps" or "bucket_size" in s
    # Gradients of two classes are each other's negatives, so that chance decides which of them is larger.
    pairs = case.get("classes") == 2 and case["model"]["kind"] in ("softmax_regression", "perceptron")
    s["compression"] = draw_code(r, kind, sharp, shards, pairs)
    for key in ("combiner", "algorithm", "micro_batches", "no_sync", "splits", "speculative"):
        s.pop(key, None)
    if kind in ("allreduce", "local_sgd"):
        s.pop("bucket_size", None)
    # The norms of qsgd are rounded up, where a sum of codes may be a single-precision number but for its last digit.
    whole_sums = s["compression"]["kind"] in ("top_k", "qsgd") or "scale" in s["compression"]
    if kind == "allreduce" and not whole_sums and r.random() < 0.4:
        s["codes"] = "reduce_scatter"
    if kind == "gossip":
        s.pop("bucket_size", None)  # codes of differences are of whole replicas
        s["update"] = r.choice(["combine_then_adapt", "adapt_then_combine"])
        s["consensus_step"] = r.choice([0.2, 0.5])


def draw_strategy(r, kind, ranks, whole, cut, sharp, case, listed):
    """whole: the optimizer needs all of a gradient at one place; sharp: some gradients are nothing but rounding, whose
    signs are chance."""
    s = {"kind": kind}
    if kind in SYNCHRONOUS:
        draw_synchronous(r, s, whole, ranks, cut)
    if kind in MIXED:
        draw_mixed(r, s, ranks, whole, case, "file_graph" not in listed or not cut)
    draw_alone(r, s, whole)
    # A worker alone sends nothing but to a server.
    several = ranks > 1 or s.get("servers") == 1 or s.get("reducers") == 1
    if kind in COMPRESSED and not cut and several and not whole and not s.get("one_peer") and r.random() < 0.3:
        draw_compression(r, s, sharp, case)
    elif (kind == "gossip" and s["update"] == "combine_then_adapt" and "bucket_size" not in s and r.random() < 0.3):
        s["overlap"] = True
    if not cut and ranks > 1 and kind in ("mapreduce", "parameter_server", "federated_averaging") and r.random() < 0.2:
        s["parameter_compression"] = draw_rounding(r)
        s.pop("splits", None)
        s.pop("speculative", None)
    reduces = (kind in ("mapreduce", "parameter_server", "federated_averaging") and s.get("combiner", True)
               and "splits" not in s and not case["model"].get("experts"))
    if reduces and not (s.get("compression") or {}).get("scale") and r.random() < 0.3:
        draw_reduce(r, s, ranks)
    if kind == "byteps" and not cut and ranks > 1 and r.random() < 0.2:
        s["answer_compression"] = draw_rounding(r)
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
        if r.random() < 0.3:
            p["balance"] = r.choice(["flops", "memory", "blocks"])
        if o["kind"] == "perceptron" and r.random() < 0.4:
            p = {"pipeline": 2, "data": 1, "schedule": r.choice(["pipedream", "pipedream_2bw"])}
            first = r.randint(1, len(o["hidden"]))
            p["stages"] = [float(first), float(len(o["hidden"]) + 1 - first)]
            if p["schedule"] == "pipedream_2bw":
                p["micro_batches"] = 2
        elif o["kind"] == "transformer" and p["pipeline"] == 2 and r.random() < 0.3:
            o["layers"] = 4
            p.update(schedule="interleaved_1f1b", chunks=2, micro_batches=2)
            p.pop("balance", None)
    if p.get("context", 1) * p.get("tensor", 1) > o.get("sequence", 8):
        p["sequence_parallel"] = False
    if r.random() < 0.3 and not p.get("schedule", "").startswith("pipedream"):
        order = ["tensor", "context", "expert", "data", "pipeline"]
        r.shuffle(order)
        p["order"] = order
    if p.get("tensor", 1) > 1 and p.get("balance", "flops") in ("flops", "blocks") and r.random() < 0.2:
        p["tensor_shares"] = "speed"
    while p["data"] > 1 and p["data"] * p.get("expert", 1) * p.get("micro_batches", 1) > case["rows"] // 2:
        p["data"] //= 2
    case["parallel"] = p
