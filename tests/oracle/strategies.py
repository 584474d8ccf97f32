"""Programs of the ranks for timeline.py, a generator each: what a rank computes, sends, holds and drops, in order."""
from collections import deque

from collectives import all_gather, allreduce, chunks, kind_of, reduce_scatter, ring
from fluid import Event, StopTraining, Stream

# ------------------------------------------------------------------------------------- passes, and replicas of a model

def passes(t, rank, rows, after_layer=None):
    """A forward and a backward pass through whole layers whose parameters are resident."""
    memory, layers = t.ledgers[rank], t.layers
    for place, layer in enumerate(layers):
        memory.read("parameters")
        yield t.work(rank, rows * layer.forward)
        memory.hold(("kept", place), rows * layer.kept)
    for place in reversed(range(len(layers))):
        layer = layers[place]
        memory.read("parameters", ("kept", place))
        yield t.work(rank, rows * layer.backward)
        if ("gradient", place) in memory.held and t.options.get("no_sync"):
            yield t.work(rank, layer.parameters)
        own = layer.parameters - (layers[-1].tied if place == 0 else 0)
        for name, size in [("tied", layer.tied), (place, own)]:
            if ("gradient", name) not in memory.held and (size or name == place):
                memory.hold(("gradient", name), size * t.number)
        if after_layer:
            yield from after_layer(place)
        memory.drop(("kept", place))


def drop_gradients(t, rank):
    memory = t.ledgers[rank]
    for name in [name for name in memory.held if name[0] == "gradient"]:
        memory.drop(name)


def replica(t, rank):
    memory = t.ledgers[rank]
    memory.hold("parameters", t.parameters * t.number)
    memory.hold("optimizer", t.parameters * t.vectors * t.number)


def update(t, rank, length):
    t.ledgers[rank].read("parameters", "optimizer")
    yield t.work(rank, length * t.update_flops)


def single(t, rank):
    replica(t, rank)
    for _ in range(t.steps):
        yield from passes(t, rank, t.rows)
        yield from update(t, rank, t.parameters)
        drop_gradients(t, rank)
        t.end_step()


def length_of(t, places):
    return sum(t.layers[place].parameters for place in places)


def buckets_of(t):
    """Layers in backward order, in buckets that close as soon as they have so many bytes; the rest is the last one.

    A layer without parameters belongs to no bucket: nothing waits for its backward pass.
    """
    buckets, current = [], []
    for place in reversed(range(len(t.layers))):
        if t.layers[place].parameters:
            current.append(place)
            if length_of(t, current) * t.wire >= t.bucket:
                buckets.append(current)
                current = []
    return buckets + ([current] if current else [])


def data_parallel(t, rank):
    """DDP: buckets are summed in their order on one stream beside the backward pass, and all before the update.

    The buckets are copies of the gradient that are in memory all the time, as PyTorch's reducer has them. Gradients of
    micro-batches without a sum of their own (no_sync) are added up as the backward pass gets them; else the sums are.
    """
    replica(t, rank)
    stream, parts = Stream(t.clock), t.micro_batches()
    buckets = {bucket[-1]: bucket for bucket in buckets_of(t)} if t.bucket else {}
    if buckets:
        t.ledgers[rank].hold("buckets", t.parameters * t.wire)
    for _ in range(t.steps):
        for part, rows in enumerate(parts):
            reduces, sums = part == len(parts) - 1 or not t.options["no_sync"], []

            def after_layer(place):
                if reduces and place in buckets:
                    sums.append(stream.put(allreduce(t, rank, length_of(t, buckets[place]), "side")))
                yield from ()
            yield from passes(t, rank, rows, after_layer)
            if reduces and not buckets:
                yield from allreduce(t, rank, t.parameters, "main")
            for event in sums:
                yield event
            if part and not t.options["no_sync"]:
                yield t.work(rank, t.parameters)
        yield from update(t, rank, t.parameters)
        drop_gradients(t, rank)
        t.end_step()


