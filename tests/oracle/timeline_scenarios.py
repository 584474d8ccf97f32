"""Scenarios for timeline_test.py: drawn ones, and one of each fault that the timeline knows how to imitate."""
import json
from math import lcm


def toml(value):
    if isinstance(value, dict):
        return "{ " + ", ".join(f"{key} = {toml(entry)}" for key, entry in value.items()) + " }"
    if isinstance(value, list):
        return "[" + ", ".join(toml(entry) for entry in value) + "]"
    return json.dumps(value)


def text_of(scenario):
    """A scenario of one level of tables as a TOML file."""
    lines = [f"seed = {scenario['seed']}"]
    for section, entries in scenario.items():
        for table in entries if isinstance(entries, list) else [entries]:
            if isinstance(table, dict):
                lines.append(f"[[{section}]]" if isinstance(entries, list) else f"[{section}]")
                lines += [f"{key} = {toml(value)}" for key, value in table.items()]
    return "\n".join(lines) + "\n"


def log_uniform(draw, low, high):
    return low * (high / low) ** draw.random()


def draw_profile(draw, layers):
    """A model as a table of unlike layers, some of them without parameters, some of them in one unit with the next."""
    lines, unit = ["name,parameters,forward_flops,backward_flops,activation_bytes,entrance_bytes,unit"], 0
    spared = draw.randrange(layers)
    for layer in range(layers):
        parameters = round(log_uniform(draw, 10 if layer == spared else 1, 2e5))
        if layer != spared and draw.random() < 0.2:
            parameters = 0
        unit += layer > 0 and draw.random() < 0.7
        numbers = [round(log_uniform(draw, 1e4, 1e7)) for _ in range(2)]
        numbers += [round(log_uniform(draw, 8, 1e5)), 8 * round(log_uniform(draw, 1, 1e3))]
        lines.append(f"l{layer},{parameters},{','.join(str(number) for number in numbers)},{unit}")
    return "\n".join(lines) + "\n", unit + 1


def draw_cluster(draw, workers, devices):
    cluster = {"workers": workers, "speed": draw.choice(["1GF", "20GF"]),
               "bandwidth": draw.choice(["100Mbps", "1Gbps", "10Gbps"]), "latency": draw.choice(["5us", "50us", "1ms"])}
    draw_cables(draw, cluster, workers, devices)
    draw_messages(draw, cluster)
    return cluster


