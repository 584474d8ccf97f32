#!/usr/bin/env python3
"""Runs MPI's collectives under SMPI, algorithm by algorithm, and compares their times with simgrad's.

    tests/oracle/mpi_test.py --program build/simgrad

SMPI simulates an MPI program, mpi_collectives.c, with the algorithms of MPICH, Open MPI and others. Both programs get
the same networks (a star, hosts of devices behind one NIC or two), ranks (a power of two, and odd numbers) and vectors
(a short and a long one). SMPI's own factors and delays are switched off, so that a message takes latency + bytes /
bandwidth on links that are shared max-min fairly, as on simgrad's network "ideal", and additions are free. Times may
differ by 0.1 %: MPI's clock and SimGrid's precision add up to 1e-7 s.

The exit code is 1 if times differ, and 77 if something is missing that the test needs.
"""
import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
TOLERANCE = 0.001

NETWORKS = {  # hosts, devices of a host, NICs of a host
    "star of 8": (8, 1, 1), "star of 7": (7, 1, 1), "2 hosts of 4": (2, 4, 1), "3 hosts of 3": (3, 3, 1),
    "2 hosts of 4 with 2 NICs": (2, 4, 2)}
GATE = ("star of 7", "2 hosts of 4", "3 hosts of 3")  # of the gate, which takes a share of long tests
NIC, INNER = (200e9 / 8, 50e-6), (1600e9 / 8, 2e-6)  # bytes/s, and s one way
LENGTHS = {"short": 6144, "long": 65536}  # numbers of 8 bytes, for each rank

# A send of at least "detached" bytes ends when its message has come. A message of at least "async" bytes goes on its
# way when its receiver asks for it: a receiver that takes messages in order gets them one after the other.
COMMON = {"network/model": "CM02", "network/TCP-gamma": 0, "network/crosstraffic": 0, "smpi/simulate-computation": "no",
          "smpi/wtime": 0, "smpi/send-is-detached-thresh": 0, "smpi/async-small-thresh": 0}
AT_ONCE = {"smpi/send-is-detached-thresh": 1 << 30, "smpi/async-small-thresh": 1 << 30}

# What one run of SMPI is told, and which algorithms of simgrad it is held to: a name, and MPI's function.
RUNS = [
    ({"smpi/allreduce": "lr", "smpi/reduce_scatter": "ompi_ring", "smpi/allgather": "NTSLR",
      "smpi/bcast": "binomial_tree"},
     {"ring": "all_reduce", "ring reduce_scatter": "reduce_scatter", "ring all_gather": "all_gather",
      "binomial": "broadcast"}),
    ({"smpi/alltoall": "basic_linear"} | AT_ONCE, {"flat_all_to_all": "all_to_all"}),
    ({"smpi/allreduce": "rdb", "smpi/bcast": "scatter_LR_allgather"},
     {"recursive_doubling": "all_reduce", "van_de_geijn": "broadcast"}),
    ({"smpi/allreduce": "rab_rdb", "smpi/bcast": "ompi_pipeline"},
     {"rabenseifner": "all_reduce", "chain": "broadcast"}),
    ({"smpi/allreduce": "redbcast", "smpi/reduce": "binomial", "smpi/bcast": "binomial_tree"}, {"tree": "all_reduce"}),
    ({"smpi/allreduce": "redbcast", "smpi/reduce": "flat_tree", "smpi/bcast": "flattree"} | AT_ONCE,
     {"naive": "all_reduce", "flat": "broadcast"}),
]

# An allreduce in one vector; fsdp's gather and scatter; a parameter server's broadcast; codes that go all to all.
STRATEGIES = [{"kind": "allreduce", "algorithm": algorithm}
              for algorithm in ("ring", "recursive_doubling", "rabenseifner", "tree", "naive")]
STRATEGIES += [{"kind": "fsdp"}, {"kind": "allreduce", "compression": "int8", "codes": "reduce_scatter"}]


def links_between(network, one, other):
    """The links from a rank to another one; a server after the last rank has a host of its own."""
    _, devices, nics = network
    if one // devices == other // devices:
        return [f"inner{one}_up", f"inner{other}_down"]
    return [f"nic{rank // devices}_{rank % devices % nics}_{way}" for rank, way in ((one, "up"), (other, "down"))]


