#!/usr/bin/env python3
"""An independent timeline of distributed training, to hold simgrad's results against.

This program was written without reading simgrad's source (src/) or its C++ tests. It knows the format of a resolved
scenario and of results.json, the pages under docs/, what `simgrad explain` says, and these published descriptions:

* S. Li et al., PyTorch Distributed: Experiences on Accelerating Data Parallel Training, 2020 (buckets of DDP);
* Y. Zhao et al., PyTorch FSDP: Experiences on Scaling Fully Sharded Data Parallel, 2023 (gather, read, free by unit);
* S. Rajbhandari et al., ZeRO: Memory Optimizations Toward Training Trillion Parameter Models, 2020 (stages 1 and 2);
* R. Thakur, R. Rabenseifner, W. Gropp, Optimization of Collective Communication Operations in MPICH, 2005, and
  P. Patarasuk, X. Yuan, Bandwidth Optimal All-reduce Algorithms for Clusters of Workstations, 2009 (collectives);
* X. Jia et al., Highly Scalable Deep Learning Training System with Mixed-Precision, 2018 (hierarchical sums);
* Y. Huang et al., GPipe, 2019, and D. Narayanan et al., Memory-Efficient Pipeline-Parallel DNN Training, 2021 (1F1B);
* M. Li et al., Scaling Distributed Machine Learning with the Parameter Server, 2014;
* X. Lian et al., Can Decentralized Algorithms Outperform Centralized Algorithms?, 2017 (gossip);
* S. U. Stich, Local SGD Converges Fast and Communicates Little, 2019;
* V. Korthikanti et al., Reducing Activation Recomputation in Large Transformer Models, 2023 (layers, activations);
* M. Shoeybi et al., Megatron-LM: Training Multi-Billion Parameter Language Models Using Model Parallelism, 2019;
* H. Liu et al., Ring Attention with Blockwise Transformers for Near-Infinite Context, 2023;
* D. Lepikhin et al., GShard: Scaling Giant Models with Conditional Computation and Automatic Sharding, 2021;
* P. Qi et al., Zero Bubble Pipeline Parallelism, 2024 (backward passes in two halves);
* C. Guo et al., BCube: A High Performance, Server-centric Network Architecture, 2009;
* D. Bertsekas, R. Gallager, Data Networks, 1992 (max-min fair rates).

A rank is a Python generator that yields the events for which it waits (strategies.py, collectives.py). Messages are
rendezvous: a transfer begins when both ends have called, pays its route's latency without using bandwidth, and then
shares links max-min fairly (fluid.py). A ledger of each rank's memory refuses to read what is not resident. Hosts and
links are in cables.py, the ranks of a cut model in meshes.py, what they send each other in exchanges.py, and lost hosts
in crashes.py. known.py has the names of simgrad's faults that are imitated on request. This file has a model's layers,
what is covered, and the comparison of

    tests/oracle/timeline.py out/NAME/results.json [folder of the scenario's files]

to a relative 1e-6: simulated time, bytes in all, by rank and by link, messages, and the peaks of ranks' memory where
replicas or shards of them are trained. Where a published description leaves something open (which chunk of a vector is
the longer one, which rank beyond a power of two waits for which, when a buffer is freed) the choice is the one that
simgrad's pages or results show; a comment says so where it is more than a name.
"""
import csv
import json
import os
import sys

import crashes
from cables import KINDS, Cables, quantity
from collectives import ALLREDUCES, kind_of
from fluid import Clock, Ledger, StopTraining
from known import FAULTS
from meshes import Mesh, cut_transformer
from strategies import PROGRAMS, SCHEDULES, pipeline_stage

NUMBER_BYTES = {"float64": 8, "float32": 4, "float16": 2, "bfloat16": 2}
UPDATE_FLOPS = {"sgd": 2, "momentum": 4, "nesterov": 6, "adam": 13, "adamw": 14}
MODELS = ("profile", "perceptron", "transformer")
OPTIMIZER_VECTORS = {"sgd": 0, "momentum": 1, "nesterov": 1, "adam": 2, "adamw": 2}


