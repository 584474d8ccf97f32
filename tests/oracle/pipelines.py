"""The program of a stage of a pipeline."""
from collectives import ring
from replicas import drop_gradients, length_of, replica, update
from sharded import units_of

SCHEDULES = ("naive", "gpipe", "1f1b", "interleaved_1f1b")


def tasks_of_stage(schedule, stage, stages, parts, chunks_a_stage):
    """The passes of a stage in their order: (is it forward, micro-batch, chunk)."""
    count = parts * chunks_a_stage

    def piece(turn, forward):
        if chunks_a_stage == 1:
            return forward, turn, 0
        group, place = divmod(turn, stages * chunks_a_stage)
        chunk = place // stages
        return forward, group * stages + turn % stages, chunk if forward else chunks_a_stage - 1 - chunk

    ahead = {"naive": 1, "gpipe": count, "1f1b": min(count, stages - stage),
             "interleaved_1f1b": min(count, 2 * (stages - stage - 1) + (chunks_a_stage - 1) * stages + 1)}[schedule]
    tasks = [piece(turn, True) for turn in range(ahead - 1)]
    for turn in range(count):
        if turn + ahead - 1 < count:
            tasks.append(piece(turn + ahead - 1, True))
        tasks.append(piece(turn, False))
    return tasks


def pipeline_stage(t, rank):
    """A stage of a cut model; hops go on beside the passes, and replicas of a stage sum their gradients at the end."""
    parallel, memory = t.parallel, t.ledgers[rank]
    stages, data, per_stage = parallel["pipeline"], t.workers // parallel["pipeline"], parallel["chunks"]
    stages_first = parallel["order"].index("pipeline") < parallel["order"].index("data")
    replica, stage = divmod(rank, stages) if stages_first else divmod(rank, data)[::-1]

    def rank_of(stage, replica):
        return replica * stages + stage if stages_first else stage * data + replica
    units, pieces, at = units_of(t), [], 0
    for count in parallel["stages"]:
        pieces.append([place for unit in units[at:at + int(count)] for place in unit])
        at += int(count)
    own = [pieces[chunk * stages + stage] for chunk in range(per_stage)]
    length = sum(length_of(t, piece) for piece in own)
    memory.hold("parameters", length * t.number)
    memory.hold("optimizer", length * t.vectors * t.number)
    parts = parallel["micro_batches"]
    rows = t.rows * t.workers // data // parts
    tasks = tasks_of_stage(parallel["schedule"], stage, stages, parts, per_stage)
    for _ in range(t.steps):
        arrivals, departures = {}, []
        for forward, part, chunk in tasks:
            source = chunk * stages + stage + (-1 if forward else 1)
            if 0 <= source < len(pieces):
                peer = rank_of(source % stages, replica)
                arrivals[forward, part, chunk] = t.receive(peer, rank, (forward, part, source))
        for task in tasks:
            forward, part, chunk = task
            if task in arrivals:
                yield arrivals[task]
            memory.read("parameters")
            for place in own[chunk] if forward else reversed(own[chunk]):
                layer = t.layers[place]
                if forward:
                    yield t.work(rank, rows * layer.forward)
                    memory.hold(("kept", place, part), rows * layer.kept)
                else:
                    memory.read(("kept", place, part))
                    yield t.work(rank, rows * layer.backward)
                    if ("gradient", place) not in memory.held:
                        memory.hold(("gradient", place), layer.parameters * t.number)
                    memory.drop(("kept", place, part))
            here = chunk * stages + stage
            target = here + (1 if forward else -1)
            if 0 <= target < len(pieces):
                peer = rank_of(target % stages, replica)
                size = rows * t.layers[pieces[max(here, target)][0]].entrance
                departures.append(t.send(rank, peer, (forward, part, here), size))
        for event in departures:
            yield event
        if data > 1:
            yield from ring(t, rank, [rank_of(stage, other) for other in range(data)], length, "sum")
        yield from update(t, rank, length)
        drop_gradients(t, rank)
        t.end_step()
