#!/usr/bin/env python3
"""Draws scenarios, lets simgrad run them, and compares its results with those of timeline.py, to a relative 1e-6.

    tests/oracle/timeline_test.py --program build/simgrad --scenarios 20 --seed 1

Each scenario is one model on one cluster with several strategies. A difference is printed with the scenario's file and
what each side says; the exit code is then 1, and 77 if something is missing that the test needs. Differences that the
project knows stand in tests/known_faults.toml. Each has a scenario of its own (FAULTS below), which must still differ,
so that the line in the file is taken out once the fault is mended; in drawn scenarios it may show or not.
"""
import argparse
import json
import os
import random
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
try:
    import tomllib
    import timeline
except ImportError as missing:
    print(f"timeline_test: skipped, {missing}")
    sys.exit(77)

KNOWN_FAULTS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "known_faults.toml")
PREFIX = "timeline: "


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


def draw_scenario(draw, number):
    """A scenario and the text of its profile, if it has one."""
    devices = draw.choice([1, 1, 1, 2, 4])
    hosts = [1, 2, 2, 3, 4, 4, 5, 6, 7, 8] if devices == 1 else [1, 2, 2] + ([3] if devices == 2 else [])
    workers = devices * draw.choice(hosts)
    cluster = {"workers": workers, "speed": draw.choice(["1GF", "20GF"]),
               "bandwidth": draw.choice(["100Mbps", "1Gbps", "10Gbps"]), "latency": draw.choice(["5us", "50us", "1ms"])}
    if devices > 1:
        inner = draw.choice(["device", "nvlink"])
        cluster["topology"] = {"kind": "star" if inner == "device" else "gpu_hosts", "devices": devices,
                               inner + "_latency": "2us", inner + "_bandwidth": draw.choice(["2Gbps", "40Gbps"])}
        if inner == "nvlink":
            cluster["topology"]["nics"] = draw.choice([1, 2, devices])
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
    kind, profile, units = draw.choice(["profile", "profile", "perceptron", "transformer"]), None, 0
    if kind == "profile":
        profile, units = draw_profile(draw, draw.randint(1, 6))
        scenario["model"] = {"kind": "profile", "path": f"profile_{number}.csv"}
    elif kind == "perceptron":
        hidden = [draw.randint(1, 40) for _ in range(draw.randint(1, 4))]
        scenario["model"], units = {"kind": "perceptron", "hidden": hidden}, len(hidden) + 1
        training["numbers"] = draw.random() < 0.5
    else:
        heads = draw.choice([1, 2])
        scenario["model"] = {"kind": "transformer", "layers": draw.randint(1, 3), "heads": heads,
                             "hidden": heads * draw.choice([4, 8]), "sequence": draw.randint(3, 9),
                             "vocabulary": draw.randint(5, 200), "tied": draw.random() < 0.5}
        if draw.random() < 0.3:
            training["numbers"], vocabulary = True, scenario["model"].pop("vocabulary")
            scenario["data"] = {"source": "markov", "vocabulary": vocabulary, "samples": 480}
        units = scenario["model"]["layers"] + 2
    stages = draw.choice([stages for stages in range(1, 5) if workers % stages == 0])
    if 1 < stages <= units and workers > 1 and draw.random() < 0.6 and not scenario["model"].get("tied"):
        draw_pipeline(draw, scenario, stages, units)
    else:
        scenario["strategy"] = [draw_strategy(draw, scenario, place) for place in range(4)]
    return scenario, profile


def draw_pipeline(draw, scenario, stages, units):
    schedules = ["naive", "gpipe", "1f1b"] + (["interleaved_1f1b"] if units >= 2 * stages else [])
    schedule = draw.choice(schedules)
    pieces = stages * (2 if schedule == "interleaved_1f1b" else 1)
    cuts = [0] + sorted(draw.sample(range(1, units), pieces - 1)) + [units]
    parts = stages * draw.choice([1, 2]) if pieces > stages else draw.randint(1, 6)
    scenario["cluster"].pop("relative_speeds", None)
    scenario["training"]["batch_size_per_worker"] = parts
    scenario["parallel"] = {"pipeline": stages, "schedule": schedule, "micro_batches": parts,
                            "stages": [high - low for low, high in zip(cuts, cuts[1:])]}
    if draw.random() < 0.5:
        scenario["parallel"]["order"] = ["tensor", "pipeline", "data"]
    if pieces > stages:
        scenario["parallel"]["chunks"] = 2
    kind = draw.choice(["single", "allreduce"]) if scenario["cluster"]["workers"] == stages else "allreduce"
    scenario["strategy"] = [{"kind": kind, "label": schedule}]


