#!/usr/bin/env python3
"""Compares the choices of simgrad's algorithm "nccl" with those of NCCL, which stand in nccl_choices.csv.

    tests/oracle/nccl_test.py --program build/simgrad
    tests/oracle/nccl_test.py --compute > tests/oracle/nccl_choices.csv

A row of the table is an all-reduce of so many bytes on so many hosts, and what NCCL chooses for it. Some rows are from
logs that users of NCCL have published (NCCL prints its choice and the time in us that it expects); their source is the
issue in which the log stands. The others are computed here from the constants of NCCL 2.20.3 (src/graph/tuning.cc), by
a model that must give the logs' times to 1e-6. `--compute` prints the table anew; it leaves out vectors for which the
second best choice takes less than 5 % longer. NVLS and CollNet, which simgrad does not have, are left out.

What NCCL finds out about a machine is given: channels, and bandwidths. A ring passes NICs and links inside hosts at one
bandwidth. So do trees, but on two hosts, where half of a vector crosses NICs each way, NCCL counts the bandwidth
inside: up to twice that of the NICs (src/graph/search.cc).

The exit code is 1 if choices differ, and 77 if something is missing that the test needs.
"""
import argparse
import csv
import json
import math
import os
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
TABLE = os.path.join(HERE, "nccl_choices.csv")

# The constants of NCCL 2.20.3, in us and GB/s; for LL, LL128 and Simple where there are three.
PROTOCOLS = ("LL", "LL128", "Simple")
CALL = {"tree": (6.8, 14.0, 0.0), "ring": (6.6, 14.0, 8.4)}
INSIDE = {"nvlink": {"tree": (0.6, 1.25, 28.0), "ring": (0.6, 1.9, 3.4)},  # a hop inside a host
          "pcie": {"tree": (1.0, 1.9, 28.0), "ring": (1.0, 2.5, 5.7)}}
BETWEEN = {"tree": (5.0, 8.5, 28.0), "ring": (2.7, 4.0, 14.0)}  # a hop over the network
POST = (1.0, 1.0, 3.0)  # a hop of a ring over several hosts takes this at least, with a processor of Intel
LL_ON_ONE_HOST = {"volta": 39.0, "ampere": 87.7, "hopper": 87.7}
LL_ON_HOSTS = {2: 39.0, 3: 20.4}  # with a processor of Intel; 3 stands for three and more
# What a channel carries at most, on one host, two, more.
RING_LL128 = {"volta": (20.0, 20.0, 20.0), "ampere": (20.0, 20.0, 20.0), "hopper": (36.7, 36.7, 36.7)}
TREE_LL128 = {"volta": (20.0, 20.0, 20.0), "ampere": (20.0, 20.0, 20.0), "hopper": (36.7, 36.7, 29.0)}
TREE = {"volta": (26.5, 18.5, 10.0), "ampere": (24.0, 23.6, 17.8), "hopper": (38.7, 41.4, 36.0)}
# The part of its bandwidth that a tree reaches, for vectors of 64 bytes, 128, 256 and so on.
CORRECTION = (
    (1, 1, 1, 1, .9, .8, .7, .7, .7, .7, .6, .5, .4, .4, .5, .6, .7, .8, .9, 1, 1, 1, 1),
    (1, 1, 1, 1, 1, .9, .8, .8, .8, .7, .6, .6, .6, .6, .6, .6, .8, .9, .9, .9, .9, 1, 1),
    (.9, .9, .9, .9, .9, .9, .9, .8, .7, .6, .6, .5, .5, .5, .5, .6, .7, .8, .7, .7, .8, .9, .9))
CHAINED = 0.85  # the part that is left to trees that enter and leave a host at one device

# Machines: generation, links inside, devices, NICs, GB/s of one, GB/s inside; channels on one host, and on several;
# trees, which are chained on H100 (src/graph/search.cc).
MACHINES = {
    "V100": ("volta", "nvlink", 8, 1, 12.0, 132.0, 12, 2, "balanced"),
    "V100 with 4 NICs": ("volta", "nvlink", 8, 4, 12.0, 132.0, 12, 4, "balanced"),
    "V100 on PCIe": ("volta", "pcie", 4, 1, 10.0, 10.0, 2, 2, "balanced"),
    "A100": ("ampere", "nvlink", 8, 8, 24.0, 240.0, 24, 8, "balanced"),
    "H100": ("hopper", "nvlink", 8, 8, 24.0, 360.0, 24, 16, "chained")}