def local_sgd(t, rank):
    replica(t, rank)
    for step in range(t.steps):
        yield from passes(t, rank, t.rows)
        yield from update(t, rank, t.parameters)
        drop_gradients(t, rank)
        if (step + 1) % t.options["local_steps"] == 0 and t.workers > 1:
            yield from allreduce(t, rank, t.parameters, "main")
            yield t.work(rank, t.parameters)
        t.end_step()


def neighbours(t, rank):
    """The graphs ring (both ranks beside), complete, and star."""
    graph, count = kind_of(t.options["graph"]), t.workers
    others = [other for other in range(count) if other != rank]
    if graph == "ring":
        return sorted({(rank - 1) % count, (rank + 1) % count} - {rank})
    return others if graph == "complete" else others if rank == 0 else [0]


def gossip(t, rank):
    """D-PSGD: the gradient at the old parameters, the neighbours' average, then the step."""
    replica(t, rank)
    peers = neighbours(t, rank)
    for _ in range(t.steps):
        def meet():
            sends = [t.send(rank, peer, "main", t.parameters * t.wire) for peer in peers]
            return sends + [t.receive(peer, rank, "main") for peer in peers]
        events = meet() if t.options["overlap"] else []
        yield from passes(t, rank, t.rows)
        for event in events or meet():
            yield event
        if peers:
            yield t.work(rank, (2 * len(peers) + 1) * t.parameters)
        yield from update(t, rank, t.parameters)
        drop_gradients(t, rank)
        t.end_step()


# ---------------------------------------------------------------------------------------------- shards of the replicas

def units_of(t):
    """Successive layers of one unit."""
    units = []
    for place, layer in enumerate(t.layers):
        if units and t.layers[units[-1][-1]].unit == layer.unit:
            units[-1].append(place)
        else:
            units.append([place])
    return units


def own_chunk(t, rank, length):
    """The chunk that a ring's reduce-scatter leaves on a rank."""
    return chunks(length, t.workers)[(rank + 1) % t.workers]


def zero(t, rank):
    """Stages 1 and 2: reduce-scatter the gradient, update a shard, all-gather the parameters.

    Stage 1 keeps the whole gradient, and reduces it at once after the passes or in buckets beside them, which pass
    through one buffer. Stage 2 reduces by bucket or unit, and keeps its chunk of the sum alone, except of gradients
    that are first added up (no_sync); there a piece waits for the one before it, so that two are in memory at most.
    """
    stage, memory, stream, members = t.options["stage"], t.ledgers[rank], Stream(t.clock), list(range(t.workers))
    if stage == 3:
        yield from FullySharded(t, rank).program()
        return
    beside, frees = stage == 2 or t.bucket, stage == 2 and not t.options["no_sync"]
    with_parameters = [[place for place in unit if t.layers[place].parameters] for unit in units_of(t)]
    pieces = buckets_of(t) if t.bucket else [unit[::-1] for unit in reversed(with_parameters) if unit]
    if not beside:
        pieces = [sum(pieces, [])]
    lengths = {piece[-1]: length_of(t, piece) for piece in pieces}
    shard = sum(own_chunk(t, rank, length) for length in lengths.values())
    memory.hold("parameters", t.parameters * t.number)
    memory.hold("optimizer", shard * t.vectors * t.number)
    memory.hold("buffer", max(lengths.values()) * t.wire if t.bucket and stage == 1 else 0)
    parts = t.micro_batches()
    for _ in range(t.steps):
        for part, rows in enumerate(parts):
            reduces, under_way = part == len(parts) - 1 or not t.options["no_sync"], deque()

            def end_reductions():
                while under_way:
                    event, piece = under_way.popleft()
                    yield event
                    for place in piece if frees else []:
                        memory.drop(("gradient", place))

            def after_layer(place):
                for piece in pieces if reduces and beside else []:
                    if place == piece[-1]:
                        if stage == 2:
                            yield from end_reductions()
                        chunk = ("gradient", "chunk", place)
                        if frees and chunk not in memory.held:
                            memory.hold(chunk, own_chunk(t, rank, lengths[place]) * t.number)
                        sums = reduce_scatter(t, rank, members, lengths[place], "side")
                        under_way.append((stream.put(sums), piece))
            yield from passes(t, rank, rows, after_layer)
            yield from end_reductions()
            if not beside and reduces:
                yield from reduce_scatter(t, rank, members, t.parameters, "main")
            if part and not t.options["no_sync"]:
                yield t.work(rank, shard)
        yield from update(t, rank, shard)
        drop_gradients(t, rank)
        for length in reversed(lengths.values()):
            yield from all_gather(t, rank, members, length, "main")
        t.end_step()


