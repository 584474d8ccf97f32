"""Programs of ranks that hold the whole model: passes, sums of gradients, averages, gossip."""
from collectives import algorithm_of, allreduce, kind_of
from exchanges import sum_of_sharers, through
from fluid import Stream


def passes(t, rank, rows, after_layer=None):
    """A forward and a backward pass through whole layers whose parameters are resident."""
    memory, layers = t.ledgers[rank], t.layers
    matrix = layers[-1].tied
    for place, layer in enumerate(layers):
        memory.read("parameters")
        yield from through(t, rank, place, "forward", rows)
        memory.hold(("kept", place), rows * layer.kept)
    added = 0
    for place in reversed(range(len(layers))):
        layer = layers[place]
        memory.read("parameters", ("kept", place))
        memory.hold(("loss", place), rows * layer.loss)
        yield from through(t, rank, place, "backward", rows)
        if ("gradient", place) in memory.held and t.options.get("no_sync"):
            added += layer.parameters
            if t.mesh.cut == 1:  # the ranks of a mesh add when the pass is over, as simgrad shows it
                yield t.work(rank, layer.parameters)
        own = layer.parameters - (matrix if place == 0 else 0)
        for name, size in [("tied", matrix if place == len(layers) - 1 else 0), (place, own)]:
            if ("gradient", name) not in memory.held and (size or name == place):
                memory.hold(("gradient", name), size * t.number)
        if after_layer:
            yield from after_layer(place)
        memory.drop(("kept", place))
        memory.drop(("loss", place))
    if added and t.mesh.cut > 1:
        yield t.work(rank, added)


def drop_gradients(t, rank):
    memory = t.ledgers[rank]
    for name in [name for name in memory.held if name[0] == "gradient"]:
        memory.drop(name)


def replica(t, rank):
    memory = t.ledgers[rank]
    memory.hold("parameters", t.parameters * t.number)
    memory.hold("optimizer", t.parameters * t.vectors * t.number)


def sum_of_gradients(t, rank, replicas=()):
    """The sum over replicas, and over the ranks of a replica that share sequences or experts."""
    yield from sum_of_sharers(t, rank, t.layers, replicas, algorithm_of(t))


def update(t, rank, length):
    t.ledgers[rank].read("parameters", "optimizer")
    yield t.work(rank, length * t.update_flops)


def single(t, rank):
    replica(t, rank)
    for _ in range(t.steps):
        yield from passes(t, rank, t.rows)
        yield from sum_of_gradients(t, rank)
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
                yield from sum_of_gradients(t, rank, ("data",))
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
        yield from sum_of_gradients(t, rank)
        yield from update(t, rank, t.parameters)
        drop_gradients(t, rank)
        if (step + 1) % t.options["local_steps"] == 0 and len(t.group(rank)) > 1:
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


def turns_of(t):
    """The places between a rank and its peer in successive steps, where it has one peer a step."""
    graph, count = kind_of(t.options["graph"]), t.workers
    hops = (1, count - 1) if graph == "ring" else range(1, count)
    return list(dict.fromkeys(hop for hop in hops if count > 1))


def gossip(t, rank):
    """D-PSGD: the gradient at the old parameters, the neighbours' average, then the step; with all neighbours, or with
    one peer a step, to each in turn."""
    replica(t, rank)
    everybody, turns = neighbours(t, rank), turns_of(t)
    for step in range(t.steps):
        hop = turns[step % len(turns)] if t.options.get("one_peer") and turns else None
        peers = everybody if hop is None else [(rank + hop) % t.workers]
        sources = everybody if hop is None else [(rank - hop) % t.workers]

        def meet():
            sends = [t.send(rank, peer, "main", t.parameters * t.wire) for peer in peers]
            return sends + [t.receive(source, rank, "main") for source in sources]
        events = meet() if t.options["overlap"] else []
        yield from passes(t, rank, t.rows)
        for event in events or meet():
            yield event
        if peers:
            yield t.work(rank, (2 * len(peers) + 1) * t.parameters)
        yield from update(t, rank, t.parameters)
        drop_gradients(t, rank)
        t.end_step()
