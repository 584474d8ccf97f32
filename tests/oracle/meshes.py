"""Cut models: the place of a rank in a mesh, and the layers of a transformer that are cut among tensor ranks.

Written without reading src/, from

* M. Shoeybi et al., Megatron-LM: Training Multi-Billion Parameter Language Models Using Model Parallelism, 2019 (a
  block sums once behind attention and once behind the feed-forward part, and as often in the backward pass; embedding
  and head are cut by the vocabulary, and the loss sums numbers of each token);
* V. Korthikanti et al., Reducing Activation Recomputation in Large Transformer Models, 2023 (what a rank keeps).
"""
from collectives import ring


class Mesh:
    """The ranks of a cluster along the dimensions of [parallel], the innermost dimension first."""

    def __init__(self, parallel, workers):
        sizes = {"tensor": parallel["tensor"], "pipeline": parallel["pipeline"]}
        sizes["data"] = workers // (sizes["tensor"] * sizes["pipeline"])
        self.sizes, self.order = sizes, [name for name in parallel["order"] if name in sizes]

    def place(self, rank):
        """The number of a rank along each dimension."""
        place = {}
        for name in self.order:
            rank, place[name] = divmod(rank, self.sizes[name])
        return place

    def rank(self, place):
        rank = 0
        for name in reversed(self.order):
            rank = rank * self.sizes[name] + place[name]
        return rank

    def along(self, rank, name):
        """The ranks whose places differ from that of a rank in one dimension alone."""
        return [self.rank(self.place(rank) | {name: number}) for number in range(self.sizes[name])]


def meet(t, rank, sums, rows):
    """Sums of so many numbers a sample among the tensor ranks of a replica, one after the other."""
    for numbers in sums if t.mesh.sizes["tensor"] > 1 else ():
        yield from ring(t, rank, t.mesh.along(rank, "tensor"), round(rows * numbers), "tensor")


def cut_transformer(model, number, tensor, layer_of):
    """The layers of one of the tensor ranks; norms, positions and biases behind a sum are whole on each of them.

    The loss sums a maximum of each token, and then the exponentials' sum and the target's score.
    """
    s, h, v, f = model["sequence"], model["hidden"], model["vocabulary"], model.get("feed_forward", 4 * model["hidden"])
    heads, scores = model["heads"], 4 * s * s * h / tensor

    def product(unit, parameters, flops, numbers, extra=0.0, tied=0, scores=0.0, forward=(), backward=()):
        share = flops / (flops + scores) / 2 if flops else 0
        flops += scores
        layer = layer_of(unit, parameters, flops, 2 * flops, numbers * number + extra, s * h * number, tied, share)
        layer.sums = {"forward": forward if tensor > 1 else (), "backward": backward if tensor > 1 else ()}
        return layer
    layers, whole = [product("embedding", (v // tensor + s) * h, 0, 0, forward=[s * h])], [s * h]
    for block in range(model["layers"]):
        unit = f"block {block}"
        layers += [product(unit, 2 * h + (3 * h * h + 3 * h) // tensor, 6 * s * h * h / tensor,
                           2 * s * h + (3 * s * h + heads * s * s) / tensor, scores=scores, backward=whole),
                   product(unit, h * h // tensor + h, 2 * s * h * h / tensor, s * h / tensor, forward=whole),
                   product(unit, 2 * h + (f * h + f) // tensor, 2 * s * h * f / tensor, 2 * s * h + s * f / tensor,
                           backward=whole),
                   product(unit, f * h // tensor + h, 2 * s * h * f / tensor, s * f / tensor, forward=whole)]
    own = 0 if model["tied"] else v * h // tensor
    return layers + [product("head", 2 * h + own, 2 * s * h * v / tensor, 2 * s * h, 4 * s * v / tensor,
                             v * h // tensor if model["tied"] else 0, forward=[s, 2 * s], backward=whole)]
