"""Cut models: the place of a rank in a mesh, and the layers of a transformer that are cut among tensor ranks.

Written without reading src/, from

* M. Shoeybi et al., Megatron-LM: Training Multi-Billion Parameter Language Models Using Model Parallelism, 2019 (a
  block sums once behind attention and once behind the feed-forward part, and as often in the backward pass; embedding
  and head are cut by the vocabulary, and the loss sums numbers of each token);
* V. Korthikanti et al., Reducing Activation Recomputation in Large Transformer Models, 2023 (what a rank keeps);
* D. Lepikhin et al., GShard: Scaling Giant Models with Conditional Computation and Automatic Sharding, 2021 (experts).
"""
from itertools import product
from math import ceil, floor, lcm, prod

from collectives import ring


class Mesh:
    """The ranks of a cluster along the dimensions of [parallel], the innermost dimension first."""

    def __init__(self, parallel, workers):
        self.sizes = {name: parallel[name] for name in ("tensor", "context", "expert", "pipeline")}
        self.cut = prod(self.sizes.values())
        self.stages = [int(ranks) for ranks in parallel.get("stage_replicas") or []]
        self.sizes["data"] = lcm(*self.stages) if self.stages else workers // self.cut  # the shares of a batch
        self.order = parallel["order"] + [name for name in self.sizes if name not in parallel["order"]]

    def place(self, rank):
        """The number of a rank along each dimension."""
        place = {}
        if self.stages:  # stage after stage
            stage = next(s for s in range(len(self.stages)) if rank < sum(self.stages[:s + 1]))
            return dict.fromkeys(self.sizes, 0) | {"pipeline": stage, "data": rank - sum(self.stages[:stage])}
        for name in self.order:
            rank, place[name] = divmod(rank, self.sizes[name])
        return place

    def rank(self, place):
        rank = 0
        if self.stages:
            return sum(self.stages[:place["pipeline"]]) + place["data"]
        for name in reversed(self.order):
            rank = rank * self.sizes[name] + place[name]
        return rank

    def along(self, rank, *names):
        """The ranks whose places differ from that of a rank in some dimensions alone."""
        sizes = self.sizes | ({"data": self.stages[self.place(rank)["pipeline"]]} if self.stages else {})
        places = product(*(range(sizes[name]) for name in names))
        return sorted(self.rank(self.place(rank) | dict(zip(names, place))) for place in places)


def nearest(numbers):
    """The nearest whole number, of two the larger one: Python's round takes the even one."""
    return floor(numbers + 0.5)


def meet(t, rank, sums, rows):
    """Sums of so many numbers a sample among the tensor ranks of a replica, one after the other."""
    for numbers in sums if t.mesh.sizes["tensor"] > 1 else ():
        yield from ring(t, rank, t.mesh.along(rank, "tensor"), nearest(rows * numbers), "tensor")


def cut_transformer(model, number, sizes, layer_of):
    """The layers of one rank of a mesh, with their work, activations and exchanges for one sample.

    Of tensor ranks norms, positions and biases behind a sum are whole on each. The loss sums a maximum of each token,
    and then the exponentials' sum and the target's score. Of context ranks each has all parameters and a part of the
    tokens. Experts compute an even share of the choices, as simgrad shows it, whatever their capacity.
    """
    s, h, v, f = model["sequence"], model["hidden"], model["vocabulary"], model.get("feed_forward", 4 * model["hidden"])
    heads, tensor, context, experts = model["heads"], sizes["tensor"], sizes["context"], model["experts"]

    def layer(unit, part, parameters, flops, numbers, extra=0.0, tied=0, scores=0.0, forward=(), backward=()):
        share = flops / (flops + scores) / 2 if flops else 0
        flops = (flops + (scores if context == 1 else 0)) / context
        made = layer_of(unit, parameters, flops, 2 * flops, (numbers * number + extra) / context,
                        s * h * number / context, tied, share)
        made.part = part, unit
        made.sums = {"forward": forward if tensor > 1 else (), "backward": backward if tensor > 1 else ()}
        if scores and context > 1:
            made.scores, made.keys = scores / context, 2 * s * h / context
            made.exchanges = {"forward": ([], [("keys", made)]), "backward": ([("keys", made), ("sums", made)], [])}
        return made
    layers, whole = [layer("embedding", 0, (v // tensor + s) * h, 0, 0, forward=[s * h])], [s * h]
    for block in range(model["layers"]):
        unit = f"block {block}"
        layers += [layer(unit, "attention", 2 * h + (3 * h * h + 3 * h) // tensor, 6 * s * h * h / tensor,
                         2 * s * h + (3 * s * h + heads * s * s) / tensor, scores=4 * s * s * h / tensor,
                         backward=whole),
                   layer(unit, "attention", h * h // tensor + h, 2 * s * h * h / tensor, s * h / tensor, forward=whole)]
        if experts and (block + 1) % model["expert_every"] == 0:
            layers += layers_of_experts(model, sizes, lambda *numbers: layer(unit, "feed-forward", *numbers))
            continue
        layers += [layer(unit, "feed-forward", 2 * h + (f * h + f) // tensor, 2 * s * h * f / tensor,
                         2 * s * h + s * f / tensor, backward=whole),
                   layer(unit, "feed-forward", f * h // tensor + h, 2 * s * h * f / tensor, s * f / tensor,
                         forward=whole)]
    own = 0 if model["tied"] else v * h // tensor
    layers += [layer("head", 0, 2 * h + own, 2 * s * h * v / tensor, 2 * s * h, 4 * s * v / tensor,
                     v * h // tensor if model["tied"] else 0, forward=[s, 2 * s], backward=whole)]
    layers[-1].loss = 4 * s * v / tensor / context
    return layers


def layers_of_experts(model, sizes, layer):
    """A router, and a rank's part of the experts."""
    s, h, f = model["sequence"], model["hidden"], model.get("feed_forward", 4 * model["hidden"])
    experts = model["experts"]
    choices, own = model["top_k"] * s, experts // sizes["expert"]
    # A token chooses an expert once at most.
    capacity = min(ceil(model["capacity_factor"] * choices / experts - 1e-9), s)
    # Without padding, as in Megatron-LM's dispatcher, tokens are computed and travel, and not places; each expert takes
    # as many.
    tokens = capacity if model.get("pad_experts") else min(model["capacity_factor"], 1) * choices / experts
    into = layer(own * (h * f + f), 2 * experts * tokens * h * f, experts * tokens * (h + f))
    out = layer(own * (f * h + h), 2 * experts * tokens * h * f, experts * tokens * (h + f))
    into.routed = out.routed = own * tokens * h / sizes["context"]
    if sizes["expert"] > 1:
        into.exchanges = {"forward": ([("experts", into)], []), "backward": ([], [("experts", into)])}
        out.exchanges = {"forward": ([], [("experts", out)]), "backward": ([("experts", out)], [])}
    return [layer(2 * h + h * experts, 2 * s * h * experts, 2 * s * h + s * experts), into, out]
