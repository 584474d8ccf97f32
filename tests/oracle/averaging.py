"""Strategies whose replicas make steps of their own, and then average all or some of their parameters.

Written without reading src/. Each is a generator of the parameters that are evaluated: at the start, and after each
step.
"""

from codes import Sender, encode
from recursions import reduction, stretches


def local_sgd(task, steps, local_steps=8, synchronous_steps=0, slow_momentum=0.0, slow_rate=1.0,
              optimizer_memory="keep", code=None):
    """Stich, 2019; post-local: Lin et al., 2020; SlowMo: Wang et al., 2020, Algorithm 1.

    With a code each replica sends the code of its move since the last average.
    """
    senders = [Sender(code) for _ in range(task.ranks)]
    replicas = [task.start] * task.ranks
    optimizers = [task.optimizer() for _ in replicas]
    anchor, slow, since = task.start, 0.0, 0
    yield task.start
    for step in range(steps):
        rate = optimizers[0].rate_of(step)
        replicas = [w + o.move(w, task.of_rank(r, w)) for r, (w, o) in enumerate(zip(replicas, optimizers))]
        since += 1
        mean = sum(replicas) / task.ranks
        if step < synchronous_steps or since == local_steps or step + 1 == steps and local_steps == "all":
            if code:
                mean = anchor + sum(send(w - anchor) for send, w in zip(senders, replicas)) / task.ranks
            if step >= synchronous_steps and (slow_momentum or slow_rate != 1.0):
                slow = slow_momentum * slow + (anchor - mean) / rate
                mean = anchor - slow_rate * rate * slow
            replicas, anchor, since = [mean] * task.ranks, mean, 0
            for o in optimizers:
                if optimizer_memory == "reset":
                    o.forget()
            if optimizer_memory == "average":
                first, second = (sum(getattr(o, v) for o in optimizers) / task.ranks for v in ("first", "second"))
                for o in optimizers:
                    o.first, o.second = first, second
        yield mean


def diloco(task, steps, local_steps=8, outer_rate=0.7, outer_momentum=0.9):
    """Douillard et al., 2023, Algorithm 1, with Nesterov's momentum as Sutskever et al. write it."""
    replicas = [task.start] * task.ranks
    optimizers = [task.optimizer() for _ in replicas]
    outer, momentum = task.start, 0.0
    yield task.start
    for step in range(steps):
        replicas = [w + o.move(w, task.of_rank(r, w)) for r, (w, o) in enumerate(zip(replicas, optimizers))]
        mean = sum(replicas) / task.ranks
        if (step + 1) % local_steps == 0:
            change = outer - mean
            momentum = outer_momentum * momentum + change
            mean = outer = outer - outer_rate * (change + outer_momentum * momentum)
            replicas = [outer] * task.ranks
        yield mean


def federated_averaging(task, rounds, local_steps=5, proximal=0.0, code=None, parameter_code=None, reduce=None):
    """McMahan et al., 2017, with every worker in every round; clients keep nothing from round to round.

    FedProx: Li et al., 2020. With a code clients send the codes of their moves, with a parameter_code the server sends
    that of its model. With `reduce` their models (or moves) are reduced in another way than by their mean.
    """
    senders = [Sender(code) for _ in range(task.ranks)]
    w = task.start
    optimizers = [task.optimizer() for _ in range(task.ranks)]
    sizes = [len(s) for s in task.shards]
    yield w
    for number in range(rounds):
        begin = encode(w, parameter_code) if parameter_code else w
        replicas = [begin] * task.ranks
        for rank, optimizer in enumerate(optimizers):
            optimizer.forget()
            for local in range(local_steps):
                own = replicas[rank]
                gradient = task.of_rank_alone(rank, own) + proximal * (own - begin)
                replicas[rank] = own + optimizer.move(own, gradient, at=number * local_steps + local)
        if reduce and code:
            w = begin + reduction([send(own - begin) for send, own in zip(senders, replicas)], reduce)
        elif reduce:
            w = reduction(replicas, reduce)
        elif code:
            w = begin + sum(n * send(own - begin) for n, send, own in zip(sizes, senders, replicas)) / sum(sizes)
        else:
            w = sum(n * replica for n, replica in zip(sizes, replicas)) / sum(sizes)
        yield w


def block_sync(task, steps, blocks=4, blocks_a_step=1, periods=None, layers=()):
    """Local steps, and averages of the blocks that are due (round robin, or each in every period-th step).

    As long as a block was due in every step its replicas are the same, with the optimizer's vectors, and its
    gradients are averaged, as by an allreduce.
    """
    d = len(task.start)
    pieces = list(layers) if blocks == "layers" else [(p[0], len(p)) for p in stretches(d, blocks) if len(p)]
    replicas = [task.start] * task.ranks
    optimizers = [task.optimizer() for _ in replicas]
    alike = set(range(len(pieces)))
    yield task.start
    for step in range(steps):
        if periods:
            due = {b for b, period in enumerate(periods) if (step + 1) % period == 0}
        else:
            due = {(step * blocks_a_step + i) % len(pieces) for i in range(min(blocks_a_step, len(pieces)))}
        gradients = [task.of_rank(r, w).copy() for r, w in enumerate(replicas)]
        for first, count in (pieces[b] for b in due & alike):
            shared = sum(g[first:first + count] for g in gradients) / task.ranks
            for g in gradients:
                g[first:first + count] = shared
        replicas = [w + o.move(w, g) for w, o, g in zip(replicas, optimizers, gradients)]
        mean = sum(replicas) / task.ranks
        for first, count in (pieces[b] for b in due):
            for w in replicas:
                w[first:first + count] = mean[first:first + count]
        alike &= due
        yield mean


def easgd(task, exchanges, period=10, moving_rate=0.9):
    """Zhang, Choromanska, LeCun, 2015, synchronous: equations 2 and 3 every `period` local steps,
    with the gradients in front of the elastic forces; all replicas' exchange is one step."""
    centre, alpha = task.start, moving_rate / task.ranks
    replicas = [task.start] * task.ranks
    optimizers = [task.optimizer() for _ in replicas]
    yield centre
    for _ in range(exchanges):
        for _ in range(period):
            replicas = [w + o.move(w, task.of_rank(r, w)) for r, (w, o) in enumerate(zip(replicas, optimizers))]
        forces = [alpha * (w - centre) for w in replicas]
        replicas = [w - f for w, f in zip(replicas, forces)]
        centre = centre + sum(forces)
        yield centre