class FullySharded:
    """FSDP: a visit gathers its unit, reads it and drops it; a backward one leaves a gradient to reduce-scatter.

    The head of a tied model reads the embedding's matrix, too, so that its visits gather that as well; the matrix's
    gradient is kept, and reduced once, with the embedding's. A unit without parameters sends nothing, waits for nothing
    and takes no place among those that are gathered ahead. A unit that is in memory is not gathered again beside
    itself: it is gathered again once it has been dropped. The input of a reduction is freed when the next unit has been
    through its backward pass, which waits for that reduction first (as PyTorch's fully_shard does), so that two
    gradients of whole units are in memory at most.
    """

    def __init__(self, t, rank):
        self.t, self.rank, self.memory, self.stream = t, rank, t.ledgers[rank], Stream(t.clock)
        self.units, self.members = units_of(t), list(range(t.workers))
        self.own = [length_of(t, unit) for unit in self.units]
        self.shards = [own_chunk(t, rank, length) for length in self.own]
        self.tied = t.layers[-1].tied
        self.keeps = not t.options.get("reshard_after_forward", True)
        self.limit = t.options.get("limit", 2) if t.options.get("prefetch", True) else 1
        self.parts = t.micro_batches()
        names = range(len(self.units))
        self.order = [(name, True) for name in names] + [(name, False) for name in reversed(names)]

    def gathered_length(self, name):
        """A tied head's unit brings the embedding's matrix with it, unless the embedding stays in memory anyway."""
        return self.own[name] + (self.tied if name == len(self.units) - 1 and name and not self.keeps else 0)

    def gather(self, visit):
        name = self.order[visit][0]
        yield from all_gather(self.t, self.rank, self.members, self.gathered_length(name), "side")
        self.t.clock.trigger(self.gathered[visit])

    def gather_ahead(self):
        while self.next < len(self.order) and self.used < self.limit:
            name, forward = self.order[self.next]
            if name in self.there and (forward or not self.keeps):
                return
            if name in self.there:
                self.t.clock.trigger(self.gathered[self.next])
            elif not self.gathered_length(name):
                self.memory.hold(("unit", name), 0)
                self.t.clock.trigger(self.gathered[self.next])
            else:
                self.used += 1
                self.there.add(name)
                size = self.gathered_length(name) * self.t.number
                self.memory.hold(("unit", name), size if self.t.workers > 1 else 0)
                self.stream.put(self.gather(self.next))
            self.next += 1

    def compute(self, name, forward, rows):
        t, memory = self.t, self.memory
        memory.read(("unit", name))
        if not forward:
            again = ("gradient", name) in memory.held
            if not again:
                matrix = self.tied if name == 0 else 0
                memory.hold(("gradient", name), (self.own[name] - matrix) * t.number)
            if name == len(self.units) - 1 and self.tied and ("gradient", "tied") not in memory.held:
                memory.hold(("gradient", "tied"), self.tied * t.number)
        for place in self.units[name] if forward else reversed(self.units[name]):
            layer = t.layers[place]
            if forward:
                yield t.work(self.rank, rows * layer.forward)
                memory.hold(("kept", place), rows * layer.kept)
            else:
                memory.read(("kept", place))
                yield t.work(self.rank, rows * layer.backward)
                if again:
                    yield t.work(self.rank, layer.parameters)
                memory.drop(("kept", place))

    def end_reduction(self):
        if self.reduction:
            event, name = self.reduction
            yield event
            self.memory.drop(("gradient", name))
            if name == 0 and self.tied:
                self.memory.drop(("gradient", "tied"))
        self.reduction = None

    def micro_batch(self, rows, reduces, adds):
        """The visits of one micro-batch; it is over when its shards are reduced, and added to earlier ones."""
        self.gathered, self.next, self.used, self.there = [Event() for _ in self.order], 0, 0, set()
        self.reduction = None
        self.gather_ahead()
        for visit, (name, forward) in enumerate(self.order):
            yield self.gathered[visit]
            yield from self.compute(name, forward, rows)
            if not (forward and self.keeps):
                self.memory.drop(("unit", name))
                self.there.discard(name)
            if (forward or not self.keeps) and self.gathered_length(name):
                self.used -= 1
            if not forward and reduces:
                if self.own[name]:
                    yield from self.end_reduction()
                    if ("reduced", name) not in self.memory.held:
                        self.memory.hold(("reduced", name), self.shards[name] * self.t.number)
                    sums = reduce_scatter(self.t, self.rank, self.members, self.own[name], "side")
                    self.reduction = self.stream.put(sums), name
                else:
                    self.memory.drop(("gradient", name))
            self.gather_ahead()
        yield from self.end_reduction()
        if adds:
            yield self.t.work(self.rank, sum(self.shards))

    def program(self):
        self.memory.hold("parameters", sum(self.shards) * self.t.number)
        self.memory.hold("optimizer", sum(self.shards) * self.t.vectors * self.t.number)
        for _ in range(self.t.steps):
            for part, rows in enumerate(self.parts):
                each = not self.t.options["no_sync"]
                yield from self.micro_batch(rows, each or part == len(self.parts) - 1, each and part)
            yield self.t.work(self.rank, sum(self.shards) * self.t.update_flops)
            for name in [name for name in self.memory.held if name[0] == "reduced"]:
                self.memory.drop(name)
            self.t.end_step()


