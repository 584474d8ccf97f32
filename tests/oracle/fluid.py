"""Virtual time, a network whose flows share links max-min fairly, and a rank's memory: the floor of timeline.py.

Written from D. Bertsekas, R. Gallager, Data Networks, 1992 (max-min fair rates by progressive filling), and from what
docs/limits.md says of messages: rendezvous, and a latency that takes no bandwidth.
"""
import heapq
from collections import defaultdict, deque


class Event:
    """Something that happens once, and wakes those that wait for it."""

    def __init__(self):
        self.done, self.waiters = False, []


class Clock:
    """Virtual time: processes, timers, and a network whose flows share links max-min fairly."""

    def __init__(self):
        self.now, self.timers, self.ready, self.count = 0.0, [], deque(), 0
        self.flows, self.stale, self.capacity, self.message, self.connections = [], False, {}, None, None
        self.posted = defaultdict(deque)
        self.link_bytes, self.sent, self.messages = defaultdict(float), defaultdict(float), 0

    def trigger(self, event):
        event.done = True
        self.ready.extend(event.waiters)
        event.waiters = []

    def after(self, seconds):
        event = Event()
        self.count += 1
        heapq.heappush(self.timers, (self.now + seconds, self.count, lambda: self.trigger(event)))
        return event

    def spawn(self, generator):
        finished = Event()

        def go_on():
            for event in generator:
                if not event.done:
                    event.waiters.append(go_on)
                    return
            self.trigger(finished)
        go_on()
        return finished

    def call(self, channel, size, sends):
        """One end of a rendezvous on a channel (from, to, ...); the second end to call starts the transfer."""
        others = self.posted[channel, not sends]
        if not others:
            event = Event()
            self.posted[channel, sends].append((event, size))
            return event
        event, other_size = others.popleft()
        size = size if sends else other_size
        links, latency, load, limit = self.message(channel[0], channel[1], size)
        self.messages += 1
        self.sent[channel[0]] += size
        for link in links:
            self.link_bytes[link] += size
        if self.connections:
            latency += self.connections.begin(channel[:2], size, self.now)
            event.waiters.insert(0, lambda: self.connections.end(channel[:2], size, self.now))
        self.count += 1
        begin = lambda: self.begin(links, load, limit, event)
        heapq.heappush(self.timers, (self.now + latency, self.count, begin))
        return event

    def begin(self, links, load, limit, event):
        if load == 0 or not links:
            self.trigger(event)
        else:
            self.flows.append([load, 0.0, links, event])
            if limit < float("inf"):  # a flow's own limit is a link of its own
                self.capacity[id(event)] = limit
                self.flows[-1][2] = links + [id(event)]
            self.stale = True

    def share(self):
        """Progressive filling: the link with the least left for each of its flows fixes their rates, and so on."""
        room, users = dict(self.capacity), defaultdict(list)
        for flow in self.flows:
            flow[1] = None
            for link in flow[2]:
                users[link].append(flow)
        while users:
            link = min(users, key=lambda name: room[name] / len(users[name]))
            rate = room[link] / len(users[link])
            for flow in list(users[link]):
                flow[1] = rate
                for used in flow[2]:
                    room[used] -= rate
                    users[used].remove(flow)
                    if not users[used]:
                        del users[used]
        self.stale = False

    def run(self):
        while True:
            while self.ready:
                self.ready.popleft()()
            if self.stale:
                self.share()
            end = min((self.now + flow[0] / flow[1] for flow in self.flows), default=float("inf"))
            if self.timers:
                end = min(end, self.timers[0][0])
            if end == float("inf"):
                return
            elapsed, self.now = end - self.now, end
            for flow in self.flows:
                flow[0] -= elapsed * flow[1]
            for flow in [flow for flow in self.flows if flow[0] <= flow[1] * 1e-12]:
                self.flows.remove(flow)
                self.capacity.pop(id(flow[3]), None)
                self.stale = True
                self.trigger(flow[3])
            while self.timers and self.timers[0][0] <= self.now + 1e-13:
                heapq.heappop(self.timers)[2]()


class StopTraining(Exception):
    """The last update has been made: what is still under way does not count."""


class Ledger:
    """What is in a rank's memory: named bytes, their peak, and the rule that only what is there can be read."""

    def __init__(self):
        self.held, self.total, self.peak = {}, 0.0, 0.0

    def hold(self, name, size):
        if name in self.held:
            raise RuntimeError(f"{name} is already in memory")
        self.held[name] = size
        self.total += size
        self.peak = max(self.peak, self.total)

    def read(self, *names):
        for name in names:
            if name not in self.held:
                raise RuntimeError(f"{name} is read, but it is not in memory")

    def drop(self, name):
        self.read(name)
        self.total -= self.held.pop(name)


class Stream:
    """Work of a rank that goes on beside its passes, one piece after the other."""

    def __init__(self, clock):
        self.clock, self.last = clock, None

    def put(self, piece):
        before, clock = self.last, self.clock

        def behind():
            if before:
                yield before
            yield from piece
        self.last = clock.spawn(behind())
        return self.last
