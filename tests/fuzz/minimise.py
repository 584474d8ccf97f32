"""Makes a scenario with a fault the smallest one that still shows the same kind of fault, and keeps it as a case."""

import pathlib
import re

import tables
from case import Case
from program import Fault
from relations import RELATIONS, check_relations

NAMED = re.compile(r'relation "([^"]+)": ')
MOST_TRIALS = 600
WIDTH = 118


def kind_of(fault):
    """What stays the same of a fault's words while a scenario shrinks: no numbers, names or files."""
    named = NAMED.match(fault)
    words = NAMED.sub("", fault)
    words = re.sub(r'"[^"]*"|[^\s:]*[/.][^\s:]*|[-+]?[0-9][-+0-9.e]*', "#", words)
    words = re.sub(r"^[^:]{1,60}: (?=\S)", "", words)  # the run's label, or what the message begins with
    return (named[1] if named else None), " ".join(words.split()[:6])


def smaller(value):
    """Values that are simpler than this one, the simplest first."""
    if isinstance(value, bool):
        return
    if isinstance(value, dict):
        if "kind" in value and len(value) > 1:
            yield {"kind": value["kind"]}
    elif isinstance(value, list):
        half = len(value) // 2
        if half > 1:
            yield value[:half]
            yield value[half:]
        yield from (value[:place] + value[place + 1:] for place in range(len(value)) if len(value) > 1)
    elif isinstance(value, int):
        yield from (number for number in (0, 1, 2, value // 2, value - 1) if 0 <= number < value)
    elif isinstance(value, float):
        yield from (number for number in (0.0, 1.0, 0.5, float(f"{value:.1g}")) if len(repr(number)) < len(repr(value)))
    elif found := tables.quantity(value):
        yield from (text for text in (f"1{tables.WRITTEN[found[0]]}", f"{found[1]:.1g}{tables.WRITTEN[found[0]]}")
                    if len(text) < len(value))


def places(value, path=()):
    """The paths of all keys and elements, tables before what is in them."""
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, each in inner:
        yield (*path, key)
        yield from places(each, (*path, key))


def replaced(tree, path, change):
    """A copy in which change(table, key) is done where the path ends; None where the path is no more."""
    copy = tables.mapped(tree, lambda _, value: value)
    table = copy
    try:
        for key in path[:-1]:
            table = table[key]
        change(table, path[-1])
    except (KeyError, IndexError, TypeError):
        return None
    return copy


def value_at(tree, path):
    for key in path:
        tree = tree[key]
    return tree


def candidates(tree, path):
    """Trees in which what stands at a path is missing or simpler."""
    def erase(table, key):
        del table[key]
    yield replaced(tree, path, erase)
    try:
        value = value_at(tree, path)
    except (KeyError, IndexError, TypeError):
        return
    for simpler in smaller(value):
        def put(table, key, simpler=simpler):
            table[key] = simpler
        yield replaced(tree, path, put)


def minimised(tree, shows, trials=MOST_TRIALS):
    """The tree without all that `shows` does not need: passes over all places, until one pass changes nothing."""
    shrunk = True
    while shrunk:
        shrunk = False
        for path in list(places(tree)):
            for candidate in candidates(tree, path):
                if candidate is None or candidate == tree:
                    continue
                if trials == 0:
                    return tree
                trials -= 1
                if shows(candidate):
                    tree, shrunk = candidate, True
                    break
    return tree


def head(origin, fault):
    """A comment that says what was wrong, and names the relation, which is held for a kept case at any time."""
    text, lines = f"{fault} (once {origin})", []
    for word in text.split():
        if lines and len(lines[-1]) + len(word) < WIDTH:
            lines[-1] += f" {word}"
        else:
            lines.append(f"# {word}")
    return "\n".join(lines) + "\n"


def keep_case(options, directory, checks):
    """Minimises the fault of a scenario, a file's or one that was drawn into the directory, and writes it."""
    given = pathlib.Path(options.keep_case)
    from_file = given.suffix == ".toml"
    tree = tables.read(given if from_file else directory / f"{given.name}.toml")
    origin = given.name if from_file else f"{given.name} of seed {options.seed}"
    scenario = directory / ("refused-kept.toml" if given.name.startswith("refused") else "valid-kept.toml")

    def faults(tree, only=None):
        scenario.write_text(tables.toml(tree), encoding="utf-8")
        if only is None:
            return checks.checked(scenario)
        try:
            return check_relations(Case(checks.program, scenario), 0, 0, {}, only=only)
        except (Fault, KeyError, TypeError):
            return []

    checks.relations = len(RELATIONS)  # all that apply
    found = faults(tree)
    if not found:
        raise Fault(f"{origin} shows no fault")
    kind = kind_of(found[0])
    small = minimised(tree, lambda tree: kind in map(kind_of, faults(tree, kind[0])))
    last = next(fault for fault in faults(small, kind[0]) if kind_of(fault) == kind)
    kept = (options.cases or pathlib.Path(__file__).resolve().parent / "cases" / "runs") / f"{options.name}.toml"
    kept.write_text(head(origin, last) + "\n" + tables.toml(small), encoding="utf-8")
    print(f"{kept}: {last}")
    return 0
