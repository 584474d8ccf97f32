"""Programs of ranks that hold a shard: ZeRO's stages, and FSDP unit by unit."""
from collections import deque

from collectives import all_gather, chunks, reduce_scatter
from fluid import Event, Stream
from known import FAULTS
from replicas import buckets_of, drop_gradients, length_of, passes, update


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
    members = t.group(rank)
    return chunks(length, len(members))[(members.index(rank) + 1) % len(members)]


def zero(t, rank):
    """Stages 1 and 2: reduce-scatter the gradient, update a shard, all-gather the parameters.

    Stage 1 keeps the whole gradient, and reduces it at once after the passes or in buckets beside them, which pass
    through one buffer. Stage 2 reduces by bucket or unit, and keeps its chunk of the sum alone, except of gradients
    that are first added up (no_sync); there a piece waits for the one before it, so that two are in memory at most.
    """
    stage, memory, stream, members = t.options["stage"], t.ledgers[rank], Stream(t.clock), t.group(rank)
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
                        if frees:
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
    itself: it is gathered again once it has been dropped, and so is a tied matrix. The input of a reduction is freed
    when the next unit has been through its backward pass, which waits for that reduction first (as PyTorch's
    fully_shard does), so that two gradients of whole units are in memory at most.
    """

    def __init__(self, t, rank):
        self.t, self.rank, self.memory, self.stream = t, rank, t.ledgers[rank], Stream(t.clock)
        self.units, self.members = units_of(t), t.group(rank)
        self.own = [length_of(t, unit) for unit in self.units]
        self.shards = [own_chunk(t, rank, length) for length in self.own]
        self.tied = t.layers[-1].tied
        self.keeps = not t.options.get("reshard_after_forward", True)
        self.limit = t.options.get("limit", 2) if t.options.get("prefetch", True) else 1
        self.parts = t.micro_batches()
        adds_up = len(self.parts) > 1 and t.options["no_sync"]
        self.accumulators_stay = adds_up and "accumulators" in FAULTS
        names = range(len(self.units))
        self.order = [(name, True) for name in names] + [(name, False) for name in reversed(names)]

    def place_of(self, visit):
        """The name in the ledger of what a visit reads: its own copy of the unit, or the forward one that was kept."""
        name, forward = self.order[visit]
        return "unit", self.order.index((name, True)) if self.keeps and not forward else visit

    def gathered_length(self, name):
        """A tied head's unit brings the embedding's matrix with it, unless the embedding stays in memory anyway."""
        return self.own[name] + (self.tied if name == len(self.units) - 1 and name and not self.keeps else 0)

    def gather(self, visit):
        name = self.order[visit][0]
        yield from all_gather(self.t, self.rank, self.members, self.gathered_length(name), "side")
        self.t.clock.trigger(self.gathered[visit])

    def in_memory(self, name):
        """Whether a gather of the unit would bring parameters that are there already."""
        last = len(self.units) - 1
        shared = self.tied and not self.keeps and name in (0, last)
        return name in self.there or bool(shared and self.there & {0, last})

    def gather_ahead(self):
        while self.next < len(self.order) and self.used < self.limit:
            name, forward = self.order[self.next]
            kept = not forward and self.keeps
            if not kept and self.in_memory(name) and "gathered_twice" not in FAULTS:
                return
            if name in self.there and kept:
                self.t.clock.trigger(self.gathered[self.next])
            elif not self.gathered_length(name):
                self.t.clock.trigger(self.gathered[self.next])
            else:
                self.used += 1
                self.there.add(name)
                size = self.gathered_length(name) * self.t.number
                self.memory.hold(self.place_of(self.next), size if len(self.members) > 1 else 0)
                self.stream.put(self.gather(self.next))
            self.next += 1

    def compute(self, visit, rows):
        t, memory, (name, forward) = self.t, self.memory, self.order[visit]
        if self.gathered_length(name):
            memory.read(self.place_of(visit))
        if not forward:
            self.hold_gradient(name)
            if name == len(self.units) - 1:
                self.hold_gradient("tied")
        for place in self.units[name] if forward else reversed(self.units[name]):
            layer = t.layers[place]
            if forward:
                yield t.work(self.rank, rows * layer.forward)
                memory.hold(("kept", place), rows * layer.kept)
            else:
                memory.read(("kept", place))
                memory.hold(("loss", place), rows * layer.loss)
                yield t.work(self.rank, rows * layer.backward)
                if self.later:
                    yield t.work(self.rank, layer.parameters)
                memory.drop(("kept", place))
                memory.drop(("loss", place))

    def end_reduction(self):
        if self.reduction:
            event, name = self.reduction
            yield event
            if not self.accumulators_stay:
                self.drop_gradient(name)
        self.reduction = None

    def hold_gradient(self, name):
        """A unit's gradient is in memory from its first backward pass on, that of a tied matrix from the head's."""
        numbers = self.tied if name == "tied" else self.own[name] - (self.tied if name == 0 else 0)
        if ("gradient", name) not in self.memory.held and (numbers or name != "tied"):
            self.memory.hold(("gradient", name), numbers * self.t.number)

    def drop_gradient(self, name):
        self.memory.drop(("gradient", name))
        if name == 0 and self.tied:
            self.memory.drop(("gradient", "tied"))

    def micro_batch(self, rows, reduces, later):
        """The visits of one micro-batch; it is over when its shards are reduced, and added to earlier ones.

        later: there are earlier ones. Where these are not reduced, a unit's gradient is added to theirs.
        """
        adds, self.later = later and not self.t.options["no_sync"], later and self.t.options["no_sync"]
        self.gathered, self.next, self.used, self.there = [Event() for _ in self.order], 0, 0, set()
        self.reduction = None
        self.gather_ahead()
        for visit, (name, forward) in enumerate(self.order):
            yield self.gathered[visit]
            yield from self.compute(visit, rows)
            if self.gathered_length(name):
                if not (forward and self.keeps):
                    self.memory.drop(self.place_of(visit))
                    self.there.discard(name)
                if forward or not self.keeps:
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
        for name in range(len(self.own)) if self.accumulators_stay and reduces else []:
            if self.own[name]:
                self.drop_gradient(name)
        if adds:
            yield self.t.work(self.rank, sum(self.shards))

    def program(self):
        self.memory.hold("parameters", sum(self.shards) * self.t.number)
        self.memory.hold("optimizer", sum(self.shards) * self.t.vectors * self.t.number)
        for _ in range(self.t.steps):
            for part, rows in enumerate(self.parts):
                last = part == len(self.parts) - 1
                yield from self.micro_batch(rows, last or not self.t.options["no_sync"], part > 0)
            yield self.t.work(self.rank, sum(self.shards) * self.t.update_flops)
            for name in [name for name in self.memory.held if name[0] == "reduced"]:
                self.memory.drop(name)
            self.t.end_step()
