"""The program of a stage of a pipeline."""
from collectives import ring
from meshes import meet
from replicas import drop_gradients, length_of, replica, update
from sharded import units_of

SCHEDULES = ("naive", "gpipe", "1f1b", "interleaved_1f1b", "zb_h1", "zb_h2", "pipedream", "pipedream_2bw")


def tasks_of_stage(schedule, stage, stages, parts, chunks_a_stage, under_way=None):
    """The passes of a stage in their order: (what, micro-batch, chunk).

    The zero-bubble schedules split a backward pass: the gradient of its input goes on to the stage before, and the
    gradients of its weights follow so many backward passes later that all stages keep equally many micro-batches.
    under_way: of a rank whose stage has other replicas than those beside it.
    """
    count = parts * chunks_a_stage

    def piece(turn, what):
        if chunks_a_stage == 1:
            return what, turn, 0
        group, place = divmod(turn, stages * chunks_a_stage)
        chunk = place // stages
        return what, group * stages + turn % stages, chunk if what == "forward" else chunks_a_stage - 1 - chunk

    before_end = stages - stage - 1
    ahead = {"naive": 1, "gpipe": count, "1f1b": before_end + 1, "zb_h1": before_end + 1,
             "zb_h2": 2 * before_end + 1, "pipedream": before_end + 1, "pipedream_2bw": before_end + 1,
             "interleaved_1f1b": 2 * before_end + (chunks_a_stage - 1) * stages + 1}[schedule]
    ahead = min(under_way or ahead, count)
    later = {"zb_h1": stage, "zb_h2": 2 * stage}.get(schedule)
    tasks = [piece(turn, "forward") for turn in range(ahead - 1)]
    for turn in range(count):
        if turn + ahead - 1 < count:
            tasks.append(piece(turn + ahead - 1, "forward"))
        tasks.append(piece(turn, "backward" if later is None else "inputs"))
        if later is not None and turn >= later:
            tasks.append(piece(turn - later, "weights"))
    if later is not None:
        tasks += [piece(turn, "weights") for turn in range(max(0, count - later), count)]
    return tasks


def pieces_of(t):
    """The layers of each piece of the model."""
    units, pieces, at = units_of(t), [], 0
    for count in t.parallel["stages"]:
        pieces.append([place for unit in units[at:at + int(count)] for place in unit])
        at += int(count)
    return pieces