def draw_strategy(draw, scenario, place):
    workers, devices = scenario["cluster"]["workers"], scenario["cluster"].get("topology", {}).get("devices", 1)
    kind = draw.choice(["single", "allreduce", "allreduce", "allreduce", "zero", "zero", "fsdp", "fsdp", "local_sgd",
                        "gossip", "parameter_server", "parameter_server"])
    strategy = {"kind": kind, "label": f"{kind} {place}"}
    bucket = f"{round(log_uniform(draw, 0.1, 500), 2)}kB"
    if kind == "allreduce":
        algorithms = ["ring", "ring", "recursive_doubling", "rabenseifner", "tree", "naive"]
        strategy["algorithm"] = draw.choice(algorithms + (["hierarchical"] if devices > 1 else []))
        if draw.random() < 0.6:
            strategy["bucket_size"] = bucket
    if kind == "zero":
        strategy["stage"] = draw.choice([1, 2, 3])
        if strategy["stage"] < 3 and draw.random() < 0.5:
            strategy["bucket_size"] = bucket
    if kind == "fsdp":
        strategy["reshard_after_forward"] = draw.random() < 0.7
        strategy["prefetch"] = draw.random() < 0.8
        if strategy["prefetch"]:
            strategy["limit"] = draw.choice([1, 1, 2, 3])
    splits = scenario["training"]["batch_size_per_worker"] % 2 == 0 and draw.random() < 0.4
    if kind in ("allreduce", "zero", "fsdp") and splits:
        strategy["micro_batches"], strategy["no_sync"] = 2, workers > 1 and draw.random() < 0.5
    if kind == "local_sgd":
        strategy["local_steps"] = draw.choice([1, 2])
    if kind == "gossip":
        strategy["graph"], strategy["overlap"] = draw.choice(["ring", "complete", "star"]), draw.random() < 0.5
    if kind == "parameter_server":
        strategy["servers"] = draw.choice([1, 1, 2, 3])
        if strategy["servers"] == 1 and scenario["cluster"].get("relative_speeds") and draw.random() < 0.5:
            strategy["consistency"] = "asp"
    return strategy


def simulate(program, folder, cases):
    """Runs all scenarios with one call; the results of each, and what the program said."""
    for name, (scenario, profile) in cases.items():
        with open(os.path.join(folder, f"{name}.toml"), "w") as file:
            file.write(text_of(scenario))
        if profile:
            with open(os.path.join(folder, scenario["model"]["path"]), "w") as file:
                file.write(profile)
    command = [program, "run", *(f"{name}.toml" for name in cases), "--out", "out", "--quiet", "--no-baseline",
               "--no-why", "--timelines", "0", "--jobs", "1", "--threads", "0"]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True)
    results = {}
    for name in cases:
        path = os.path.join(folder, "out", name, "results.json")
        if os.path.exists(path):
            with open(path) as file:
                results[name] = json.load(file)
    return results, done.stderr


# ------------------------------------------------------------------------------------------------------- known faults

def fault_scenario(layers, strategy, workers=2, model=None, **training):
    """A small scenario: layers as (parameters, forward flops, backward flops)."""
    lines = ["name,parameters,forward_flops,backward_flops,activation_bytes,entrance_bytes"]
    lines += [f"l{place},{layer[0]},{layer[1]},{layer[2]},80,80" for place, layer in enumerate(layers)]
    scenario = {"seed": 1, "cluster": {"workers": workers, "speed": "1GF", "bandwidth": "1Gbps", "latency": "50us"},
                "model": model or {"kind": "profile", "path": f"layers_{len(layers)}_{sum(l[0] for l in layers)}.csv"},
                "training": {"batch_size_per_worker": 2, "numbers": False} | training, "stop": {"steps": 1},
                "strategy": [strategy]}
    return scenario, None if model else "\n".join(lines) + "\n"


TIED = {"kind": "transformer", "layers": 2, "heads": 2, "hidden": 16, "sequence": 8, "vocabulary": 500, "tied": True}
EQUAL, EMPTY_FRONT = [(50000, 1e6, 2e6)] * 3, [(0, 1e6, 2e6), (50000, 1e6, 2e6), (60000, 1e6, 2e6)]
FAULTS = {
    "tied_gather": fault_scenario([], {"kind": "fsdp", "limit": 1}, model=TIED),
    "tied_gradient": fault_scenario([], {"kind": "allreduce"}, model=TIED),
    "empty_front": fault_scenario(EMPTY_FRONT, {"kind": "zero", "stage": 1}),
    "gathered_twice": fault_scenario(EQUAL, {"kind": "fsdp"}),
    "empty_units": fault_scenario([(50000, 1e6, 2e6), (0, 1e5, 2e5), (60000, 1e6, 2e6)], {"kind": "zero", "stage": 2}),
    "equal_additions": fault_scenario([(100000, 1e4, 2e4)] * 3, {"kind": "allreduce", "bucket_size": "1B",
                                                                "micro_batches": 2, "no_sync": True}, workers=8),
    "empty_tail": fault_scenario(EMPTY_FRONT, {"kind": "allreduce", "bucket_size": "1MB"}),
    "accumulators": fault_scenario([(90000, 1e6, 2e6), (500, 1e6, 2e6), (600, 1e6, 2e6)],
                                   {"kind": "fsdp", "limit": 1, "micro_batches": 2, "no_sync": True}),
}


