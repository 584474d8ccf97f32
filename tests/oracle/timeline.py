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
* D. Bertsekas, R. Gallager, Data Networks, 1992 (max-min fair rates).

A rank is a Python generator that yields the events for which it waits (strategies.py, collectives.py). Messages are
rendezvous: a transfer begins when both ends have called, pays its route's latency without using bandwidth, and then
shares links max-min fairly (fluid.py). A ledger of each rank's memory refuses to read what is not resident. This file
has the layers of a model, the hosts and links of a cluster, and the comparison of

    tests/oracle/timeline.py out/NAME/results.json [folder of the scenario's files]

to a relative 1e-6: simulated time, bytes in all, by rank and by link, messages, and the peaks of ranks' memory where
replicas or shards of them are trained. Where a published description leaves something open (which chunk of a vector is
the longer one, which rank beyond a power of two waits for which, when a buffer is freed) the choice is the one that
simgrad's pages or results show; a comment says so where it is more than a name.
"""
import csv
import json
import os
import re
import sys

from collectives import ALLREDUCES, kind_of
from fluid import Clock, Ledger, StopTraining
from strategies import PROGRAMS, SCHEDULES, pipeline_stage

PREFIXES = {"": 1.0, "k": 1e3, "M": 1e6, "G": 1e9, "T": 1e12, "n": 1e-9, "u": 1e-6, "m": 1e-3,
            "Ki": 2.0**10, "Mi": 2.0**20, "Gi": 2.0**30}
NUMBER_BYTES = {"float64": 8, "float32": 4, "float16": 2, "bfloat16": 2}
UPDATE_FLOPS = {"sgd": 2, "momentum": 4, "nesterov": 6, "adam": 13, "adamw": 14}
MODELS = ("profile", "perceptron", "transformer")
OPTIMIZER_VECTORS = {"sgd": 0, "momentum": 1, "nesterov": 1, "adam": 2, "adamw": 2}


def quantity(text):
    """Turns "1Gbps", "4kB", "50us" or "1GF" into bytes a second, bytes, seconds or flops a second."""
    number, prefix, unit = re.fullmatch(r"([-+.\de]+?)([KMG]i|[kMGTnum]?)(bps|Bps|B|s|F)", text).groups()
    return float(number) * PREFIXES[prefix] / (8 if unit == "bps" else 1)


class Layer:
    """Parameters, and for one sample: flops forward and backward, bytes that are kept, bytes that come in."""

    def __init__(self, unit, parameters, forward, backward, kept, entrance=0, tied=0):
        self.unit, self.parameters, self.forward, self.backward = unit, parameters, forward, backward
        self.kept, self.entrance, self.tied = kept, entrance, tied


def profile_layers(path):
    with open(path, newline="") as file:
        rows = list(csv.DictReader(file))
    return [Layer(row.get("unit") or f"{place} {row['name']}", int(float(row["parameters"])),
                  float(row["forward_flops"]), float(row["backward_flops"]), float(row.get("activation_bytes") or 0),
                  float(row.get("entrance_bytes") or 0)) for place, row in enumerate(rows)]


def perceptron_layers(model, features, number):
    widths = [features] + [int(width) for width in model["hidden"]] + [1]
    return [Layer(str(place), (inputs + model["bias"]) * outputs, 2 * inputs * outputs,
                  (4 if place else 2) * inputs * outputs, inputs * number, inputs * number)
            for place, (inputs, outputs) in enumerate(zip(widths, widths[1:]))]


def transformer_layers(model, number):
    """GPT-2's layers, with learned positions, biases, and kept activations as Korthikanti et al. count them."""
    s, h, v, f = model["sequence"], model["hidden"], model["vocabulary"], model.get("feed_forward", 4 * model["hidden"])
    heads = model["heads"]

    def product(unit, parameters, flops, numbers, extra=0.0, tied=0):
        return Layer(unit, parameters, flops, 2 * flops, numbers * number + extra, s * h * number, tied)
    layers = [product("embedding", (v + s) * h, 0, 0)]
    for block in range(model["layers"]):
        unit = f"block {block}"
        layers += [product(unit, 2 * h + 3 * h * h + 3 * h, 6 * s * h * h + 4 * s * s * h, 5 * s * h + heads * s * s),
                   product(unit, h * h + h, 2 * s * h * h, s * h),
                   product(unit, 2 * h + f * h + f, 2 * s * h * f, 2 * s * h + s * f),
                   product(unit, f * h + h, 2 * s * h * f, s * f)]
    own = 0 if model["tied"] else v * h
    return layers + [product("head", 2 * h + own, 2 * s * h * v, 2 * s * h, 4 * s * v, v * h if model["tied"] else 0)]


def not_covered(scenario, run):
    """What a scenario or a run asks for that this timeline does not know; nothing is compared then."""
    expected = {
        "cluster": {"device": "none", "efficiency": 1, "network_model": "ideal", "protocol": "none",
                    "stragglers": "none", "jitter": "none", "background": [], "slow_links": [], "hosts": [],
                    "overlap_slowdown": 0, "charge_reductions": True, "flow_limit": None, "platform": None},
        "training": {"input": {"from": "memory"}, "recompute": "none", "checkpoint_every_steps": 0, "clip_norm": None},
        "parallel": {"tensor": 1, "context": 1, "expert": 1, "automatic": False, "copies": "none"},
        "options": {"compression": "none", "parameter_compression": "none", "hosts_first": False, "offload": "none",
                    "shard_group": None, "placement": "dedicated", "sharding": "range", "backup_workers": 0,
                    "k_batch": None, "lazy": False, "update": "combine_then_adapt", "synchronous_steps": 0,
                    "slow_momentum": 0, "optimizer_memory": "keep"}}
    problems = [f"{section}.{key}" for section, values in expected.items() for key, value in values.items()
                if kind_of((scenario | run).get(section, {}).get(key, value)) != kind_of(value)]
    kinds = {"strategy": (run["strategy"], PROGRAMS), "model": (kind_of(scenario["model"]), MODELS),
             "topology": (kind_of(scenario["cluster"]["topology"]), ("star", "gpu_hosts")),
             "precision": (scenario["training"]["precision"], ("float64", "float32")),
             "optimizer": (kind_of(scenario["training"]["optimizer"]), UPDATE_FLOPS),
             "algorithm": (kind_of(run["options"].get("algorithm", "ring")), ALLREDUCES),
             "consistency": (run["options"].get("consistency", "bsp"), ("bsp", "asp")),
             "graph": (kind_of(run["options"].get("graph", "ring")), ("ring", "complete", "star"))}
    problems += [f"{what} {kind}" for what, (kind, known) in kinds.items() if kind not in known]
    slices = run["options"].get("algorithm", "ring")
    if isinstance(slices, dict) and slices.get("slices", 1) > 1:
        problems.append("slices")
    if "batch_size_per_worker" not in scenario["training"] or "steps" not in scenario["stop"]:
        problems.append("a batch or a number of steps that is not given")
    if run["strategy"] not in ("allreduce", "zero") and "bucket_size" in run["options"]:
        problems.append("buckets of " + run["strategy"])
    if run["options"].get("consistency") == "asp" and scenario["training"]["desynchronise"]:
        problems.append("training.desynchronise")
    pipeline = scenario["parallel"]
    if pipeline["pipeline"] > 1 and not (pipeline["stages"] and run["strategy"] in ("single", "allreduce")
                                         and pipeline["schedule"] in SCHEDULES and "bucket_size" not in run["options"]):
        problems.append("a pipeline of this kind")
    return problems


class Training:
    """A resolved scenario's run of one strategy: hosts, links, layers, and the ranks' programs."""

    def __init__(self, scenario, kind, options, folder):
        cluster, training = scenario["cluster"], scenario["training"]
        self.clock, self.kind, self.options = Clock(), kind, options
        self.parallel, self.steps = scenario["parallel"], scenario["stop"]["steps"]
        alone = kind == "single" and self.parallel["pipeline"] == 1
        self.workers = 1 if alone else cluster["workers"]
        self.bucket = quantity(options["bucket_size"]) if "bucket_size" in options else None
        servers = options.get("servers", 1) if kind == "parameter_server" else 0
        self.ranks = self.workers + servers
        relative = cluster["relative_speeds"] + [1.0] * self.ranks
        self.speeds = [quantity(cluster["speed"]) * relative[rank] for rank in range(self.workers)]
        self.speeds += [quantity(cluster["speed"])] * servers
        self.number = NUMBER_BYTES[training["precision"]]
        self.wire = self.number if training["wire"] == "precision" else NUMBER_BYTES[training["wire"]]
        self.update_flops = UPDATE_FLOPS[kind_of(training["optimizer"])]
        self.vectors = OPTIMIZER_VECTORS[kind_of(training["optimizer"])]
        self.rows = training["batch_size_per_worker"] * (cluster["workers"] if alone else 1)
        self.layers = self.layers_of(scenario, folder)
        self.parameters = sum(layer.parameters for layer in self.layers)
        self.lay_cables(cluster, cluster["topology"])
        self.ledgers = [Ledger() for _ in range(self.ranks)]
        self.finished, self.ended = 0.0, None

    def lay_cables(self, cluster, topology):
        """Hosts on a switch that never blocks, their network cards, and the inner links of hosts of several devices.

        On a `star` a host has one card, behind the devices' links. Of `gpu_hosts` a device has the card of its number
        modulo that of the cards, and messages to other hosts leave its inner link out. Servers have their own hosts.
        """
        self.devices, cards = topology.get("devices", 1), topology.get("nics", 1)
        self.star, ranks = topology["kind"] == "star", range(self.ranks)
        self.inner = "device" if self.star else "nvlink"
        self.latency = quantity(cluster["latency"])
        self.inner_latency = quantity(topology.get(self.inner + "_latency", "2us"))
        beyond = self.workers if self.star else -(-self.workers // self.devices)
        self.hosts = [rank // self.devices if rank < self.workers else beyond + rank - self.workers for rank in ranks]
        self.cards = [self.hosts[rank] * cards + rank % self.devices % cards for rank in range(self.workers)]
        self.cards += [beyond * cards + server for server in range(self.ranks - self.workers)]
        for way in ("up", "down"):
            for rank in ranks:
                self.clock.capacity["nic", self.cards[rank], way] = quantity(cluster["bandwidth"])
                inner = quantity(topology.get(self.inner + "_bandwidth", "300GBps"))
                self.clock.capacity[self.inner, rank, way] = inner

    def layers_of(self, scenario, folder):
        model = scenario["model"]
        if model["kind"] == "profile":
            return profile_layers(os.path.join(folder, model["path"]))
        if model["kind"] == "perceptron":
            return perceptron_layers(model, scenario["data"].get("features", 10), self.number)
        return transformer_layers({"vocabulary": scenario["data"].get("vocabulary")} | model, self.number)

    def route(self, source, target):
        devices = [(self.inner, rank, way) for rank, way in ((source, "up"), (target, "down")) if rank < self.workers]
        if self.hosts[source] == self.hosts[target]:
            return devices, self.inner_latency
        cards = [("nic", self.cards[source], "up"), ("nic", self.cards[target], "down")]
        return cards + (devices if self.star and self.devices > 1 else []), self.latency

    def send(self, source, target, stream, size):
        return self.clock.call(self.route(source, target), (source, target, stream), size, True)

    def receive(self, source, target, stream):
        return self.clock.call(None, (source, target, stream), 0, False)

    def work(self, rank, flops):
        return self.clock.after(flops / self.speeds[rank])

    def result(self):
        program = pipeline_stage if self.parallel["pipeline"] > 1 else PROGRAMS[self.kind]
        ends = [self.clock.spawn(program(self, rank)) for rank in range(self.ranks)]
        try:
            self.clock.run()
        except StopTraining:
            ends = []
        if not all(end.done for end in ends[-1 if self.ranks > self.workers else 0:]):
            raise RuntimeError("the ranks wait for each other")
        return {"simulated_s": self.finished, "bytes": sum(self.clock.sent.values()),
                "sent": [self.clock.sent[rank] for rank in range(self.ranks)],
                "messages": self.clock.messages,
                "links": {f"{kind}-{number}_{way.upper()}": size
                          for (kind, number, way), size in self.clock.link_bytes.items() if size},
                "memory": [ledger.peak for ledger in self.ledgers]}

    def end_step(self):
        self.finished = self.clock.now

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
        mine = Training(results["scenario"], run["strategy"], run["options"], folder).result()
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
        if run["options"].get("consistency") == "asp":
            theirs = theirs[:1]
        for what, found, expected in theirs:
            if abs(found - expected) > tolerance * max(abs(found), abs(expected)):
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