def draw_cables(draw, cluster, workers, devices):
    if devices > 1:
        inner = draw.choice(["device", "nvlink"])
        cluster["topology"] = {"kind": "star" if inner == "device" else "gpu_hosts", "devices": devices,
                               inner + "_latency": "2us", inner + "_bandwidth": draw.choice(["2Gbps", "40Gbps"])}
        if inner == "nvlink":
            cluster["topology"]["nics"] = draw.choice([1, 2, devices])
    elif draw.random() < 0.5:
        hosts = draw.randint(1, 4)
        sites = [{"name": f"site{site}", "hosts": size, "bandwidth": "500Mbps", "latency": "20us"}
                 for site, size in enumerate([-(-workers // 2), workers // 2 + 3])]
        cluster["topology"] = draw.choice([
            {"kind": "two_tier", "hosts_per_rack": hosts, "oversubscription": draw.choice([1, 1.5, 4])},
            {"kind": "fat_tree", "link_bandwidth": "300Mbps"}, {"kind": "torus"}, {"kind": "ring"},
            {"kind": "torus", "shape": [2, 3, 2]}, {"kind": "shared_memory"},
            {"kind": "wan", "sites": sites, "bandwidth": "80Mbps", "latency": "3ms"}])


def draw_messages(draw, cluster):
    """What makes messages unlike those of the ideal network."""
    if draw.random() < 0.15:
        cluster["efficiency"] = 0.8
    if draw.random() < 0.15 and "topology" not in cluster:
        cluster["slow_links"] = [{"link": "nic-0", "factor": draw.choice([0.1, 0.5])}]
    if cluster.get("topology", {}).get("kind") == "shared_memory":
        return
    if draw.random() < 0.15:
        cluster["network_model"] = "ethernet"
        cluster["window"] = draw.choice(["4KiB", "4MiB"])
        cluster["frame"] = draw.choice(["standard", "jumbo"])
        cluster["initial_window"] = draw.choice([0, 1, 10, 10, 40])
        if draw.random() < 0.5:
            cluster["idle_time"] = draw.choice(["1ms", "50ms"])
    if draw.random() < 0.15:
        rows = [{"from": "0B", "latency": 1.5, "bandwidth": 0.7}, {"from": "3kB", "latency": 3, "bandwidth": 0.9}]
        cluster["protocol"] = draw.choice(["smpi", "nccl", {"kind": "table", "rows": rows}])
    if draw.random() < 0.1:
        cluster["flow_limit"] = "70Mbps"


def draw_scenario(draw, number):
    """A scenario and the text of its profile, if it has one."""
    devices = draw.choice([1, 1, 1, 2, 4])
    hosts = [1, 2, 2, 3, 4, 4, 5, 6, 7, 8] if devices == 1 else [1, 2, 2] + ([3] if devices == 2 else [])
    workers = devices * draw.choice(hosts)
    cluster = draw_cluster(draw, workers, devices)
    if draw.random() < 0.2:
        cluster["collectives"] = "messages"
    if draw.random() < 0.4:
        cluster["relative_speeds"] = [round(draw.uniform(0.5, 1.5), 3) for _ in range(workers)]
    training = {"batch_size_per_worker": draw.choice([1, 2, 4, 6]), "desynchronise": 0, "numbers": False,
                "optimizer": draw.choice(["sgd", "momentum", "adam"]), "learning_rate": 0.001}
    if draw.random() < 0.3:
        training["precision"] = "float32"
    scenario = {"seed": number + 1, "cluster": cluster, "data": {"source": "house_prices", "samples": 480},
                "training": training, "stop": {"steps": draw.choice([1, 2, 3])}}
    kind, profile, units = draw.choice(["profile", "profile", "perceptron", "transformer", "transformer"]), None, 0
    if kind == "profile":
        profile, units = draw_profile(draw, draw.randint(1, 6))
        scenario["model"] = {"kind": "profile", "path": f"profile_{number}.csv"}
    elif kind == "perceptron":
        hidden = [draw.randint(1, 40) for _ in range(draw.randint(1, 4))]
        scenario["model"], units = {"kind": "perceptron", "hidden": hidden}, len(hidden) + 1
        training["numbers"] = draw.random() < 0.5
    else:
        scenario["model"] = draw_transformer(draw, scenario, workers)
        units = scenario["model"]["layers"] + 2
    stages = draw.choice([stages for stages in range(1, 5) if workers % stages == 0])
    whole = "parallel" not in scenario and not (
        scenario["model"].get("tied") or scenario["model"].get("experts"))
    if whole and 1 < stages <= units and workers > 1 and draw.random() < 0.7:
        draw_pipeline(draw, scenario, stages, units)
    else:
        scenario["strategy"] = [draw_strategy(draw, scenario, place) for place in range(4)]
    if scenario["cluster"]["workers"] > 1 and draw.random() < 0.25:
        draw_crashes(draw, scenario)
    return scenario, profile


def draw_transformer(draw, scenario, workers):
    """A transformer, and perhaps the ranks that share its products, its sequences or its experts."""
    heads, cut = draw.choice([1, 2]), draw.choice(["tensor", "tensor", "context", "expert", "none"])
    sizes = {cut: draw.choice([size for size in range(1, workers + 1) if workers % size == 0])}
    if cut in ("tensor", "none"):
        sizes = {"tensor": 2} if cut == "tensor" and heads == 2 and workers % 2 == 0 else {}
    if sizes:
        scenario["parallel"] = sizes
        if draw.random() < 0.4:
            order = ["tensor", "context", "expert", "data", "pipeline"]
            scenario["parallel"]["order"] = draw.sample(order, len(order))
    model = {"kind": "transformer", "layers": draw.randint(1, 3), "heads": heads, "hidden": heads * draw.choice([4, 8]),
             "sequence": sizes.get("context", 1) * draw.randint(3, 9), "tied": draw.random() < 0.5,
             "vocabulary": sizes.get("tensor", 1) * draw.randint(5, 200)}
    if "expert" in sizes:
        experts = sizes["expert"] * draw.randint(2, 3)
        model |= {"experts": experts, "top_k": draw.randint(1, 2), "capacity_factor": draw.choice([1, 1.25, 2]),
                  "expert_every": draw.randint(1, min(2, model["layers"])), "pad_experts": draw.random() < 0.3}
    elif draw.random() < 0.3:
        scenario["training"]["numbers"], vocabulary = True, model.pop("vocabulary")
        scenario["data"] = {"source": "markov", "vocabulary": vocabulary, "samples": 480}
    return model


def draw_crashes(draw, scenario):
    """Hosts crash at some times; strategies whose way back the timeline does not know are left out."""
    cluster = scenario["cluster"]
    workers, plain = cluster["workers"], not {"topology", "relative_speeds", "slow_links"} & set(cluster)
    recoveries = ["restart"] + (["wait"] if plain else []) + (["shrink"] if plain and 2 < workers < 5 else [])
    recovery = draw.choice(recoveries)
    kinds = ("allreduce", "zero", "fsdp", "local_sgd") if recovery == "restart" else ("allreduce",)
    left = [strategy for strategy in scenario["strategy"] if strategy["kind"] in kinds]
    if not left or "parallel" in scenario:
        return
    if recovery == "shrink":  # equal parts of a batch for each number of workers that may be left
        scenario["training"]["batch_size_per_worker"] = 6
    at, crashes = log_uniform(draw, 50, 2e5), []
    for rank in draw.sample(range(workers), min(draw.choice([1, 1, 2, 3]), workers - (recovery == "shrink"), 3)):
        crashes.append({"rank": rank, "at": f"{at:.0f}us", "repair": draw.choice(["1ms", "30ms"])})
        at += log_uniform(draw, 500, 1e5)
    cluster["failures"] = {"crash": crashes, "detection": "9ms", "restart_time": draw.choice(["0s", "4ms"]),
                           "recovery": recovery}
    scenario["strategy"] = left


def draw_pipeline(draw, scenario, stages, units):
    schedules = ["naive", "gpipe", "1f1b", "zb_h1", "zb_h2", "pipedream", "pipedream", "pipedream_2bw"]
    schedules += ["interleaved_1f1b"] * 2 if units >= 2 * stages else []
    schedule = draw.choice(schedules)
    chunks = draw.randint(2, min(units // stages, 3)) if schedule == "interleaved_1f1b" else 1
    pieces = stages * chunks
    cuts = [0] + sorted(draw.sample(range(1, units), pieces - 1)) + [units]
    parts = stages * draw.choice([1, 2]) if pieces > stages else draw.randint(1, 6)
    scenario["cluster"].pop("relative_speeds", None)
    scenario["training"]["batch_size_per_worker"] = parts
    scenario["parallel"] = {
        "pipeline": stages, "schedule": schedule, "micro_batches": parts,
        "stages": [high - low for low, high in zip(cuts, cuts[1:])]}
    if schedule == "pipedream_2bw":
        parts = scenario["training"]["batch_size_per_worker"] = scenario["parallel"]["micro_batches"] = stages + parts
    if schedule.startswith("pipedream"):  # of several replicas of such stages the timeline knows nothing
        scenario["stop"]["steps"] = 12
        if "devices" not in scenario["cluster"].get("topology", {}):
            scenario["cluster"]["workers"] = stages
    free = not {"devices", "sites"} & set(scenario["cluster"].get("topology", {}))  # for any number of workers
    unlike = schedule == "pipedream" and free and draw.random() < 0.6
    if schedule == "pipedream":
        del scenario["parallel"]["micro_batches"]
    if unlike:
        replicas = scenario["parallel"]["stage_replicas"] = [draw.randint(1, 3) for _ in range(stages)]
        scenario["cluster"] |= {"workers": sum(replicas), "collectives": "messages"}
        scenario["training"]["batch_size_per_worker"] = lcm(*replicas)
    elif draw.random() < 0.5:
        scenario["parallel"]["order"] = draw.choice([["tensor", "pipeline", "data"], ["pipeline", "data", "tensor"],
                                                     ["data", "tensor", "pipeline"]])
    if pieces > stages:
        scenario["parallel"]["chunks"] = chunks
    alone = scenario["cluster"]["workers"] == stages and not unlike
    kind = draw.choice(["single", "allreduce"]) if alone else "allreduce"
    at_once = {} if kind == "single" else {"bucket_size": "none"}
    scenario["strategy"] = [around_a_ring({"kind": kind, "label": schedule} | at_once)]


def around_a_ring(strategy):
    """The strategy; where nothing says how its sums are made, they go around a ring."""
    return {"algorithm": "ring"} | strategy if strategy["kind"] in ("allreduce", "local_sgd") else strategy


def draw_strategy(draw, scenario, place):
    workers, devices = scenario["cluster"]["workers"], scenario["cluster"].get("topology", {}).get("devices", 1)
    kinds, cut = ["allreduce", "allreduce", "allreduce", "local_sgd"], "parallel" in scenario
    if not cut:
        kinds += ["zero", "zero", "fsdp", "fsdp", "single", "gossip", "parameter_server", "parameter_server"]
    kind = draw.choice(kinds)
    strategy = {"kind": kind, "label": f"{kind} {place}"}
    bucket = f"{round(log_uniform(draw, 0.1, 500), 2)}kB"
    if kind == "allreduce":
        algorithms = ["ring", "ring", "recursive_doubling", "rabenseifner", "tree", "naive",
                      {"kind": "bcube", "base": draw.randint(2, 5)}]
        if devices > 1 and not cut:
            algorithms += ["hierarchical", {"kind": "ring", "rings": draw.choice([1, 2, 3])}]
        strategy["algorithm"] = draw.choice(algorithms)
        if cut:
            strategy["bucket_size"] = "none"
        elif draw.random() < 0.6:
            strategy["bucket_size"] = bucket
    if kind == "zero":
        strategy["stage"] = draw.choice([1, 2, 3])
        if strategy["stage"] < 3:
            strategy["bucket_size"] = draw.choice([bucket, bucket, "none", "1GB"])
    if kind == "fsdp":
        strategy["reshard_after_forward"] = draw.random() < 0.7
        strategy["prefetch"] = draw.random() < 0.8
        if strategy["prefetch"]:
            strategy["limit"] = draw.choice([1, 1, 2, 3])
    if kind in ("zero", "fsdp") and devices > 1 and draw.random() < 0.3:
        strategy["rings"] = draw.choice([1, 2, 3])
    splits = scenario["training"]["batch_size_per_worker"] % 2 == 0 and draw.random() < 0.4
    if kind in ("allreduce", "zero", "fsdp") and splits:
        once = workers > 1 and draw.random() < 0.5
        if "parallel" not in scenario:
            strategy["micro_batches"], strategy["no_sync"] = 2, once
    if kind == "local_sgd":
        strategy["local_steps"] = draw.choice([1, 2])
    if kind == "gossip":
        strategy["graph"], strategy["overlap"] = draw.choice(["ring", "complete", "star"]), draw.random() < 0.5
        strategy["one_peer"] = strategy["graph"] != "star" and draw.random() < 0.5
    if kind == "parameter_server":
        strategy["servers"] = draw.choice([1, 1, 2, 3])
        if strategy["servers"] == 1 and scenario["cluster"].get("relative_speeds") and draw.random() < 0.5:
            strategy["consistency"] = "asp"
    return around_a_ring(strategy)


def fault_scenario(layers, strategy, workers=2, model=None, parallel=None, steps=1, cluster=(), **training):
    """A small scenario: layers as (parameters, forward flops, backward flops)."""
    lines = ["name,parameters,forward_flops,backward_flops,activation_bytes,entrance_bytes"]
    lines += [f"l{place},{layer[0]},{layer[1]},{layer[2]},80,80" for place, layer in enumerate(layers)]
    path = f"layers_{sum(layer[0] for layer in layers)}_{sum(layer[2] for layer in layers):.0f}.csv"
    scenario = {"seed": 1, "cluster": {"workers": workers, "speed": "1GF", "bandwidth": "1Gbps", "latency": "50us"}
                | dict(cluster),
                "model": model or {"kind": "profile", "path": path},
                "training": {"batch_size_per_worker": 2, "numbers": False} | training, "stop": {"steps": steps},
                "strategy": [around_a_ring(strategy)]} | ({"parallel": parallel} if parallel else {})
    return scenario, None if model else "\n".join(lines) + "\n"


TIED = {"kind": "transformer", "layers": 2, "heads": 2, "hidden": 16, "sequence": 8, "vocabulary": 500, "tied": True}
AT_ONCE = {"kind": "allreduce", "bucket_size": "none"}
EQUAL, EMPTY_FRONT = [(50000, 1e6, 2e6)] * 3, [(0, 1e6, 2e6), (50000, 1e6, 2e6), (60000, 1e6, 2e6)]
FAULTS = {
    "tied_gather": fault_scenario([], {"kind": "fsdp", "limit": 1}, model=TIED),
    "tied_gradient": fault_scenario([], {"kind": "allreduce"}, model=TIED),
    "empty_front": fault_scenario(EMPTY_FRONT, {"kind": "zero", "stage": 1, "bucket_size": "none"}),
    "gathered_twice": fault_scenario(EQUAL, {"kind": "fsdp"}),
    "empty_units": fault_scenario([(50000, 1e6, 2e6), (0, 1e5, 2e5), (60000, 1e6, 2e6)],
                                  {"kind": "zero", "stage": 2, "bucket_size": "none"}),
    "sums_of_nothing": fault_scenario([(0, 1e4, 2e4), (5000, 1e4, 2e4), (0, 1e4, 2e4), (6000, 1e4, 2e4)],
                                      {"kind": "fsdp"}),
    "equal_additions": fault_scenario([(100000, 1e4, 2e4)] * 3, {"kind": "allreduce", "bucket_size": "1B",
                                                                "micro_batches": 2, "no_sync": True}, workers=8),
    "empty_tail": fault_scenario(EMPTY_FRONT, {"kind": "allreduce", "bucket_size": "1MB"}),
    "weightless": fault_scenario([(5000, 1e6, 2e6), (0, 1e6, 4e6)], AT_ONCE,
                                 parallel={"pipeline": 2, "schedule": "zb_h1", "micro_batches": 2, "stages": [1, 1]}),
    "unlike_routes": fault_scenario([(6000, 2e4, 6e4), (10, 4e4, 1.9e5), (4000, 2e2, 4e2)], AT_ONCE,
                                    workers=6, cluster={"topology": "torus"}, batch_size_per_worker=6,
                                    parallel={"pipeline": 3, "micro_batches": 6, "stages": [1, 1, 1]}),
    "sums_by_part": fault_scenario([], AT_ONCE, workers=4, parallel={"context": 2},
                                   model=TIED | {"tied": False}),
    "scores_in_two_pieces": fault_scenario(
        [], AT_ONCE | {"algorithm": "naive"}, workers=8, parallel={"context": 4}, steps=3, batch_size_per_worker=1,
        model={"kind": "transformer", "layers": 2, "heads": 2, "hidden": 8, "sequence": 12, "vocabulary": 96,
               "tied": False},
        cluster={"slow_links": [{"link": "nic-0", "factor": 0.5}],
                 "relative_speeds": [0.915, 0.53, 0.635, 0.959, 1.223, 1.395, 1.127, 0.886]}),
    "products_first": fault_scenario(
        [], AT_ONCE, workers=4, parallel={"expert": 4},
        model={"kind": "transformer", "layers": 1, "heads": 2, "hidden": 16, "sequence": 32, "vocabulary": 50,
               "tied": False, "experts": 4, "top_k": 1},
        cluster={"speed": "100MF", "relative_speeds": [0.2, 0.5, 0.5, 0.5],
                 "slow_links": [{"link": "nic-2", "factor": 0.02}]}),
    "late_gradients": fault_scenario([(10, 1e6, 2e6), (10, 1e4, 2e4)], {"kind": "single"},
                                     parallel={"pipeline": 2, "schedule": "pipedream", "stages": [1, 1]}, steps=6),
    "whole_at_once": fault_scenario([(size, 1e6, 2e6) for size in (440, 1435, 180, 234, 40)],
                                    {"kind": "fsdp", "micro_batches": 2, "no_sync": True}),
    "accumulators": fault_scenario([(90000, 1e6, 2e6), (500, 1e6, 2e6), (600, 1e6, 2e6)],
                                   {"kind": "fsdp", "limit": 1, "micro_batches": 2, "no_sync": True}),
}
