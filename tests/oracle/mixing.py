"""Strategies whose replicas average with their neighbours in a graph; the graphs, and their matrices of weights.

Written without reading src/. Each strategy is a generator of the parameters that are evaluated, the replicas' mean: at
the start, and after each step.
"""

import math

import numpy as np

from codes import encode


def neighbours(graph, ranks, rows=None):
    """The ranks to whom each rank is joined; graph: its kind, or its edges."""
    joined = [set() for _ in range(ranks)]

    def join(a, b):
        if a != b:
            joined[a].add(b)
            joined[b].add(a)

    if not isinstance(graph, str):
        for a, b in graph:
            join(a, b)
        return joined
    if rows is None:
        rows = max(r for r in range(1, int(math.isqrt(ranks)) + 1) if ranks % r == 0)
    columns = ranks // rows
    for a in range(ranks):
        if graph == "ring" or graph == "path" and a + 1 < ranks:
            join(a, (a + 1) % ranks)
        if graph == "complete":
            for b in range(ranks):
                join(a, b)
        if graph == "star":
            join(a, 0)
        if graph == "hypercube":
            for bit in range(ranks.bit_length() - 1):
                join(a, a ^ (1 << bit))
        if graph == "exponential":
            for hop in range((ranks - 1).bit_length()):
                join(a, (a + (1 << hop)) % ranks)
        if graph in ("grid_2d", "torus_2d"):
            row, column = divmod(a, columns)
            if graph == "torus_2d" or column + 1 < columns:
                join(a, row * columns + (column + 1) % columns)
            if graph == "torus_2d" or row + 1 < rows:
                join(a, (row + 1) % rows * columns + column)
    return joined


def mixing_matrix(joined, mixing="metropolis", lazy=False):
    """Xiao and Boyd, 2004: W[i, j] is the weight of j's parameters in i's average."""
    ranks = len(joined)
    w = np.zeros((ranks, ranks))
    most = max(len(n) for n in joined)
    for i in range(ranks):
        for j in joined[i]:
            w[i, j] = 1 / (1 + {"metropolis": max(len(joined[i]), len(joined[j])), "uniform": len(joined[i]),
                                "max_degree": most}[mixing])
        w[i, i] = 1 - w[i].sum()
    return (np.eye(ranks) + w) / 2 if lazy else w


def _mix(w, vectors, code=None):
    """Everybody's average. With a code, of whose vectors neighbours have the codes alone, it moves each by the weighted
    differences of these and its own code, which keeps the mean."""
    if code is None:
        return list(w @ np.array(vectors))
    coded = np.array([encode(v, code) for v in vectors])
    return list(np.array(vectors) + w @ coded - coded)


def gossip(task, steps, matrix, update="combine_then_adapt", code=None):
    """Lian et al., 2017, Algorithm 1; its order of averaging and stepping is `combine_then_adapt`.

    matrix: or those of successive steps, in a list."""
    turns = matrix if isinstance(matrix, list) else [matrix]
    replicas = [task.start] * task.ranks
    optimizers = [task.optimizer() for _ in replicas]
    yield task.start
    for step in range(steps):
        matrix = turns[step % len(turns)]
        gradients = [task.of_rank(r, w) for r, w in enumerate(replicas)]
        if update == "gradient_exchange":
            gradients = _mix(matrix, gradients, code)
        if update == "combine_then_adapt":
            replicas = _mix(matrix, replicas, code)
        replicas = [w + o.move(w, g) for o, w, g in zip(optimizers, replicas, gradients)]
        if update == "adapt_then_combine":
            replicas = _mix(matrix, replicas, code)
        yield sum(replicas) / task.ranks


def choco(task, steps, matrix, code, consensus_step, update="adapt_then_combine"):
    """A. Koloskova, S. Stich, M. Jaggi, Decentralized Stochastic Optimization and Gossip Algorithms with Compressed
    Communication, 2019, Algorithm 2 (a step, and then the average; `combine_then_adapt` has them the other way round).
    All copies begin at the start, which everybody knows."""
    replicas, copies = [task.start] * task.ranks, [task.start] * task.ranks
    optimizers = [task.optimizer() for _ in replicas]
    yield task.start
    for _ in range(steps):
        gradients = [task.of_rank(r, w) for r, w in enumerate(replicas)]
        if update == "adapt_then_combine":
            replicas = [w + o.move(w, g) for o, w, g in zip(optimizers, replicas, gradients)]
        copies = [c + encode(w - c, code) for w, c in zip(replicas, copies)]
        replicas = [w + consensus_step * (m - c) for w, c, m in zip(replicas, copies, _mix(matrix, copies))]
        if update == "combine_then_adapt":
            replicas = [w + o.move(w, g) for o, w, g in zip(optimizers, replicas, gradients)]
        yield sum(replicas) / task.ranks