def platform_text(network):
    """A platform file of SimGrid. Half of a way's latency is on each of its two links."""
    ranks = network[0] * network[1] + 1
    hosts = [f'<host id="r{rank}" speed="1Gf"/>' for rank in range(ranks)]
    routes, links = [], set()
    for one, other in ((one, other) for one in range(ranks) for other in range(ranks) if one != other):
        way = links_between(network, one, other)
        links.update(way)
        steps = "".join(f'<link_ctn id="{link}"/>' for link in way)
        routes.append(f'<route src="r{one}" dst="r{other}" symmetrical="NO">{steps}</route>')
    wires = []
    for link in sorted(links):
        bandwidth, latency = INNER if link.startswith("inner") else NIC
        wires.append(f'<link id="{link}" bandwidth="{bandwidth}Bps" latency="{latency / 2}s"/>')
    return "\n".join(["<?xml version='1.0'?>", '<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">',
                      '<platform version="4.1"><zone id="world" routing="Full">', *hosts, *wires, *routes,
                      "</zone></platform>\n"])


def toml(value):
    if isinstance(value, dict):
        return "{ " + ", ".join(f"{key} = {toml(entry)}" for key, entry in value.items()) + " }"
    return json.dumps(value)


def segments(members, size):
    """The pieces in which Open MPI sends so many bytes along a chain; a whole number of them here."""
    for segment, slope, offset in ((131072, 1.6134e-6, 2.1102), (65536, 2.3679e-6, 1.1787), (16384, 3.2118e-6, 8.7936)):
        if members < slope * size + offset:
            return size // segment
    raise ValueError(f"{size} bytes are not a chain's segments for {members} ranks")


def scenario_text(network, numbers):
    """One step of each strategy, with a model of one layer that takes no time to compute."""
    hosts, devices, nics = network
    topology = {"kind": "star"}
    if nics > 1:
        topology = {"kind": "gpu_hosts", "devices": devices, "nics": nics, "nvlink_latency": f"{INNER[1]}s",
                    "nvlink_bandwidth": f"{INNER[0]}Bps"}
    elif devices > 1:
        topology = {"kind": "star", "devices": devices, "device_latency": f"{INNER[1]}s",
                    "device_bandwidth": f"{INNER[0]}Bps"}
    chain = {"kind": "chain", "chunks": segments(hosts * devices + 1, 8 * numbers)}
    # What comes back after a broadcast is one number a worker, so that it does not slow the broadcast's last messages.
    servers = [{"kind": "mapreduce", "broadcast": broadcast, "compression": {"kind": "top_k", "fraction": 1 / numbers}}
               for broadcast in ("flat", "binomial", "van_de_geijn", chain)]
    sections = {
        "[cluster]": {"workers": hosts * devices, "topology": topology, "bandwidth": f"{NIC[0]}Bps",
                      "latency": f"{NIC[1]}s", "charge_reductions": False},
        "[model]": {"kind": "profile", "path": f"layer_{numbers}.csv"},
        "[training]": {"numbers": False, "batch_size_per_worker": 1, "desynchronise": 0}, "[stop]": {"steps": 1}}
    # SMPI's rings go by one NIC of a host.
    one_ring = [strategy | ({"algorithm": {"kind": "ring", "rings": 1}} if strategy.get("algorithm") == "ring" else {})
                | ({"rings": 1} if strategy["kind"] in ("zero", "fsdp") else {}) for strategy in STRATEGIES]
    tables = [*sections.items()] + [("[[strategy]]", strategy) for strategy in one_ring + servers]
    lines = []
    for head, entries in tables:
        lines += [head] + [f"{key} = {toml(value)}" for key, value in entries.items()]
    return "\n".join(lines) + "\n"


def write(folder, name, text):
    with open(os.path.join(folder, name), "w") as file:
        file.write(text)


def run_simgrad(program, folder, networks):
    """What simgrad says: {(network, length): {algorithm: (bytes of a rank, seconds)}}."""
    files = {}
    for network in networks:
        hosts, devices, _ = NETWORKS[network]
        for length, each in LENGTHS.items():
            name, numbers = f"{len(files)}.toml", each * hosts * devices
            files[name] = (network, length)
            write(folder, name, scenario_text(NETWORKS[network], numbers))
            write(folder, f"layer_{numbers}.csv", "name,parameters,forward_flops,backward_flops,activation_bytes,"
                  f"entrance_bytes\nlayer,{numbers},0,0,0,0\n")
    command = [program, "run", *files, "--out", "out", "--no-baseline", "--no-why", "--timelines", "0", "--jobs", "1",
               "--threads", "0", "--events", "--trace-steps", "0..0"]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"simgrad failed: {' '.join(command)}\n{done.stdout}{done.stderr}")
    seconds = broadcast_ends(done.stdout, files)
    for name, place in files.items():
        with open(os.path.join(folder, "out", name.removesuffix(".toml"), "results.json")) as results:
            for run in json.load(results)["runs"]:
                for use in run.get("collectives") or []:
                    seconds[place].setdefault(use["name"], (use["bytes"], use["simulated_s"]))
    return seconds


