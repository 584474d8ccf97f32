"""What a strategy trains, and the strategies that keep one model: synchronous ones, and pipelines with stale weights.

Written without reading src/. Each strategy, here as in averaging.py, mixing.py and asynchrony.py, is a generator of the
parameters that are evaluated: at the start, and after each step.
"""

import numpy as np

import known
from codes import Sender, encode


class Task:
    """A model, the rows of each rank, and an optimizer for each replica.

    batches[step][rank], if given, are the rows of a rank's gradients, in the order in which it computes them; else all
    of its rows are in each.  faulty: the multiples of their gradients that faulty ranks hand over, by rank.
    """

    def __init__(self, model, start, shards, optimizer, batches=None, faulty=None):
        self.model, self.start, self.shards, self.optimizer = model, start, shards, optimizer
        self.ranks, self.batches = len(shards), batches
        self.begun = [0] * self.ranks
        self.faulty = faulty or {}

    def next_rows(self, rank):
        """The rows of all ranks in this rank's next gradient."""
        self.begun[rank] += 1
        return self.batches[self.begun[rank] - 1] if self.batches is not None else self.shards

    def of_rank(self, rank, w):
        """A replica's gradient: each row weighs as much as in the mean over all rows of the step, so that the replicas'
        mean gradient is that of the mean loss, also where ranks have unequally many rows."""
        share, mean = self.share_and_mean(rank, w)
        return self.ranks * share * mean

    def share_and_mean(self, rank, w):
        """A rank's share of the rows of a step, and the gradient of the mean loss of its rows."""
        rows = self.next_rows(rank)
        if not len(rows[rank]):
            return 0.0, np.zeros_like(w)
        mean = self.model.gradient(w, rows[rank])
        return len(rows[rank]) / sum(map(len, rows)), self.faulty.get(rank, 1.0) * mean

    def of_rank_alone(self, rank, w):
        return self.share_and_mean(rank, w)[1]

    def of_all(self, w):
        return self.model.gradient(w, np.concatenate(self.next_rows(0)))