class Layer:
    """Parameters, and for one sample: flops forward and backward, bytes that are kept, bytes that come in.

    `loss` is the bytes of the gradient of the logits, which is in memory during the backward pass: PyTorch gives a
    gradient the format of its tensor, which is float32 where a loss is computed.

    `weights` is the share of the backward pass that the gradients of the weights take: a half in products of an input
    and a weight, all of it where nobody asks for the gradient of the input, and nothing where there are no weights.
    """

    def __init__(self, unit, parameters, forward, backward, kept, entrance=0, tied=0, weights=0.5):
        self.unit, self.parameters, self.forward, self.backward = unit, parameters, forward, backward
        self.kept, self.entrance, self.tied, self.loss = kept, entrance, tied, 0
        self.weights, self.sums = weights, {"forward": (), "backward": ()}
        self.part, self.exchanges = unit, {"forward": ([], []), "backward": ([], [])}
        self.scores = self.keys = self.routed = 0  # of ranks that share sequences or experts


def profile_layers(path):
    with open(path, newline="") as file:
        rows = list(csv.DictReader(file))

    def share_of_weights(parameters, forward, backward):
        """A table does not say it; products have twice the work of the forward pass, those at the entrance as much."""
        if not parameters and "weightless" not in FAULTS:
            return 0
        return 0.5 if backward > 1.5 * forward else 1
    layers = []
    for place, row in enumerate(rows):
        numbers = int(float(row["parameters"])), float(row["forward_flops"]), float(row["backward_flops"])
        layers.append(Layer(row.get("unit") or f"{place} {row['name']}", *numbers,
                            float(row.get("activation_bytes") or 0), float(row.get("entrance_bytes") or 0),
                            weights=share_of_weights(*numbers)))
    return layers


def perceptron_layers(model, features, number):
    widths = [features] + [int(width) for width in model["hidden"]] + [1]
    return [Layer(str(place), (inputs + model["bias"]) * outputs, 2 * inputs * outputs,
                  (4 if place else 2) * inputs * outputs, inputs * number, inputs * number, 0, 0.5 if place else 1)
            for place, (inputs, outputs) in enumerate(zip(widths, widths[1:]))]


def bucketed(options):
    return options.get("bucket_size", "none") != "none"


