"""Clusters: where the hosts of ranks are, the links from one to another, and what a message of some bytes asks of them.

Written without reading src/, from what `simgrad explain` says of topologies, network_model and protocol, and from

* M. Al-Fares et al., A Scalable, Commodity Data Center Network Architecture, SIGCOMM 2008 (fat trees; a message goes by
  its receiver's number, D-mod-K);
* W. Dally, B. Towles, Principles and Practices of Interconnection Networks, 2004 (tori: dimension by dimension, the
  shorter way round);
* K. Hsieh et al., Gaia: Geo-Distributed Machine Learning Approaching LAN Speeds, NSDI 2017 (sites far apart);
* M. Allman, V. Paxson, E. Blanton, RFC 5681, 2009, and J. Chu et al., RFC 6928, 2013 (TCP's slow start, the restart of
  idle connections and the initial window; from `explain ethernet` that it is for round trips of a millisecond, that the
  timeout is the round trip and 200 ms, and that a window is what messages that are over have acknowledged);
* NVIDIA, NCCL's user guide (messages of the protocol LL carry as many bytes of flags as of data).

A link's name is (class, number, way), and that of a link without two ways ends with None.
"""
import re
from itertools import product

PREFIXES = {"": 1.0, "k": 1e3, "M": 1e6, "G": 1e9, "T": 1e12, "P": 1e15, "n": 1e-9, "u": 1e-6, "m": 1e-3,
            "Ki": 2.0**10, "Mi": 2.0**20, "Gi": 2.0**30}
# smpi/lat-factor and smpi/bw-factor as SimGrid documents them: from so many bytes on, latency, bandwidth.
SMPI = [(0, 2.01467, 0.812084), (258, 1.95341, 0.338112), (733, 1.9503, 0.341987), (1427, 1.61075, 0.608902),
        (3485, 1.88101, 0.77493), (5777, 2.18796, 1.08739), (9377, 2.59299, 0.58729), (15425, 3.48845, 0.697866),
        (65473, 11.6436, 0.940694)]
NCCL = [(0, 1, 0.5), (16385, 14.0 / 2.7, 1)]
KINDS = ("star", "gpu_hosts", "two_tier", "fat_tree", "torus", "ring", "shared_memory", "wan")


def quantity(text):
    """Turns "1Gbps", "4kB", "50us" or "1GF" into bytes a second, bytes, seconds or flops a second."""
    number, prefix, unit = re.fullmatch(r"([-+.\de]+?)([KMG]i|[kMGTPnum]?)(bps|Bps|B|s|F)", text).groups()
    return float(number) * PREFIXES[prefix] / (8 if unit == "bps" else 1)