def broadcast_ends(events, files):
    """The broadcasts of mapreduce are in no list of collectives: they last until the end of their last message."""
    seconds, algorithm = {place: {} for place in files.values()}, ""
    for line in events.splitlines():
        words = line.split()
        if line in files:
            place, algorithm = files[line], ""
        elif line.startswith("# "):
            label = re.match(r"# mapreduce\((?:broadcast=(\w+))?.*\), seed", line)
            algorithm = (label[1] or "flat") if label else ""
        elif algorithm and "broadcast" in words and "message" in words:
            ends = seconds[place].get(algorithm, (0, 0.0))[1]
            seconds[place][algorithm] = (0, max(ends, float(words[1])))
    return seconds


def run_smpi(folder, network, options, calls):
    """The seconds of each call, which are the last rank's."""
    ranks = network[0] * network[1] + 1
    write(folder, "platform.xml", platform_text(network))
    write(folder, "hosts", "".join(f"r{rank}\n" for rank in range(ranks)))
    command = ["smpirun", "-np", str(ranks), "-platform", "platform.xml", "-hostfile", "hosts"]
    command += [f"--cfg={key}:{value}" for key, value in (COMMON | options).items()] + ["--log=root.thres:critical"]
    command += ["./mpi_collectives"] + [str(word) for call in calls for word in call]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True)
    seconds = [0.0] * len(calls)
    if done.returncode == 0:
        for place, ended in (line.split() for line in done.stdout.splitlines()):
            seconds[int(place)] = max(seconds[int(place)], float(ended))
    if not all(seconds):
        sys.exit(f"smpirun failed: {' '.join(command)}\n{done.stdout}{done.stderr}")
    return seconds


def compare(folder, simgrads, networks, verbose):
    """Every comparison: (algorithm, network, length, simgrad's seconds, SMPI's seconds)."""
    for network in networks:
        hosts, devices, nics = NETWORKS[network]
        for smpi_options, algorithms in RUNS:
            calls, names = [], []
            for algorithm, function in algorithms.items():
                for length, each in LENGTHS.items():
                    numbers = each * hosts * devices
                    if function == "all_to_all":  # the codes, of a byte a number and a scale for each chunk
                        numbers = simgrads[network, length][algorithm][0] // 8
                    calls.append((function, numbers))
                    names.append((algorithm, length))
            for (algorithm, length), smpis in zip(names, run_smpi(folder, (hosts, devices, nics), smpi_options, calls)):
                found = simgrads[network, length].get(algorithm, (0, 0.0))[1]
                if verbose:
                    print(f"{network:26}{algorithm:20}{length:6}{found:14.9f}{smpis:14.9f}{found / smpis:9.4f}")
                yield algorithm, network, length, found, smpis


def main():
    parser = argparse.ArgumentParser(description="Compares simgrad's collectives with SMPI's.")
    parser.add_argument("--program", default=os.environ.get("SIMGRAD_PROGRAM"))
    parser.add_argument("--verbose", action="store_true", help="print every comparison")
    options = parser.parse_args()
    if not options.program or not os.access(options.program, os.X_OK):
        print("mpi_test: skipped, no program: give --program or SIMGRAD_PROGRAM")
        sys.exit(77)
    if not shutil.which("smpirun") or not shutil.which("smpicc"):
        print("mpi_test: skipped, SMPI's smpirun and smpicc are not installed")
        sys.exit(77)
    networks = GATE if os.environ.get("SIMGRAD_SHARE") else NETWORKS
    wrong, compared = [], 0
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run(["smpicc", "-O1", os.path.join(HERE, "mpi_collectives.c"), "-o", "mpi_collectives"], cwd=folder,
                       check=True)
        simgrads = run_simgrad(os.path.abspath(options.program), folder, networks)
        for algorithm, network, length, found, smpis in compare(folder, simgrads, networks, options.verbose):
            compared += 1
            if abs(found / smpis - 1.0) > TOLERANCE:
                wrong.append(f"{algorithm}, {network}, {length} vector: simgrad says {found} s, SMPI {smpis} s, ratio "
                             f"{found / smpis:.4f}")
    print("\n".join([*wrong, f"{compared} times compared, {len(wrong)} complaints"]))
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
