"""Programs of parameter servers, and of the workers that they serve."""
from collections import deque

from collectives import chunks
from fluid import Event, StopTraining
from replicas import drop_gradients, passes, replica, update


def shard_of(t, server):
    return chunks(t.parameters, t.ranks - t.workers)[server - t.workers]


def served_worker(t, rank):
    """Pulls all shards, computes, and pushes all shards of the gradient; a push is answered with parameters."""
    replica(t, rank)
    servers = range(t.workers, t.ranks)
    answers = [t.receive(server, rank, "pull") for server in servers]
    while not t.ended:
        for event in answers:
            yield event
        yield from passes(t, rank, t.rows)
        pushes = [t.send(rank, server, "push", shard_of(t, server) * t.wire) for server in servers]
        answers = [t.receive(server, rank, "pull") for server in servers]
        for event in pushes:
            yield event
        drop_gradients(t, rank)


def server_in_steps(t, rank):
    """Bulk synchronous: adds a gradient of every worker, updates its shard, and sends it to all."""
    shard, memory = shard_of(t, rank), t.ledgers[rank]
    memory.hold("parameters", shard * t.number)
    memory.hold("optimizer", shard * t.vectors * t.number)
    for _ in range(t.steps):
        pulls = [t.send(rank, worker, "pull", shard * t.wire) for worker in range(t.workers)]
        for event in pulls + [t.receive(worker, rank, "push") for worker in range(t.workers)]:
            yield event
        yield t.work(rank, t.workers * shard)
        yield from update(t, rank, shard)
        t.end_step()


def server_as_they_come(t, rank):
    """Asynchronous: every gradient is an update, in the order of arrival, answered with the new parameters."""
    shard, memory = shard_of(t, rank), t.ledgers[rank]
    memory.hold("parameters", shard * t.number)
    memory.hold("optimizer", shard * t.vectors * t.number)
    arrived, bell = deque(), [Event()]

    def listen(worker):
        while not t.ended:
            yield t.send(rank, worker, "pull", shard * t.wire)
            yield t.receive(worker, rank, "push")
            answered = Event()
            arrived.append(answered)
            t.clock.trigger(bell[0])
            yield answered
    for worker in range(t.workers):
        t.clock.spawn(listen(worker))
    for _ in range(t.steps):
        while not arrived:
            bell[0] = Event()
            yield bell[0]
        yield from update(t, rank, shard)
        t.clock.trigger(arrived.popleft())
    t.end_step()
    t.ended = True
    raise StopTraining


def parameter_server(t, rank):
    if rank < t.workers:
        return served_worker(t, rank)
    return server_in_steps(t, rank) if t.options["consistency"] == "bsp" else server_as_they_come(t, rank)