def stretches(rows, ranks):
    """Rows in their order, as many for each rank, to within one: stretch r ends at floor((r + 1) rows / ranks)."""
    ends = [rank * rows // ranks for rank in range(ranks + 1)]
    return [np.arange(a, b) for a, b in zip(ends, ends[1:])]


def krum(vectors, faulty=None, selected=1):
    """P. Blanchard et al., Machine Learning with Adversaries, 2017: the vector with the least sum of squared distances
    to its P - f - 2 nearest neighbours, the first of equal ones; multi-krum: the mean of the best ones."""
    count = len(vectors)
    neighbours = count - ((count - 3) // 2 if faulty is None else faulty) - 2
    distances = ((vectors[:, None, :] - vectors[None]) ** 2).sum(axis=2)
    scores = np.sort(distances, axis=1)[:, 1:1 + neighbours].sum(axis=1)  # the first is the distance to itself
    return vectors[np.argsort(scores, kind="stable")[:selected]].mean(axis=0)


def reduction(vectors, reduce):
    """Vectors reduced to one, without weights; median and trimmed mean: D. Yin et al., Byzantine-Robust Distributed
    Learning, 2018, definitions 1 and 2."""
    vectors, options = np.array(vectors), reduce if isinstance(reduce, dict) else {"kind": reduce}
    if options["kind"] == "krum":
        return krum(vectors, options.get("krum_faulty"), options.get("krum_selected", 1))
    if options["kind"] == "trimmed_mean":
        cut = int(options.get("trim", 0.2) * len(vectors) + 1e-9)
        return np.sort(vectors, axis=0)[cut:len(vectors) - cut].mean(axis=0)
    return {"sum": np.sum, "min": np.min, "max": np.max, "median": np.median}[options["kind"]](vectors, axis=0)


def synchronous(task, steps, code=None, parameter_code=None, answer_code=None, reduce=None):
    """One gradient of all rows a step: single, allreduce, mapreduce, servers with bsp, zero, fsdp, byteps and so on.

    With a code every rank sends the code of its part of the gradient; majority: J. Bernstein et al., signSGD, 2018.
    With a parameter_code all gradients are those at the decoded parameters. With `reduce` the gradients of the ranks'
    mean losses are reduced in another way than by their mean. With an answer_code the sum travels back
    encoded: H. Tang et al., DoubleSqueeze, 2019.
    """
    w, optimizer = task.start, task.optimizer()
    if "one_worker" in known.FAULTS and task.ranks == 1:
        code = None
    senders, answers = [Sender(code) for _ in range(task.ranks)], Sender(answer_code)
    yield w
    for _ in range(steps):
        seen = encode(w, parameter_code) if parameter_code else w
        if code is None and not reduce and not task.faulty:
            gradient = task.of_all(seen)
        else:
            shares, parts = [], []
            for rank, send in enumerate(senders):
                share, mean = task.share_and_mean(rank, seen)
                shares.append(share)
                parts.append(send(share * mean))
            gradient = sum(parts)
            if reduce:
                gradient = reduction([part / share for part, share in zip(parts, shares) if share], reduce)
            if code and code.get("scale") == "majority":
                gradient = np.sign(gradient)
        w = w + optimizer.move(w, answers(gradient))
        yield w


def scattered(task, steps, code):
    """Each rank adds up the codes of one stretch of all ranks' gradients, and sends the code of the sum; what codes
    leave out is remembered on both ways (H. Tang et al., 1-bit Adam, 2021, and DoubleSqueeze, 2019)."""
    w, optimizer = task.start, task.optimizer()
    pieces = np.array_split(np.arange(len(w)), task.ranks)
    senders = [[Sender(code) for _ in pieces] for _ in range(task.ranks)]
    answers = [Sender(code) for _ in pieces]
    yield w
    for _ in range(steps):
        gradient, parts = np.zeros_like(w), []
        for rank in range(task.ranks):
            share, mean = task.share_and_mean(rank, w)
            parts.append(share * mean)
        for number, piece in enumerate(pieces):
            if len(piece):
                total = sum(senders[rank][number](part[piece]) for rank, part in enumerate(parts))
                gradient[piece] = answers[number](total)
        w = w + optimizer.move(w, gradient)
        yield w


def lloyd(task, steps, clusters):
    """S. P. Lloyd, Least squares quantization in PCM, 1982: each centre moves to the mean of the rows that are nearest
    to it; one without rows stays."""
    w = task.start
    yield w
    for _ in range(steps):
        x = task.model.x[np.concatenate(task.next_rows(0))]
        centres = w.reshape(clusters, -1).copy()
        nearest = ((x[:, None, :] - centres[None]) ** 2).sum(axis=2).argmin(axis=1)
        for centre in set(nearest):
            centres[centre] = x[nearest == centre].mean(axis=0)
        w = centres.reshape(-1)
        yield w


def stale_pipeline(task, steps, schedule, stages, layers):
    """Pipelines without an end of the step, whose stages work on older weights; stages: the layers of each.

    PipeDream (Narayanan et al., 2019, section 3.3, weight stashing), for n stages with the rate v:
    w(t + 1) = w(t) - v f'(w_1(t - n + 1), ..., w_n(t)).

    PipeDream-2BW (Narayanan et al., 2021): w(t + 1) = w(t) - v f'(w(t - 1)).
    """
    optimizer = task.optimizer()
    history = [task.start]
    yield task.start
    for _ in range(steps):
        seen = history[-2:][0].copy()
        if schedule == "pipedream":
            at = 0
            for stage, count in enumerate(stages):
                old = history[max(0, len(history) - len(stages) + stage)]
                for first, numbers in layers[at:at + count]:
                    seen[first:first + numbers] = old[first:first + numbers]
                at += count
        w = history[-1]
        history.append(w + optimizer.move(w, task.of_all(seen)))
        yield history[-1]