# ------------------------------------------------------------------------------------------------------------ pipelines

SCHEDULES = ("naive", "gpipe", "1f1b", "interleaved_1f1b")


def tasks_of_stage(schedule, stage, stages, parts, chunks_a_stage):
    """The passes of a stage in their order: (is it forward, micro-batch, chunk)."""
    count = parts * chunks_a_stage

    def piece(turn, forward):
        group, place = divmod(turn, stages * chunks_a_stage)
        chunk = place // stages
        return forward, group * stages + turn % stages, chunk if forward else chunks_a_stage - 1 - chunk
    if chunks_a_stage == 1:
        piece = lambda turn, forward: (forward, turn, 0)
    ahead = {"naive": 1, "gpipe": count, "1f1b": min(count, stages - stage),
             "interleaved_1f1b": min(count, 2 * (stages - stage - 1) + (chunks_a_stage - 1) * stages + 1)}[schedule]
    tasks = [piece(turn, True) for turn in range(ahead - 1)]
    for turn in range(count):
        if turn + ahead - 1 < count:
            tasks.append(piece(turn + ahead - 1, True))
        tasks.append(piece(turn, False))
    return tasks


def pipeline_stage(t, rank):
    """A stage of a cut model; hops go on beside the passes, and replicas of a stage sum their gradients at the end."""
    parallel, memory = t.parallel, t.ledgers[rank]
    stages, data, per_stage = parallel["pipeline"], t.workers // parallel["pipeline"], parallel["chunks"]
    stages_first = parallel["order"].index("pipeline") < parallel["order"].index("data")
    replica, stage = divmod(rank, stages) if stages_first else divmod(rank, data)[::-1]

    def rank_of(stage, replica):
        return replica * stages + stage if stages_first else stage * data + replica
    units, pieces, at = units_of(t), [], 0
    for count in parallel["stages"]:
        pieces.append([place for unit in units[at:at + int(count)] for place in unit])
        at += int(count)
    own = [pieces[chunk * stages + stage] for chunk in range(per_stage)]
    length = sum(length_of(t, piece) for piece in own)
    memory.hold("parameters", length * t.number)
    memory.hold("optimizer", length * t.vectors * t.number)
    parts = parallel["micro_batches"]
    rows = t.rows * t.workers // data // parts
    tasks = tasks_of_stage(parallel["schedule"], stage, stages, parts, per_stage)
    for _ in range(t.steps):
        arrivals, departures = {}, []
        for forward, part, chunk in tasks:
            source = chunk * stages + stage + (-1 if forward else 1)
            if 0 <= source < len(pieces):
                peer = rank_of(source % stages, replica)
                arrivals[forward, part, chunk] = t.receive(peer, rank, (forward, part, source))
        for task in tasks:
            forward, part, chunk = task
            if task in arrivals:
                yield arrivals[task]
            memory.read("parameters")
            for place in own[chunk] if forward else reversed(own[chunk]):
                layer = t.layers[place]
                if forward:
                    yield t.work(rank, rows * layer.forward)
                    memory.hold(("kept", place, part), rows * layer.kept)
                else:
                    memory.read(("kept", place, part))
                    yield t.work(rank, rows * layer.backward)
                    if ("gradient", place) not in memory.held:
                        memory.hold(("gradient", place), layer.parameters * t.number)
                    memory.drop(("kept", place, part))
            here = chunk * stages + stage
            target = here + (1 if forward else -1)
            if 0 <= target < len(pieces):
                peer = rank_of(target % stages, replica)
                size = rows * t.layers[pieces[max(here, target)][0]].entrance
                departures.append(t.send(rank, peer, (forward, part, here), size))
        for event in departures:
            yield event
        if data > 1:
            yield from ring(t, rank, [rank_of(stage, other) for other in range(data)], length, "sum")
        yield from update(t, rank, length)
        drop_gradients(t, rank)
        t.end_step()