def not_covered(scenario, run):
    """What a scenario or a run asks for that this timeline does not know; nothing is compared then."""
    expected = {
        "cluster": {"device": "none", "stragglers": "none", "jitter": "none", "background": [], "hosts": [],
                    "overlap_slowdown": 0, "charge_reductions": True, "platform": None},
        "training": {"input": {"from": "memory", "cache": False, "flops_per_sample": 0.0}, "recompute": "none",
                     "checkpoint_every_steps": 0, "clip_norm": None},
        "parallel": {"sequence_parallel": False, "scatter_gather": False, "automatic": False,
                     "copies": "none", "tensor_shares": "equal", "refresh_every": 1},
        "model": {"preset": "none", "config": "", "gated": False, "expert_skew": 1, "bias": True, "qkv_biases": False,
                  "norm": "layer_norm", "positions": "learned", "embedding_norm": False, "fused_attention": False,
                  "timed_as": "itself", "kv_heads": None},
        "topology": {"slice": [], "routing": "destination"},
        "options": {"compression": "none", "parameter_compression": "none", "hosts_first": False, "offload": "none",
                    "shard_group": None, "placement": "dedicated", "sharding": "range", "backup_workers": 0,
                    "k_batch": None, "reduce": "mean", "lazy": False, "update": "combine_then_adapt",
                    "synchronous_steps": 0, "slow_momentum": 0, "optimizer_memory": "keep"}}
    topology = scenario["cluster"]["topology"]
    sections = scenario | run | {"topology": topology if isinstance(topology, dict) else {}}
    problems = [f"{section}.{key}" for section, values in expected.items() for key, value in values.items()
                if kind_of(sections.get(section, {}).get(key, value)) != kind_of(value)]
    kinds = {"strategy": (run["strategy"], PROGRAMS), "model": (kind_of(scenario["model"]), MODELS),
             "network": (scenario["cluster"]["network_model"], ("ideal", "ethernet")),
             "topology": (kind_of(topology), KINDS),
             "precision": (scenario["training"]["precision"], ("float64", "float32")),
             "optimizer": (kind_of(scenario["training"]["optimizer"]), UPDATE_FLOPS),
             "algorithm": (kind_of(run["options"].get("algorithm", "ring")), ALLREDUCES),
             "consistency": (run["options"].get("consistency", "bsp"), ("bsp", "asp")),
             "graph": (kind_of(run["options"].get("graph", "ring")), ("ring", "complete", "star"))}
    problems += [f"{what} {kind}" for what, (kind, known) in kinds.items() if kind not in known]
    algorithm = run["options"].get("algorithm", "ring")
    problems += ["slices"] if isinstance(algorithm, dict) and algorithm.get("slices", 1) > 1 else []
    if "batch_size_per_worker" not in scenario["training"] or "steps" not in scenario["stop"]:
        problems.append("a batch or a number of steps that is not given")
    if run["strategy"] not in ("allreduce", "zero") and bucketed(run["options"]):
        problems.append("buckets of " + run["strategy"])
    if run["options"].get("consistency") == "asp" and scenario["training"]["desynchronise"]:
        problems.append("training.desynchronise")
    pipeline = scenario["parallel"]
    sharers = pipeline["context"] * pipeline["expert"]
    if pipeline["tensor"] * sharers > 1:
        # Of zero, fsdp and buckets in a mesh no publication says when their sums begin beside those of the passes, and
        # of a pipeline's hops not how they meet these. A run may say in a note that it leaves such meetings out.
        known = kind_of(scenario["model"]) == "transformer" and run["strategy"] in ("single", "allreduce", "local_sgd")
        apart = any("messages of a rank were on a link of its collectives" in note for note in run["notes"])
        if not known or bucketed(run["options"]) or apart or pipeline["pipeline"] > 1:
            problems.append("ranks that share layers, of this kind")
        several = pipeline["tensor"] > 1 or 1 < pipeline["expert"] < sharers
        if sharers > 1 and (several or run["options"].get("micro_batches", 1) > 1):
            problems.append("ranks that share sequences or experts, of this kind")
    if scenario["model"].get("experts", 0) and pipeline["tensor"] * pipeline["context"] * pipeline["pipeline"] > 1:
        problems.append("experts of a cut model")
    if pipeline["pipeline"] > 1 and not (pipeline["stages"] and run["strategy"] in ("single", "allreduce")
                                         and pipeline["schedule"] in SCHEDULES and not bucketed(run["options"])):
        problems.append("a pipeline of this kind")
    if pipeline["pipeline"] > 1 and pipeline["schedule"].startswith("pipedream"):
        if pipeline["pipeline"] * pipeline["tensor"] < run["workers"] and not pipeline["stage_replicas"]:
            problems.append("replicas of stages that update by themselves")
        if scenario["stop"]["steps"] < 3 * pipeline["pipeline"]:
            problems.append("PipeDream's memory where its first and last steps are all there is")
    return problems + crashes.not_covered(scenario, run)