class Cables:
    """Links and routes of a cluster; `capacity` has the bandwidths of links by their names."""

    def __init__(self, cluster, workers, ranks):
        self.topology, self.workers, self.ranks = cluster["topology"], workers, ranks
        if isinstance(self.topology, str):
            self.topology = {"kind": self.topology}
        self.kind, self.devices = self.topology["kind"], self.topology.get("devices", 1)
        self.bandwidth, self.latency = quantity(cluster["bandwidth"]), quantity(cluster["latency"])
        self.capacity, self.fast = {}, set()
        self.hosts = [rank // self.devices if rank < workers else -(-workers // self.devices) + rank - workers
                      for rank in range(ranks)]
        self.cards = list(range(ranks))  # by rank: its network card
        self.route = getattr(self, "lay_" + self.kind)()
        for name in self.capacity:
            self.capacity[name] *= cluster["efficiency"]
        for slow in cluster["slow_links"]:
            for name in [name for name in self.capacity if slow["link"] == f"{name[0]}-{name[1]}"]:
                self.capacity[name] *= slow["factor"]
        self.read_protocol(cluster)

    # ------------------------------------------------------------------------------------------------------ topologies

    def option(self, key, default):
        return quantity(self.topology[key]) if key in self.topology else default

    def lay(self, kind, number, bandwidth):
        for way in ("UP", "DOWN"):
            self.capacity[kind, number, way] = bandwidth

    def cards_for(self, hosts):
        for host in range(hosts):
            self.lay("nic", host, self.bandwidth)

    def lay_star(self):
        """Hosts on a switch that never blocks: a host has one card, behind the links of its devices."""
        own = [rank // self.devices if rank < self.workers else rank for rank in range(self.ranks)]
        self.cards_for(max(own) + 1)
        return self.with_devices("device", own, self.devices > 1)

    def lay_gpu_hosts(self):
        """Of hosts of several cards a device has that of its number modulo theirs; its inner link is for its host."""
        cards = self.topology["nics"]
        own = [self.hosts[rank] * cards + rank % self.devices % cards for rank in range(self.workers)]
        own += [-(-self.workers // self.devices) * cards + server for server in range(self.ranks - self.workers)]
        self.cards_for(max(own) + 1)
        return self.with_devices("nvlink", own, False)

    def with_devices(self, inner, cards, behind):
        self.cards = cards
        for rank in range(self.workers):
            self.lay(inner, rank, self.option(inner + "_bandwidth", 300e9))
        inner_latency = self.option(inner + "_latency", 2e-6)

        def route(source, target):
            ends = (source, "UP"), (target, "DOWN")
            devices = [(inner, rank, way) for rank, way in ends if rank < self.workers]
            if self.hosts[source] == self.hosts[target]:
                return devices, inner_latency
            between = [("nic", cards[source], "UP"), ("nic", cards[target], "DOWN")]
            return between + (devices if behind else []), self.latency
        return route

    def lay_two_tier(self):
        """Racks whose uplink has the bandwidth of a full rack's hosts divided by the oversubscription."""
        size = self.topology["hosts_per_rack"]
        self.cards_for(self.ranks)
        for rack in range(-(-self.ranks // size)):
            self.lay("rack", rack, size * self.bandwidth / self.topology["oversubscription"])
        rack_latency = self.option("rack_latency", self.latency / 2)

        def route(source, target):
            links, racks = [("nic", source, "UP"), ("nic", target, "DOWN")], (source // size, target // size)
            if racks[0] == racks[1]:
                return links, self.latency
            return links + [("rack", racks[0], "UP"), ("rack", racks[1], "DOWN")], self.latency + 2 * rack_latency
        return route

    def lay_fat_tree(self):
        """k-port switches; the receiver's number chooses the aggregation and the core switch on the way up."""
        k = self.topology.get("k") or next(k for k in range(2, 100, 2) if k**3 // 4 >= self.ranks)
        half, hop = k // 2, self.option("link_latency", self.latency / 2)
        self.cards_for(self.ranks)
        for number in range(k * half * half):
            self.lay("edge", number, self.option("link_bandwidth", self.bandwidth))
            self.lay("core", number, self.option("link_bandwidth", self.bandwidth))

        def route(source, target):
            links = [("nic", source, "UP"), ("nic", target, "DOWN")]
            up, down, aggregation, core = source // half, target // half, target % half, target // half % half
            if up == down:
                return links, self.latency
            links += [("edge", up * half + aggregation, "UP"), ("edge", down * half + aggregation, "DOWN")]
            pods = up // half, down // half
            if pods[0] == pods[1]:
                return links, self.latency + 2 * hop
            return links + [("core", (pod * half + aggregation) * half + core, way)
                            for pod, way in zip(pods, ("UP", "DOWN"))], self.latency + 4 * hop
        return route

    def lay_torus(self):
        """A wrapped grid, in which a message goes the shorter way round in one dimension after the other."""
        side = next(k for k in range(1, 100) if k * k >= self.ranks)
        return self.grid("torus", [int(size) for size in self.topology["shape"]] or [side, -(-self.ranks // side)])

    def lay_ring(self):
        return self.grid("ring", [self.ranks])

    def grid(self, kind, shape):
        """Each node has a link to the next one in each dimension; two nodes in a dimension have one link, not two."""
        nodes = [node[::-1] for node in product(*(range(size) for size in reversed(shape)))]
        link = {}
        for node in nodes:
            for dimension, size in enumerate(shape):
                if size > 2 or size == 2 and node[dimension] == 0:
                    link[node, dimension] = len(link)
                    self.lay(kind, link[node, dimension], self.bandwidth)

        def route(source, target):
            here, there, links = nodes[source], nodes[target], []
            for dimension, size in enumerate(shape):
                forward = (there[dimension] - here[dimension]) % size
                ahead = forward < size - forward or forward == size - forward and (size > 2 or here[dimension] == 0)
                for _ in range(min(forward, size - forward)):
                    after = (here[dimension] + (1 if ahead else -1)) % size
                    beyond = here[:dimension] + (after,) + here[dimension + 1:]
                    links.append((kind, link[here if ahead else beyond, dimension], "UP" if ahead else "DOWN"))
                    here = beyond
            return links, len(links) * self.latency
        return route

    def lay_shared_memory(self):
        """The cores of one host: every message crosses its memory."""
        self.hosts = [0] * self.ranks
        self.capacity["memory", 0, None] = self.bandwidth
        return lambda source, target: ([("memory", 0, None)], self.latency)

    def lay_wan(self):
        """Sites far apart: each is a star, and every two have a link of their own."""
        sites, site_of = self.topology["sites"], []
        for number, site in enumerate(sites):
            site_of += [number] * site.get("hosts", 1)
        own = [quantity(site["latency"]) if "latency" in site else self.latency for site in sites]
        for host, site in enumerate(site_of):
            self.lay("nic", host, quantity(sites[site]["bandwidth"]) if "bandwidth" in sites[site] else self.bandwidth)
        pairs = [(low, high) for low in range(len(sites)) for high in range(low + 1, len(sites))]
        between = {}
        for number, (low, high) in enumerate(pairs):
            names = {sites[low]["name"], sites[high]["name"]}
            told = next((pair for pair in self.topology["pairs"] if {pair["from"], pair["to"]} == names), {})
            self.lay("wan", number, quantity(told.get("bandwidth", self.topology["bandwidth"])))
            between[low, high] = number, quantity(told.get("latency", self.topology["latency"]))

        def route(source, target):
            links, (low, high) = [("nic", source, "UP"), ("nic", target, "DOWN")], (site_of[source], site_of[target])
            if low == high:
                return links, own[low]
            number, latency = between[min(low, high), max(low, high)]
            way = "UP" if low < high else "DOWN"
            return links + [("wan", number, way)], latency + (own[low] + own[high]) / 2
        return route

    # -------------------------------------------------------------------------------------------------------- messages

    def read_protocol(self, cluster):
        """What a message between hosts asks for besides its latency and its bytes, by the model of the network."""
        protocol = cluster["protocol"]
        kind = protocol["kind"] if isinstance(protocol, dict) else protocol
        self.rows = {"none": [], "nccl": NCCL, "smpi": SMPI}.get(kind)
        if kind == "table":
            self.rows = [(quantity(row["from"]), row["latency"], row["bandwidth"]) for row in protocol["rows"]]
        self.limit, self.window, self.goodput = float("inf"), None, 1.0
        if cluster["network_model"] == "ethernet":
            self.goodput = 8948 / 9038 if cluster["frame"] == "jumbo" else 1448 / 1538
            self.window = quantity(cluster["window"])
            if quantity(cluster["processor_time"]):
                self.limit = 1 / quantity(cluster["processor_time"])
        if cluster.get("flow_limit"):
            self.limit = min(self.limit, quantity(cluster["flow_limit"]))

    def message(self, source, target, size):
        """Links, latency, bytes that occupy the links, and the largest rate at which these go."""
        links, latency = self.route(source, target)
        if self.hosts[source] == self.hosts[target]:
            return links, latency, size, float("inf")
        rate = min(self.limit, self.window / (2 * latency) if self.window and latency else float("inf"))
        of_latency, of_bandwidth = next((row[1:] for row in reversed(self.rows) if size >= row[0]), (1, 1))
        return links, of_latency * latency, size / of_bandwidth / self.goodput, rate / of_bandwidth / self.goodput

    def connections(self, cluster):
        """The connections of hosts that begin with slow start; nothing where none do."""
        if cluster["network_model"] == "ethernet" and cluster["initial_window"]:
            return Connections(self, 1460 * cluster["initial_window"], cluster.get("idle_time"))
        return None


class Connections:
    """Windows of TCP, by sender and receiver: a round trip each, twice as many bytes from one to the next."""

    def __init__(self, cables, initial, idle_time):
        self.cables, self.initial, self.idle_time = cables, initial, idle_time
        self.windows, self.under_way, self.last = {}, {}, {}

    def begin(self, ends, size, now):
        """The time by which the message's last byte leaves later than it would in one stream."""
        links, latency = self.cables.route(*ends)
        round_trip = 2 * latency
        if self.cables.hosts[ends[0]] == self.cables.hosts[ends[1]] or round_trip < 1e-3 or not size:
            return 0.0
        timeout = quantity(self.idle_time) if self.idle_time else round_trip + 0.2
        if not self.under_way.get(ends) and now - self.last.get(ends, float("-inf")) > timeout:
            self.windows[ends] = self.initial
        self.under_way[ends] = self.under_way.get(ends, 0) + 1
        _, _, load, rate = self.cables.message(*ends, size)
        bandwidth = size / (load / min([rate] + [self.cables.capacity[link] for link in links]))
        window, left, rounds = self.windows[ends], size, 0
        while left > window and window < bandwidth * round_trip:
            left, window, rounds = left - window, 2 * window, rounds + 1
        return rounds * round_trip + left / bandwidth - size / bandwidth

    def end(self, ends, size, now):
        if self.under_way.get(ends):
            self.under_way[ends] -= 1
            self.windows[ends] += size
            self.last[ends] = now