# -------------------------------------------------------------------------------------------------- parameter servers

def shard_of(t, server):
    return chunks(t.parameters, t.ranks - t.workers)[server - t.workers]


def served_worker(t, rank):
    """Pulls all shards, computes, and pushes all shards of the gradient; a push is answered with parameters."""
    replica(t, rank)
    servers = range(t.workers, t.ranks)
    answers = [t.receive(server, rank, "pull") for server in servers]
    while not t.ended:
        for event in answers:
            yield event
        yield from passes(t, rank, t.rows)
        pushes = [t.send(rank, server, "push", shard_of(t, server) * t.wire) for server in servers]
        answers = [t.receive(server, rank, "pull") for server in servers]
        for event in pushes:
            yield event
        drop_gradients(t, rank)


def server_in_steps(t, rank):
    """Bulk synchronous: adds a gradient of every worker, updates its shard, and sends it to all."""
    shard, memory = shard_of(t, rank), t.ledgers[rank]
    memory.hold("parameters", shard * t.number)
    memory.hold("optimizer", shard * t.vectors * t.number)
    for _ in range(t.steps):
        pulls = [t.send(rank, worker, "pull", shard * t.wire) for worker in range(t.workers)]
        for event in pulls + [t.receive(worker, rank, "push") for worker in range(t.workers)]:
            yield event
        yield t.work(rank, t.workers * shard)
        yield from update(t, rank, shard)
        t.end_step()


def server_as_they_come(t, rank):
    """Asynchronous: every gradient is an update, in the order of arrival, answered with the new parameters."""
    shard, memory = shard_of(t, rank), t.ledgers[rank]
    memory.hold("parameters", shard * t.number)
    memory.hold("optimizer", shard * t.vectors * t.number)
    arrived, bell = deque(), [Event()]

    def listen(worker):
        while not t.ended:
            yield t.send(rank, worker, "pull", shard * t.wire)
            yield t.receive(worker, rank, "push")
            answered = Event()
            arrived.append(answered)
            t.clock.trigger(bell[0])
            yield answered
    for worker in range(t.workers):
        t.clock.spawn(listen(worker))
    for _ in range(t.steps):
        while not arrived:
            bell[0] = Event()
            yield bell[0]
        yield from update(t, rank, shard)
        t.clock.trigger(arrived.popleft())
    t.end_step()
    t.ended = True
    raise StopTraining


def parameter_server(t, rank):
    if rank < t.workers:
        return served_worker(t, rank)
    return server_in_steps(t, rank) if t.options["consistency"] == "bsp" else server_as_they_come(t, rank)


PROGRAMS = {"single": single, "allreduce": data_parallel, "local_sgd": local_sgd, "gossip": gossip,
            "parameter_server": parameter_server, "zero": zero, "fsdp": lambda t, rank: FullySharded(t, rank).program()}