class Training:
    """A resolved scenario's run of one strategy: hosts, links, layers, and the ranks' programs."""

    def __init__(self, scenario, kind, options, folder):
        cluster, training = scenario["cluster"], scenario["training"]
        self.clock, self.kind, self.options = Clock(), kind, options
        self.parallel, self.steps = scenario["parallel"], scenario["stop"]["steps"]
        self.workers = 1 if kind == "single" and Mesh(self.parallel, 1).cut == 1 else cluster["workers"]
        self.mesh = Mesh(self.parallel, self.workers)
        algorithm = options.get("algorithm")
        self.base = algorithm.get("base", 4) if isinstance(algorithm, dict) else 4
        self.bucket = quantity(options["bucket_size"]) if bucketed(options) else None
        servers = options.get("servers", 1) if kind == "parameter_server" else 0
        self.ranks = self.workers + servers
        relative = cluster["relative_speeds"] + [1.0] * self.ranks
        self.speeds = [quantity(cluster["speed"]) * relative[rank] for rank in range(self.workers)]
        self.speeds += [quantity(cluster["speed"])] * servers
        self.number = NUMBER_BYTES[training["precision"]]
        self.wire = self.number if training["wire"] == "precision" else NUMBER_BYTES[training["wire"]]
        self.update_flops = UPDATE_FLOPS[kind_of(training["optimizer"])]
        self.vectors = OPTIMIZER_VECTORS[kind_of(training["optimizer"])]
        sharers = self.mesh.sizes["data"] * self.mesh.sizes["expert"]
        self.rows = training["batch_size_per_worker"] * cluster["workers"] // sharers
        self.layers = self.layers_of(scenario, folder)
        self.parameters = sum(layer.parameters for layer in self.layers)
        self.cables = Cables(cluster, self.workers, self.ranks)
        self.hosts, self.cards, self.devices = self.cables.hosts, self.cables.cards, self.cables.devices
        self.twins = {}
        self.clock.capacity, self.clock.message = self.cables.capacity, self.message
        self.clock.connections = self.cables.connections(cluster)
        self.ledgers = [Ledger() for _ in range(self.ranks)]
        self.finished, self.ended, self.ends, self.ended_at = 0.0, None, [], {}

    def layers_of(self, scenario, folder):
        model = scenario["model"]
        if model["kind"] == "profile":
            return profile_layers(os.path.join(folder, model["path"]))
        if model["kind"] == "perceptron":
            return perceptron_layers(model, scenario["data"].get("features", 10), self.number)
        tokens = {"vocabulary": scenario["data"].get("vocabulary")}
        return cut_transformer(tokens | model, self.number, self.mesh.sizes, Layer)

    def message(self, source, target, size):
        links, latency, load, rate = self.cables.message(source, target, size)
        first = self.twins.get(source), self.twins.get(target)  # the same two stages in the first replica
        if "unlike_routes" in FAULTS and first[0] != first[1]:
            latency = self.cables.message(*first, size)[1]
        return links, latency, load, rate

    def group(self, rank):
        """The ranks with the same part of the model, among which a strategy works."""
        return self.mesh.along(rank, "data")

    def send(self, source, target, stream, size):
        return self.clock.call((source, target, stream), size, True)

    def receive(self, source, target, stream):
        return self.clock.call((source, target, stream), 0, False)

    def work(self, rank, flops):
        return self.clock.after(flops / self.speeds[rank])

    def result(self):
        program = pipeline_stage if self.parallel["pipeline"] > 1 else PROGRAMS[self.kind]

        def whole(rank):
            yield from program(self, rank)
            self.ended_at[rank] = self.clock.now
        ends = [self.clock.spawn(whole(rank)) for rank in range(self.ranks)]
        try:
            self.clock.run()
        except StopTraining:
            ends = []
        if not all(end.done for end in ends[-1 if self.ranks > self.workers else 0:]):
            raise RuntimeError("the ranks wait for each other")
        return {"simulated_s": self.finished, "bytes": sum(self.clock.sent.values()),
                "sent": [self.clock.sent[rank] for rank in range(self.ranks)],
                "messages": self.clock.messages,
                "links": {f"{kind}-{number}" + (f"_{way}" if way else ""): size
                          for (kind, number, way), size in self.clock.link_bytes.items() if size},
                "memory": [ledger.peak for ledger in self.ledgers]}

    def end_step(self):
        self.finished = self.clock.now
        self.ends.append(self.clock.now)

    def ends_of_steps(self):
        """When all ranks had completed the first step, the second one, and so on."""
        ends = sorted(self.ends)
        return ends[self.workers - 1::self.workers]

    def time_of_state(self, ranks):
        """The time in which a rank sends its parameters and the optimizer's vectors to some that are back."""
        links, latency, load, rate = self.cables.message(0, 1, self.parameters * (1 + self.vectors) * self.number)
        return latency + load / min([rate] + [self.cables.capacity[link] / ranks for link in links])

    def micro_batches(self):
        parts = self.options.get("micro_batches", 1)
        return [self.rows // parts + (part < self.rows % parts) for part in range(parts)]


def compare(results, folder, tolerance=1e-6):
    """Yields (run, what, the program's number, this timeline's) for every difference."""
    for run in results["runs"]:
        if not_covered(results["scenario"], run):
            continue
        if run["status"] != "stopped":
            yield run, "status", run["error"] or run["status"], "stopped"
            continue
        scenario = results["scenario"]

        def train(steps, workers):
            cluster, training = scenario["cluster"], scenario["training"]
            if workers < cluster["workers"]:
                rows = training["batch_size_per_worker"] * cluster["workers"] // workers
                cluster, training = cluster | {"workers": workers}, training | {"batch_size_per_worker": rows}
            changed = {"stop": {"steps": steps}, "cluster": cluster, "training": training}
            training = Training(scenario | changed, run["strategy"], run["options"], folder)
            training.answer = training.result()
            return training
        steps, workers = scenario["stop"]["steps"], scenario["cluster"]["workers"]
        mine, failures = train(steps, workers).answer, scenario["cluster"]["failures"]
        if failures["crash"]:
            mine["simulated_s"] = crashes.seconds(train, scenario["cluster"], steps)
        theirs = [("simulated_s", run["simulated_s"], mine["simulated_s"]), ("bytes", run["bytes"], mine["bytes"]),
                  ("messages", run["messages"], mine["messages"])]
        for rank in run["ranks"]:
            name = f"{rank['role']} {rank['rank']}"
            theirs.append((name + " bytes_sent", rank["bytes_sent"], mine["sent"][rank["rank"]]))
            if run["strategy"] in ("single", "allreduce", "zero", "fsdp"):
                theirs.append((name + " memory_bytes", rank["memory_bytes"], mine["memory"][rank["rank"]]))
        carried = {link["link"]: link["bytes"] for link in run["links"]}
        for link in sorted(carried | mine["links"]):
            theirs.append((link + " bytes", carried.get(link, 0), mine["links"].get(link, 0)))
        if run["options"].get("consistency") == "asp" or failures["crash"]:  # what was lost was sent, too
            theirs = theirs[:1]
        for what, found, expected in theirs:
            # SimGrid's clock takes dates closer than its precision/timing, 1e-9 s by default, for one.
            least = 1e-8 if what == "simulated_s" else 0
            if abs(found - expected) > max(tolerance * max(abs(found), abs(expected)), least):
                yield run, what, found, expected


if __name__ == "__main__":
    with open(sys.argv[1]) as stream_of_results:
        found_results = json.load(stream_of_results)
    for run in found_results["runs"]:
        for problem in not_covered(found_results["scenario"], run):
            print(f"{run['label']}: not compared, the oracle does not know {problem}")
    differences = list(compare(found_results, sys.argv[2] if len(sys.argv) > 2 else "."))
    for run, what, found, expected in differences:
        ratio = "" if isinstance(found, str) else f"  ratio {found / expected if expected else float('inf'):.9g}"
        print(f"{run['label']}: {what}: simgrad {found}, oracle {expected}{ratio}")
    sys.exit(1 if differences else 0)
