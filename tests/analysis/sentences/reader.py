"""Reads a text from left to right by patterns, and notes every claim: whether it holds, and of which kind it is."""

import collections
import re

from sentences.quantities import PATTERNS, agrees

PLACE = re.compile(r"<(\w+) (\w+)>")


class Unread(Exception):
    """No rule covers the rest of a text."""


class Names:
    """The cases of an experiment by the names that sentences give them."""

    def __init__(self, experiment):
        self.by = {"case": {}, "plain": {}, "choice": {}, "terminal": {}}
        for case in experiment.cases:
            for way, name in (("case", case.name), ("plain", case.plain), ("choice", case.choice),
                              ("terminal", case.terminal)):
                self.by[way].setdefault(name, []).append(case)
        self.patterns = {way: "(?:" + "|".join(re.escape(name) for name in sorted(names, key=len, reverse=True)) + ")"
                         for way, names in self.by.items()}

    def case(self, name):
        return self.by["case"][name][0]


class Claims:
    """What was read of all texts."""

    def __init__(self):
        self.kinds = collections.Counter()
        self.texts = collections.Counter()
        self.wrong = []  # (place, text, kind, why)

    def note(self, place, text, kind, holds, why):
        self.kinds[kind] += 1
        if not holds:
            self.wrong.append((place, text, kind, why() if callable(why) else why))


class Groups(dict):
    """The groups of a pattern; true even if the pattern has none."""

    def __bool__(self):
        return True


class Reader:
    def __init__(self, text, names, claims, place):
        self.text, self.names, self.claims, self.place, self.at = text, names, claims, place, 0
        claims.texts[place.split(" ", 1)[1]] += 1

    def take(self, pattern):
        """Returns the groups if the rest begins with the pattern, and moves behind it. <time t>: a time, as group t."""
        match = self.compiled(pattern).match(self.text, self.at)
        if not match:
            return None
        self.at = match.end()
        return Groups(match.groupdict())

    def compiled(self, pattern):
        def group(place):
            kind, name = place.groups()
            return f"(?P<{name}>{PATTERNS.get(kind) or self.names.patterns[kind]})"
        return re.compile(PLACE.sub(group, pattern))

    def need(self, pattern):
        found = self.take(pattern)
        if found is None:
            self.unread()
        return found

    def unread(self):
        raise Unread(f"unread sentence: {self.place}: {self.text[:self.at]} >>> {self.text[self.at:]}")

    def end(self):
        if self.at != len(self.text):
            self.unread()

    def done(self):
        return self.at == len(self.text)

    def claim(self, kind, holds, why=""):
        self.claims.note(self.place, self.text, kind, bool(holds), why)

    def number(self, kind, what, text, truth):
        """Claims that the number rounds to what is shown."""
        self.claim(what, agrees(kind, text, truth), lambda: f"{text} is {truth!r} by the runs")

    def list_of(self, item, most=None):
        """Reads "a, b and c" or "a, b and 3 more". Returns the groups of each item, and how many more there are."""
        items = [self.need(item)]
        while True:
            ends = self.take(r" and <whole more> more")
            if ends:
                return items, int(ends["more"])
            comma = self.compiled(", (?=" + item + ")").match(self.text, self.at)
            last = self.compiled(" and (?=" + item + ")").match(self.text, self.at)
            if not (comma or last):
                return items, 0
            self.at = (comma or last).end()
            items.append(self.need(item))
            if last:
                return items, 0