COLUMNS = ("machine", "hosts", "generation", "links", "devices", "nics", "nic_gb_per_s", "inside_gb_per_s", "channels",
           "trees", "bytes", "choice", "logged_us", "source")
COMPUTED = "constants of NCCL 2.20.3"


def expected_us(row, algorithm, p):
    """The time that NCCL expects of an algorithm with the protocol of number p."""
    hosts, devices, channels = row["hosts"], row["devices"], row["channels"]
    ranks, generation, place = hosts * devices, row["generation"], min(hosts, 3) - 1
    most_of_ll = LL_ON_HOSTS[min(hosts, 3)] if hosts > 1 else LL_ON_ONE_HOST[generation]
    network = row["nics"] * row["nic_gb_per_s"]
    bus = min(row["inside_gb_per_s"], network) if hosts > 1 else row["inside_gb_per_s"]
    if algorithm == "ring":
        if p == 0:
            bus = min(bus / 4, most_of_ll)
        if p == 1:
            bus = min(bus * (0.7 if devices < 2 else 0.92), channels * RING_LL128[generation][place])
        steps, crossings = 2 * (ranks - 1), 2 * hosts if hosts > 1 else 0
        inside = max(INSIDE[row["links"]]["ring"][p], POST[p] if hosts > 1 else 0.0)
        latency = CALL["ring"][p] + (steps - crossings) * inside + crossings * BETWEEN["ring"][p]
        if p == 2 and hosts > 1 and row["bytes"] // (channels * ranks) >= 64:
            latency *= 1.9 if generation == "volta" else 1.4
        return latency + row["bytes"] / (1e3 * bus * ranks / steps)
    if hosts == 2:
        bus = min(row["inside_gb_per_s"], 2 * network)
    bus = min(0.92 * bus, channels * TREE[generation][place])
    if p == 0:
        bus = min(bus / 3.8, most_of_ll)
    if p == 1:
        bus = min(bus * (7 / 9 if hosts == 1 else 120 / 128), channels * TREE_LL128[generation][place])
    size = max(row["bytes"] // 64, 1).bit_length() - 1
    kept = (CHAINED if row["trees"] == "chained" else 1.0) * (CORRECTION[p][size] if size < len(CORRECTION[p]) else 1.0)
    hops = 2 * (devices - 1), 2 * int(math.log2(hosts))
    latency = CALL["tree"][p] + hops[0] * INSIDE[row["links"]]["tree"][p] + hops[1] * BETWEEN["tree"][p]
    return latency + row["bytes"] / (1e3 * kept * bus / 2)


def choices(row):
    """All choices with their times, the best one first. LL128 wants NVLink."""
    times = {f"{algorithm} {protocol}": expected_us(row, algorithm, p)
             for algorithm in ("tree", "ring") for p, protocol in enumerate(PROTOCOLS)
             if (protocol, row["links"]) != ("LL128", "pcie")}
    return sorted(times.items(), key=lambda each: each[1])


def table():
    """The rows of the file; numbers as numbers."""
    with open(TABLE, newline="") as file:
        rows = list(csv.DictReader(file))
    for row in rows:
        row |= {key: int(row[key]) for key in ("hosts", "devices", "nics", "channels", "bytes")}
        row |= {key: float(row[key]) for key in ("nic_gb_per_s", "inside_gb_per_s")}
    return rows


def compute():
    """Prints the table, with the logged rows of the file as they are."""
    rows = [row for row in table() if row["source"] != COMPUTED]
    for machine, (*facts, alone, together, trees) in MACHINES.items():
        for hosts in (1, 2, 4, 8):
            for power in range(10, 31, 2):
                row = dict(zip(COLUMNS, (machine, hosts, *facts, alone if hosts == 1 else together, trees, 2 ** power,
                                         "", "", COMPUTED)))
                (row["choice"], best), (_, second) = choices(row)[:2]
                if second >= 1.05 * best:
                    rows.append(row)
    writer = csv.DictWriter(sys.stdout, COLUMNS, lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)


def machine_of(row):
    return tuple(row[key] for key in COLUMNS[:COLUMNS.index("bytes")])


def scenario_text(row):
    """One step of an all-reduce for each layer."""
    algorithm = (f'{{ kind = "nccl", generation = "{row["generation"]}", inside = "{row["links"]}", '
                 f'channels = {row["channels"]}, rings = {row["nics"]}, slices = 2 }}')
    return f"""[cluster]
workers = {row["hosts"] * row["devices"]}
topology = {{ kind = "gpu_hosts", devices = {row["devices"]}, nics = {row["nics"]}, \
nvlink_bandwidth = "{row["inside_gb_per_s"]}GBps" }}
bandwidth = "{row["nic_gb_per_s"]}GBps"
latency = "5us"
[model]
kind = "profile"
path = "layers.csv"
[training]
numbers = false
batch_size_per_worker = 1
desynchronise = 0
[stop]
steps = 1
[[strategy]]
kind = "allreduce"
bucket_size = "1B"
algorithm = {algorithm}
"""


def simgrads_choices(program, rows, folder):
    """{bytes: choice} on one machine. Every layer is a bucket of its own."""
    layers = ["name,parameters,forward_flops,backward_flops,activation_bytes,entrance_bytes"]
    layers += [f"l{place},{row['bytes'] // 8},0,0,0,0" for place, row in enumerate(rows)]
    for name, text in (("layers.csv", "\n".join(layers) + "\n"), ("machine.toml", scenario_text(rows[0]))):
        with open(os.path.join(folder, name), "w") as file:
            file.write(text)
    command = [program, "run", "machine.toml", "--out", "out", "--force", "--quiet", "--no-baseline", "--no-why",
               "--timelines", "0", "--jobs", "1", "--threads", "0"]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"simgrad failed: {' '.join(command)}\n{done.stdout}{done.stderr}")
    with open(os.path.join(folder, "out", "results.json")) as file:
        run, = json.load(file)["runs"]
    return {use["bytes"]: use["name"].removeprefix("nccl ") for use in run["collectives"]}