def shows(fault, results, run, folder, what):
    """Whether a difference in `what` of a run may be this fault."""
    options = run["options"]
    layers = timeline.Training(results["scenario"], run["strategy"], options, folder).layers
    sharded = run["strategy"] == "fsdp" or options.get("stage") == 3
    accumulates = options.get("micro_batches", 1) > 1 and options.get("no_sync")
    memory, buckets = "memory_bytes" in what, run["strategy"] == "allreduce" and "bucket_size" in options
    return {
        "tied_gather": layers[-1].tied and sharded,
        "tied_gradient": layers[-1].tied and memory,
        "empty_front": options.get("stage") in (1, 2) and not layers[0].parameters and what == "status",
        "gathered_twice": sharded and options.get("limit", 2) > 1 and options.get("reshard_after_forward", True)
        and (memory or what == "simulated_s"),
        "empty_units": run["strategy"] in ("zero", "fsdp") and not all(layer.parameters for layer in layers)
        and (memory or what in ("simulated_s", "messages")),
        "equal_additions": buckets and accumulates and what == "simulated_s",
        "empty_tail": buckets and not layers[0].parameters and what == "simulated_s",
        "accumulators": sharded and accumulates and memory,
    }[fault]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--program", default=os.environ.get("SIMGRAD_PROGRAM"))
    # The gate, which takes a share of long tests, draws fewer.
    parser.add_argument("--scenarios", type=int, default=20 if os.environ.get("SIMGRAD_SHARE") else 120)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--keep", help="a folder in which scenarios and results are kept")
    options = parser.parse_args()
    if not options.program or not os.access(options.program, os.X_OK):
        print("timeline_test: skipped, no program: give --program or SIMGRAD_PROGRAM")
        sys.exit(77)
    with open(KNOWN_FAULTS, "rb") as file:
        listed = [fault["test"] for fault in tomllib.load(file).get("fault", [])]
    known = [name for name in FAULTS if PREFIX + name in listed]
    cases = {f"fault_{name}": case for name, case in FAULTS.items()}
    for number in range(options.scenarios):
        draw = random.Random(options.seed * 1000003 + number)
        cases[f"drawn_{options.seed}_{number}"] = draw_scenario(draw, number)
    with tempfile.TemporaryDirectory() as temporary:
        folder = os.path.abspath(options.keep or temporary)
        os.makedirs(folder, exist_ok=True)
        results, said = simulate(os.path.abspath(options.program), folder, cases)
        wrong = compare_all(cases, results, folder, known, said)
    sys.exit(1 if wrong else 0)


def compare_all(cases, results, folder, known, said):
    """Prints the differences, and counts the scenarios that have some which nobody knows."""
    wrong, compared, excused = 0, 0, 0
    if len(results) < len(cases):
        print(said)
    for name, (scenario, profile) in cases.items():
        if name not in results:
            wrong += 1
            print(f"--- {name}: simgrad wrote no results")
            continue
        compared += sum(not timeline.not_covered(results[name]["scenario"], run) for run in results[name]["runs"])
        lines, shown = [], set()
        for run, what, found, expected in timeline.compare(results[name], folder):
            faults = [fault for fault in known if shows(fault, results[name], run, folder, what)]
            shown.update(faults)
            if faults:
                excused += 1
                continue
            ratio = "" if isinstance(found, str) else f", ratio {found / expected if expected else 'inf'}"
            lines.append(f"{name}: {run['label']}: {what}: simgrad says {found}, the oracle {expected}{ratio}")
        fault = name.removeprefix("fault_")
        if fault in known and fault not in shown:
            lines.append(f"{PREFIX}{fault} is mended: take it out of tests/known_faults.toml")
        if lines:
            wrong += 1
            print(f"--- {name}\n{text_of(scenario)}{profile or ''}" + "\n".join(lines))
    print(f"{len(cases)} scenarios, {compared} runs; {wrong} scenarios differ in what is not known, "
          f"{excused} numbers by known faults")
    return wrong


if __name__ == "__main__":
    main()
