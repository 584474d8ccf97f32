"""Collectives as textbooks have them: each member is a generator, and posts all messages of a round at once.

* R. Thakur, R. Rabenseifner, W. Gropp, Optimization of Collective Communication Operations in MPICH, 2005;
* P. Patarasuk, X. Yuan, Bandwidth Optimal All-reduce Algorithms for Clusters of Workstations, 2009;
* C. Guo et al., BCube: A High Performance, Server-centric Network Architecture, 2009;
* X. Jia et al., Highly Scalable Deep Learning Training System with Mixed-Precision, 2018 (hierarchical sums);
* NVIDIA, NCCL's documentation and logs (channels: a ring for each network card of a host).

Adding a number to another takes one operation. Where a vector does not divide, the longer chunks are the first ones.
"""


def kind_of(choice):
    """A component is written by its name alone, or as a table of its kind and options."""
    return choice.get("kind", choice) if isinstance(choice, dict) else choice


def chunks(length, parts):
    """A vector in as many nearly equal chunks, the longer ones first."""
    return [length // parts + (part < length % parts) for part in range(parts)]


def exchange(t, rank, target, source, stream, size):
    """Sends to one member while receiving from another, and waits for both."""
    events = []
    if target is not None:
        events.append(t.send(rank, target, stream, size))
    if source is not None:
        events.append(t.receive(source, rank, stream))
    for event in events:
        yield event


def circle_of_cards(inside, cards):
    heads, others = [], []
    for member in inside:
        (others if cards[member] in [cards[head] for head in heads] else heads).append(member)
    if others:
        heads.sort(key=lambda head: cards[head] == cards[others[-1]])
    return heads + others


def channels(t, rank, members):
    """The rings of a group: NCCL has a channel for each network card by which all of its hosts can send.

    A channel enters and leaves a host by a card of its own. The members of a host follow each other in one circle on
    all channels: first one for each card, then the others; the last of all, by whom a channel leaves that enters at the
    first, has the card of the last of those. A strategy can ask for other numbers of channels, for its own sums, up to
    the members of a host."""
    hosts = {}
    for member in members:
        hosts.setdefault(t.hosts[member], []).append(member)
    count = min(len({t.cards[member] for member in inside}) for inside in hosts.values()) if len(hosts) > 1 else 1
    algorithm = t.options.get("algorithm")
    asked = algorithm.get("rings") if isinstance(algorithm, dict) else t.options.get("rings")
    if asked and members == t.group(rank):
        count = min(asked, min(len(inside) for inside in hosts.values()))
    if count == 1:
        return [members]
    rings = [[] for _ in range(count)]
    for host in sorted(hosts):
        circle = circle_of_cards(hosts[host], t.cards)
        for at, order in enumerate(rings):
            order.extend(circle[at:] + circle[:at])
    return rings


def ring_half(t, rank, members, sizes, stream, first, adds):
    """P - 1 rounds around a ring: member i begins with chunk i + first, and passes on what it received.

    Of several rings each has its part of every chunk, and the chunk which one ring ends or begins with at a member does
    so on all of them. What goes to one member in a round is one message; it is over when all of its messages are."""
    count, rings = len(members), channels(t, rank, members)
    own = {member: sizes[(place + first + adds) % count] for place, member in enumerate(members)}
    for turn in range(count - 1):
        sent, received = {}, {}
        for number, order in enumerate(rings):
            at, ago = order.index(rank), turn + adds
            parts = [chunks(own[order[place % count]], len(rings))[number] for place in (at - ago, at - 1 - ago)]
            right, left = order[(at + 1) % count], order[at - 1]
            sent[right], received[left] = sent.get(right, 0) + parts[0], received.get(left, 0) + parts[1]
        events = [t.send(rank, other, stream, size * t.wire) for other, size in sent.items()]
        for event in events + [t.receive(other, rank, stream) for other in received]:
            yield event
        if adds:
            yield t.work(rank, sum(received.values()))


def reduce_scatter(t, rank, members, length, stream):
    yield from ring_half(t, rank, members, chunks(length, len(members)), stream, 0, True)


def all_gather(t, rank, members, length, stream):
    yield from ring_half(t, rank, members, chunks(length, len(members)), stream, 1, False)


def ring(t, rank, members, length, stream):
    yield from reduce_scatter(t, rank, members, length, stream)
    yield from all_gather(t, rank, members, length, stream)


def in_powers_of_two(inner):
    """With 2^k + r members each even one of the first 2 r gives its vector to the next, and gets the sum from it."""
    def collective(t, rank, members, length, stream):
        place, count, size = members.index(rank), len(members), length * t.wire
        paired = 2 * (count - (1 << (count.bit_length() - 1)))
        if place < paired and place % 2 == 0:
            yield t.send(rank, members[place + 1], stream, size)
            yield t.receive(members[place + 1], rank, stream)
            return
        if place < paired:
            yield t.receive(members[place - 1], rank, stream)
            yield t.work(rank, length)
        yield from inner(t, rank, members[1:paired:2] + members[paired:], length, stream)
        if place < paired:
            yield t.send(rank, members[place - 1], stream, size)
    return collective


def doubling(t, rank, members, length, stream):
    place, distance = members.index(rank), 1
    while distance < len(members):
        partner = members[place ^ distance]
        yield from exchange(t, rank, partner, partner, stream, length * t.wire)
        yield t.work(rank, length)
        distance *= 2


def halving_doubling(t, rank, members, length, stream):
    """Rabenseifner: a reduce-scatter that halves the vector and doubles the distance, then an all-gather back."""
    place, sizes, low, distance = members.index(rank), chunks(length, len(members)), 0, 1
    trail = []
    while distance < len(members):
        half = len(members) // (2 * distance)
        upper = bool(place & distance)
        lower_size, upper_size = sum(sizes[low:low + half]), sum(sizes[low + half:low + 2 * half])
        kept, given = (upper_size, lower_size) if upper else (lower_size, upper_size)
        partner = members[place ^ distance]
        yield from exchange(t, rank, partner, partner, stream, given * t.wire)
        yield t.work(rank, kept)
        trail.append((partner, kept))
        low += half if upper else 0
        distance *= 2
    for partner, kept in reversed(trail):
        yield from exchange(t, rank, partner, partner, stream, kept * t.wire)


def tree(t, rank, members, length, stream):
    """A binomial reduction to the first member, then a binomial broadcast from it."""
    place, count, size = members.index(rank), len(members), length * t.wire
    distance = 1
    while distance < count and not place & distance:
        if place + distance < count:
            yield t.receive(members[place + distance], rank, stream)
            yield t.work(rank, length)
        distance *= 2
    if place:
        yield t.send(rank, members[place - distance], stream, size)
        yield t.receive(members[place - distance], rank, stream)
    while distance > 1:
        distance //= 2
        if place + distance < count:
            yield t.send(rank, members[place + distance], stream, size)


def naive(t, rank, members, length, stream):
    """Everybody sends to the first member at once, which adds and sends the sum to all at once."""
    root, others, size = members[0], members[1:], length * t.wire
    if rank != root:
        yield t.send(rank, root, stream, size)
        yield t.receive(root, rank, stream)
        return
    for arrival in [t.receive(other, rank, stream) for other in others]:
        yield arrival
    yield t.work(rank, length * len(others))
    for departure in [t.send(rank, other, stream, size) for other in others]:
        yield departure


def hierarchical(t, rank, members, length, stream):
    """Reduce-scatter in the host, ring allreduce of each shard across hosts, all-gather in the host."""
    inside = [member for member in members if t.hosts[member] == t.hosts[rank]]
    place = inside.index(rank)
    across = [member for member in members if member % t.devices == rank % t.devices]
    sizes = chunks(length, len(inside))
    yield from ring_half(t, rank, inside, sizes, stream, -1, True)
    yield from ring(t, rank, across, sizes[place], stream)
    yield from ring_half(t, rank, inside, sizes, stream, 0, False)


def groups_of(count, base):
    """BCube's stages: the factors of the number of members, as large as the base allows, the largest ones first."""
    sizes = []
    while count > 1:
        size = next((size for size in range(min(base, count), 1, -1) if count % size == 0), None)
        size = size or next(size for size in range(base + 1, count + 1) if count % size == 0)
        sizes.append(size)
        count //= size
    return sizes


def bcube(t, rank, members, length, stream):
    """Stage by stage, the members of a group deal out their parts all with all and add; then back, without adding."""
    place, sizes, trail = members.index(rank), chunks(length, len(members)), []
    low, held = 0, len(members)
    for size in groups_of(len(members), t.base):
        held //= size
        mine = place // held % size
        parts = [sum(sizes[low + other * held:low + (other + 1) * held]) for other in range(size)]
        peers = [members[place + (other - mine) * held] for other in range(size)]
        yield from all_with_all(t, rank, peers, [part * t.wire for part in parts], stream)
        yield t.work(rank, (size - 1) * parts[mine])
        trail.append((peers, parts[mine]))
        low += mine * held
    for peers, part in reversed(trail):
        yield from all_with_all(t, rank, peers, [part * t.wire] * len(peers), stream)


def all_with_all(t, rank, peers, sizes, stream):
    events = [t.send(rank, peer, stream, size) for peer, size in zip(peers, sizes) if peer != rank]
    for event in events + [t.receive(peer, rank, stream) for peer in peers if peer != rank]:
        yield event


ALLREDUCES = {"ring": ring, "recursive_doubling": in_powers_of_two(doubling), "tree": tree, "naive": naive,
              "bcube": bcube, "rabenseifner": in_powers_of_two(halving_doubling), "hierarchical": hierarchical}


def algorithm_of(t):
    return ALLREDUCES[kind_of(t.options.get("algorithm", "ring"))]


def allreduce(t, rank, length, stream):
    members = t.group(rank)
    if len(members) > 1:
        yield from algorithm_of(t)(t, rank, members, length, stream)
