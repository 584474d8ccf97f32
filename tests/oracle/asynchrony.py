"""Asynchronous strategies, in an order of events that the run itself gives.

Written without reading src/. Each is a generator of the parameters that are evaluated: at the start, and after each
update. The schedule of the learning rate counts as many updates as there are ranks as one step.
"""


def asynchronous_server(task, order, versions, gradient="sum", staleness_aware=False, delay_compensation=0.0):
    """Li et al., 2014, with every gradient applied as it comes.

    order: the ranks of the updates; versions[rank]: after how many updates the parameters were, of which the rank
    computed its gradients, one after the other. staleness_aware: Zhang et al., 2016, the rate over the staleness;
    delay_compensation: Zheng et al., 2017, equation 10, of a worker's own mean gradient.
    """
    history, optimizer = [task.start], task.optimizer()
    used = [0] * task.ranks
    yield task.start
    for update, rank in enumerate(order):
        version = versions[rank][used[rank]]
        used[rank] += 1
        w, seen = history[-1], history[version]
        share, g = task.share_and_mean(rank, seen)
        if delay_compensation:
            g = g + delay_compensation * g * g * (w - seen)
        g = g * share * (1 if gradient == "sum" else task.ranks)
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
