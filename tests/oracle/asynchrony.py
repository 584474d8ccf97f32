"""Asynchronous strategies, in an order of events that the run itself gives.

Written without reading src/. Each is a generator of the parameters that are evaluated: at the start, and after each
update. The schedule of the learning rate counts as many updates as there are ranks as one step.
"""

import known
from codes import Sender


def asynchronous_server(task, order, versions, gradient="sum", staleness_aware=False, delay_compensation=0.0,
                        code=None):
    """Li et al., 2014, with every gradient applied as it comes.

    order: the ranks of the updates; versions[rank]: after how many updates the parameters were, of which the rank
    computed its gradients, one after the other. staleness_aware: Zhang et al., 2016, the rate over the staleness;
    delay_compensation: Zheng et al., 2017, equation 10, of a worker's own mean gradient. With a code each rank sends
    that of its part.
    """
    history, optimizer = [task.start], task.optimizer()
    used, senders = [0] * task.ranks, [Sender(code) for _ in range(task.ranks)]
    yield task.start
    for update, rank in enumerate(order):
        version = versions[rank][used[rank]]
        used[rank] += 1
        w, seen = history[-1], history[version]
        share, g = task.share_and_mean(rank, seen)
        if delay_compensation:
            g = g + delay_compensation * g * g * (w - seen)
        g = senders[rank](g * share) * (1 if gradient == "sum" else task.ranks)
        divisor = max(update - version, 1) if staleness_aware else 1
        history.append(w + optimizer.move(w, g, update / task.ranks, divisor))
        yield history[-1]


def asynchronous_easgd(task, order, period=10, moving_rate=0.9):
    """Zhang, Choromanska, LeCun, 2015, Algorithm 1; order: the ranks of the exchanges with the centre."""
    centre, alpha = task.start, moving_rate / task.ranks
    replicas = [task.start] * task.ranks
    optimizers = [task.optimizer() for _ in replicas]
    yield centre
    for rank in order:
        w = replicas[rank]
        for _ in range(period):
            w = w + optimizers[rank].move(w, task.of_rank(rank, w))
        force = alpha * (w - centre)
        replicas[rank], centre = w - force, centre + force
        yield centre


def hogwild(task, events):
    """Niu et al., 2011, on dense models; events: ("read" or "update", rank) in their order."""
    w, optimizer = task.start, task.optimizer()
    seen, updates = {}, 0
    yield w
    for what, rank in events:
        if what == "read":
            seen[rank] = w
        else:
            w = w + optimizer.move(w, task.of_rank(rank, seen[rank]) / task.ranks, updates / task.ranks)
            updates += 1
            yield w


def async_broadcast(task, events):
    """J. Tsitsiklis, D. Bertsekas, M. Athans, Distributed Asynchronous Gradient Optimization Algorithms, 1986: each
    rank steps by its own gradients, and adds what the others tell of their steps when it comes.

    events, in their order: ("read", rank) where a gradient begins, ("move", rank) where its update begins, ("update",
    rank) where that ends, and ("add", rank, sender, number) where a rank has added the sender's update of this number.
    As many updates as there are ranks are a step, after which the mean of the replicas is evaluated; for its learning
    rate a rank counts the updates that it has.
    """
    replicas, held = [task.start] * task.ranks, [0] * task.ranks
    optimizers = [task.optimizer() for _ in replicas]
    seen, moves, updates = {}, [[] for _ in replicas], 0
    yield task.start
    for what, rank, *of in events:
        if what == "read":
            seen[rank] = replicas[rank]
        elif what == "move":
            gradient = task.of_rank(rank, seen[rank]) / task.ranks
            if "broadcast_count" in known.FAULTS:
                optimizers[rank].bias_updates = held[rank]
            moves[rank].append(optimizers[rank].move(replicas[rank], gradient, held[rank] / task.ranks))
        else:
            replicas[rank] = replicas[rank] + (moves[rank][-1] if what == "update" else moves[of[0]][of[1]])
            held[rank] += 1
        if what == "update":
            updates += 1
            if updates % task.ranks == 0:
                yield sum(replicas) / task.ranks
