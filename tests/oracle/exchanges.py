"""What ranks that share a sequence, or the experts of a layer, send to each other within a step.

Written without reading src/, from

* H. Liu et al., Ring Attention with Blockwise Transformers for Near-Infinite Context, 2023 (a rank has a part of the
  tokens; keys and values go around a ring, and a block of them is used while the next one is under way);
* D. Lepikhin et al., GShard: Scaling Giant Models with Conditional Computation and Automatic Sharding, 2021, and
  W. Fedus et al., Switch Transformers, 2022 (an expert takes at most its capacity of a sequence's tokens; they go to
  its rank and back by all-to-all, and so do their gradients);
* D. Narayanan et al., Efficient Large-Scale Language Model Training on GPU Clusters Using Megatron-LM, 2021, and the
  documents of its core (gradients are summed once, over all ranks that have the same parameters).

Where these leave it open, it is here as simgrad shows it: an all-to-all goes in rounds, in each of which a rank sends
to the one that is so many places ahead; scores have a backward pass in two halves, keys and values go around again
beside the first, and the sums for them beside the second.
"""
from collections import defaultdict

from collectives import exchange
from fluid import Event
from meshes import meet, nearest


def all_to_all(t, rank, layer, rows):
    """To the ranks of the experts, or back: the tokens that a rank's experts take of each sample."""
    members, size = t.mesh.along(rank, "expert"), nearest(rows * layer.routed) * t.number
    place, count = members.index(rank), len(members)
    for turn in range(1, count):
        yield from exchange(t, rank, members[(place + turn) % count], members[place - turn], "experts", size)


def around(t, rank, layer, rows, sums):
    """A rank's scores with the keys and values of all ranks, or half of their backward pass, block by block.

    Keys and values come with the rounds of a ring. Sums for them go on when the own block has been added, and a rank's
    own keys and values are the last.
    """
    members = t.mesh.along(rank, "context")
    place, count = members.index(rank), len(members)
    length, block = nearest(rows * layer.keys), rows * layer.scores / count
    arrived, computed = [Event() for _ in members], [Event() for _ in members]

    def beside():
        for turn in range(count - 1):
            if sums:
                yield computed[turn]
            yield from exchange(t, rank, members[(place + 1) % count], members[place - 1], "keys", length * t.number)
            if sums:
                yield t.work(rank, length)
            t.clock.trigger(arrived[turn])
    t.clock.spawn(beside())
    for turn in range(count):
        if turn and not sums:
            yield arrived[turn - 1]
        yield t.work(rank, block)
        t.clock.trigger(computed[turn])
    yield arrived[count - 2]


EXCHANGES = {"experts": all_to_all,
             "keys": lambda *arguments: around(*arguments, False), "sums": lambda *arguments: around(*arguments, True)}


def through(t, rank, place, what, rows):
    """A rank's pass through a layer, with what it exchanges before and behind the layer's products."""
    layer = t.layers[place]
    before, behind = layer.exchanges[what]
    for name, sized in before:
        yield from EXCHANGES[name](t, rank, sized, rows)
    yield t.work(rank, rows * getattr(layer, what))
    yield from meet(t, rank, layer.sums[what], rows)
    for name, sized in behind:
        yield from EXCHANGES[name](t, rank, sized, rows)


def sum_of_sharers(t, rank, layers, replicas, algorithm):
    """Gradients of layers are summed over the ranks that have the same parameters: those that share sequences, for all
    but the experts those that share these, and the replicas, if they are named, too."""
    lengths = defaultdict(int)
    for layer in layers:
        names = ("context",) if layer.routed else ("context", "expert")
        lengths[tuple(t.mesh.along(rank, *names, *replicas))] += layer.parameters
    for members, length in lengths.items():
        if length and len(members) > 1:
            yield from algorithm(t, rank, list(members), length, "main")