def pipeline_stage(t, rank):
    """A stage of a cut model, whose hops go on beside its passes.

    PipeDream's stages update behind every micro-batch, or behind every so many, without an end of the step, and keep
    older versions of their parameters for the micro-batches under way (Narayanan et al., 2019 and 2021). Where stages
    have unlike replicas, micro-batch m goes through replica m mod r of a stage of r, which has R / r of them under way,
    rounded up, with R replicas from its stage on (1F1B-RR and NOAM, Narayanan et al., 2019, section 3.2).
    """
    parallel, memory = t.parallel, t.ledgers[rank]
    stages, per_stage, place = parallel["pipeline"], parallel["chunks"], t.mesh.place(rank)
    stage = place["pipeline"]

    replicas = t.mesh.stages
    its = replicas[stage] if replicas else 1

    def number(part):
        return part * its + place["data"] if replicas else part

    def rank_of(piece, part):
        other = {"data": number(part) % replicas[piece % stages]} if replicas else {}
        return t.mesh.rank(place | {"pipeline": piece % stages} | other)

    def beside(what, chunk):
        """The pieces of the model before and behind a pass, where something comes from or goes to them."""
        here, ahead = chunk * stages + stage, {"forward": 1, "weights": len(pieces)}.get(what, -1)
        return [piece if 0 <= piece < len(pieces) else None for piece in (here - ahead, here + ahead)]

    def post(tasks):
        for what, part, chunk in tasks:
            source = beside(what, chunk)[0]
            if source is not None:
                channel = rank_of(source, part), rank, (what == "forward", number(part), source)
                arrivals[what, part, chunk] = t.receive(*channel)
    t.twins[rank] = t.mesh.rank(place | {"data": 0})
    pieces = pieces_of(t)
    own = [pieces[chunk * stages + stage] for chunk in range(per_stage)]
    length = sum(length_of(t, piece) for piece in own)
    memory.hold("parameters", length * t.number)
    memory.hold("optimizer", length * t.vectors * t.number)
    schedule, parts = parallel["schedule"], parallel.get("micro_batches", 1)
    rows, flushes = t.rows // parts, schedule not in ("pipedream", "pipedream_2bw")
    updates = t.mesh.sizes["data"] // its if replicas else 1  # of this stage in a step
    under_way = -(-sum(replicas[stage:]) // its) if replicas else None
    tasks = tasks_of_stage(schedule, stage, stages, parts * (1 if flushes else t.steps * updates), per_stage, under_way)
    stash = Stash(memory, length * t.number, schedule, t.steps)
    for _ in range(t.steps if flushes else 1):
        arrivals, departures = {}, []
        post(tasks)
        for task in tasks:
            what, part, chunk = task
            if task in arrivals:
                yield arrivals[task]
            stash.before(what, part)
            yield from one_pass(t, rank, own[chunk], what, part, rows)
            here, target = chunk * stages + stage, beside(what, chunk)[1]
            if target is not None:
                size = rows * t.layers[pieces[max(here, target)][0]].entrance
                departures.append(t.send(rank, rank_of(target, part), (what == "forward", number(part), here), size))
            stash.after(what, part)
            if not flushes and what == "backward" and (part + 1) % parts == 0:
                yield from end_of_step(t, rank, length, (part + 1) % (parts * updates) == 0)
                stash.update()
        if flushes:
            for event in departures:
                yield event
            yield from end_of_step(t, rank, length)


class Stash:
    """Older versions of a stage's parameters: PipeDream's are kept as long as a micro-batch under way has read them;
    of PipeDream-2BW there is one from the first update on, if another follows."""

    def __init__(self, memory, size, schedule, steps):
        self.memory, self.size, self.schedule, self.steps = memory, size, schedule, steps
        self.version, self.read = 0, {}

    def before(self, what, part):
        if what == "forward":
            self.read[part] = self.version

    def after(self, what, part):
        if what == "backward" and self.schedule == "pipedream":
            version = self.read.pop(part)
            if version < self.version and version not in self.read.values():
                self.memory.drop(("version", version))

    def update(self):
        old, self.version = self.version, self.version + 1
        if self.schedule == "pipedream" and old in self.read.values() or (
                self.schedule == "pipedream_2bw" and old == 0 and self.steps > 1):
            self.memory.hold(("version", old), self.size)


def end_of_step(t, rank, length, ends=True):
    """The replicas of a stage sum their gradients and make an update."""
    if len(t.group(rank)) > 1:
        yield from ring(t, rank, t.group(rank), length, "sum")
    yield from update(t, rank, length)
    drop_gradients(t, rank)
    if ends:
        t.end_step()


def one_pass(t, rank, places, what, part, rows):
    """A pass of one micro-batch through some layers; what was kept goes with the last of its backward passes."""
    memory = t.ledgers[rank]
    memory.read("parameters")
    for place in places if what == "forward" else reversed(places):
        layer = t.layers[place]
        if what == "forward":
            yield t.work(rank, rows * layer.forward)
            yield from meet(t, rank, layer.sums["forward"], rows)
            memory.hold(("kept", place, part), rows * layer.kept)
            continue
        memory.read(("kept", place, part))
        if what != "weights":
            memory.hold(("loss", place, part), rows * layer.loss)
        share = {"backward": 1, "inputs": 1 - layer.weights, "weights": layer.weights}[what]
        yield t.work(rank, rows * layer.backward * share)
        if what != "weights":
            yield from meet(t, rank, layer.sums["backward"], rows)
        if what != "inputs":
            if ("gradient", place) not in memory.held:
                memory.hold(("gradient", place), layer.parameters * t.number)
            memory.drop(("kept", place, part))
            memory.drop(("loss", place, part))