def d2(task, steps, matrix, code=None):
    """Tang et al., 2018, Algorithm 1."""
    replicas = [task.start] * task.ranks
    optimizers = [task.optimizer() for _ in replicas]
    before = None
    yield task.start
    for _ in range(steps):
        moves = [o.move(w, task.of_rank(r, w)) for r, (o, w) in enumerate(zip(optimizers, replicas))]
        if before is None:
            halves = [w + m for w, m in zip(replicas, moves)]
        else:
            halves = [2 * w - v + m - n for w, m, v, n in zip(replicas, moves, *before)]
        before = (replicas, moves)
        replicas = _mix(matrix, halves, code)
        yield sum(replicas) / task.ranks


def gradient_tracking(task, steps, matrix, code=None):
    """Nedic, Olshevsky, Shi, 2017 (DIGing)."""
    replicas = [task.start] * task.ranks
    gradients = [task.of_rank(r, w) for r, w in enumerate(replicas)]
    tracked = gradients
    optimizers = [task.optimizer() for _ in replicas]
    yield task.start
    for _ in range(steps):
        replicas = [w + o.move(w, y) for o, w, y in zip(optimizers, _mix(matrix, replicas, code), tracked)]
        fresh = [task.of_rank(r, w) for r, w in enumerate(replicas)]
        tracked = [y + g - h for y, g, h in zip(_mix(matrix, tracked, code), fresh, gradients)]
        gradients = fresh
        yield sum(replicas) / task.ranks


def exponential_turns(ranks, directed):
    """The peers to which each rank of an exponential graph sends in turn.

    directed: those at the distances 1, 2, 4, ..., as Assran et al. have them; else those on both sides of it.
    """
    hops = []
    for hop in (1 << i for i in range((ranks - 1).bit_length())):
        for distance in (hop, ranks - hop)[:1 if directed else 2]:
            if distance not in hops:
                hops.append(distance)
    return [[(rank + hop) % ranks for hop in hops] for rank in range(ranks)]


def peers_in_turn(graph, ranks, joined):
    """The peers to which each rank sends in turn; graph: its kind, or its edges; joined: each rank's neighbours.

    A graph that looks alike from all ranks gives each of them the same step at a turn: around a ring to the next one
    and to the last one; on a torus up, left, right and down; on a hypercube along a dimension (Ying et al., 2021).
    """
    if graph == "exponential":
        return exponential_turns(ranks, False)
    if graph == "hypercube":
        return [[rank ^ (1 << bit) for bit in range(ranks.bit_length() - 1)] for rank in range(ranks)]
    if graph in ("ring", "complete"):
        hops = range(1, ranks) if graph == "complete" else (1, ranks - 1)
        return [list(dict.fromkeys((rank + hop) % ranks for hop in hops if ranks > 1)) for rank in range(ranks)]
    if graph == "torus_2d":
        rows = max(r for r in range(1, int(math.isqrt(ranks)) + 1) if ranks % r == 0)
        columns = ranks // rows
        sides = [[((y + dy) % rows) * columns + (x + dx) % columns for dy, dx in ((-1, 0), (0, -1), (0, 1), (1, 0))]
                 for y, x in (divmod(rank, columns) for rank in range(ranks))]
        return [[peer for peer in dict.fromkeys(all_of) if peer != rank] for rank, all_of in enumerate(sides)]
    return [sorted(peers) for peers in joined]


def matrices_of_turns(outgoing):
    """Half of each rank's parameters, and half of those of the one that sends to it; a matrix for each turn."""
    ranks, turns = len(outgoing), []
    for turn in range(max(len(peers) for peers in outgoing)):
        w = np.eye(ranks)
        for rank, peers in enumerate(outgoing):
            if peers:
                peer = peers[turn % len(peers)]
                w[peer, peer] = w[peer, rank] = 0.5
        turns.append(w)
    return turns or [np.eye(ranks)]


def sgp(task, steps, outgoing, one_peer=True, overlap=False, code=None):
    """Assran et al., 2019, Algorithm 1; overlap: Algorithm 2, a share counts a step later.

    outgoing: the ranks to which each rank sends, in the order of its turns. With a code its receivers have codes of the
    shares, and what these leave out stays with the sender.
    """
    values, weights = [task.start] * task.ranks, np.ones(task.ranks)
    optimizers = [task.optimizer() for _ in values]
    late = ([0.0] * task.ranks, np.zeros(task.ranks))
    yield task.start
    for step in range(steps):
        ratios = [x / w for x, w in zip(values, weights)]
        values = [x + o.move(x, task.of_rank(r, z))
                  for r, (x, z, o) in enumerate(zip(values, ratios, optimizers))]
        kept, sent = [None] * task.ranks, [0.0] * task.ranks
        kept_weight, sent_weight = np.zeros(task.ranks), np.zeros(task.ranks)
        for rank, others in enumerate(outgoing):
            to = [others[step % len(others)]] if one_peer else others
            share = 1 / (1 + len(to))
            part = encode(share * values[rank], code) if code else share * values[rank]
            kept[rank], kept_weight[rank] = values[rank] - len(to) * part, share * weights[rank]
            for peer in to:
                sent[peer] = sent[peer] + part
                sent_weight[peer] += share * weights[rank]
        come = late if overlap else (sent, sent_weight)
        values = [a + b for a, b in zip(kept, come[0])]
        weights = kept_weight + come[1]
        late = (sent, sent_weight)
        yield sum(x / w for x, w in zip(values, weights)) / task.ranks