def complaints_about_table(rows):
    """The model must give what the logs say, and the table what the model gives."""
    for row in rows:
        choice, best = choices(row)[0]
        if choice != row["choice"]:
            yield f"{TABLE}: {row['machine']}, {row['hosts']} hosts, {row['bytes']} bytes: the constants give {choice}"
        if row["logged_us"] and abs(best / float(row["logged_us"]) - 1.0) > 1e-6:
            yield f"{TABLE}: {row['bytes']} bytes: the constants give {best} us, the log says {row['logged_us']} us"


def main():
    parser = argparse.ArgumentParser(description="Compares simgrad's choices between ring and tree with NCCL's.")
    parser.add_argument("--program", default=os.environ.get("SIMGRAD_PROGRAM"))
    parser.add_argument("--compute", action="store_true", help="print the table, computed anew, and run nothing")
    options = parser.parse_args()
    if options.compute:
        compute()
        return
    if not options.program or not os.access(options.program, os.X_OK):
        print("nccl_test: skipped, no program: give --program or SIMGRAD_PROGRAM")
        sys.exit(77)
    rows = table()
    wrong = list(complaints_about_table(rows))
    with tempfile.TemporaryDirectory() as folder:
        for machine in dict.fromkeys(map(machine_of, rows)):
            its = [row for row in rows if machine_of(row) == machine]
            found = simgrads_choices(os.path.abspath(options.program), its, folder)
            for row in its:
                choice = found.get(row["bytes"], "nothing")
                if choice != row["choice"]:
                    wrong.append(f"{row['machine']}, {row['hosts']} hosts of {row['devices']}, {row['bytes']} bytes: "
                                 f"simgrad chooses {choice}, NCCL {row['choice']} ({row['source']})")
    print("\n".join([*wrong, f"{len(rows)} choices compared, {len(wrong)} complaints"]))
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
