"""Scenarios as nested dictionaries: reading and writing TOML, dotted keys, and quantities with a unit."""

import json
import math
import re
import tomllib

# Times, bandwidths and speeds as scenarios write them: the factor of each base, behind an optional decimal prefix.
UNITS = {"time": {"s": 1.0, "min": 60.0, "h": 3600.0, "d": 86400.0},
         "bandwidth": {"bps": 0.125, "Bps": 1.0, "b/s": 0.125, "B/s": 1.0, "bit/s": 0.125, "byte/s": 1.0},
         "speed": {"F": 1.0, "f": 1.0, "FLOPS": 1.0, "flops": 1.0, "FLOP/s": 1.0, "flop/s": 1.0, "Flops": 1.0}}
PREFIXES = {"time": {"m": 1e-3, "u": 1e-6, "\u00b5": 1e-6, "\u03bc": 1e-6, "n": 1e-9, "p": 1e-12},
            "bandwidth": {"k": 1e3, "M": 1e6, "G": 1e9, "T": 1e12, "P": 1e15,
                          "Ki": 2.0**10, "Mi": 2.0**20, "Gi": 2.0**30, "Ti": 2.0**40},
            "speed": {"k": 1e3, "M": 1e6, "G": 1e9, "T": 1e12, "P": 1e15, "E": 1e18}}
WRITTEN = {"time": "s", "bandwidth": "Bps", "speed": "F"}


def spellings(dimension):
    units = dict(UNITS[dimension])
    for prefix, factor in PREFIXES[dimension].items():
        for base, size in UNITS[dimension].items():
            if dimension != "time" or base == "s":
                units[prefix + base] = factor * size
    return units


SPELLINGS = {dimension: spellings(dimension) for dimension in UNITS}
QUANTITY = re.compile(r"(-?[0-9.]+(?:[eE][-+]?[0-9]+)?)\s*([^\s0-9.].*)")


def quantity(value):
    """The dimension and the size of a text such as "10Gbps", in s, bytes/s or flops/s; None for other values."""
    found = QUANTITY.fullmatch(value) if isinstance(value, str) else None
    for dimension, units in SPELLINGS.items() if found else ():
        if found[2] in units:
            return dimension, float(found[1]) * units[found[2]]
    return None


def quantity_text(dimension, size):
    return f"{size!r}{WRITTEN[dimension]}"


def leaves(value, path=""):
    """All values that are neither tables nor lists of tables, with the dotted names of their keys; lists are leaves."""
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from leaves(inner, f"{path}.{key}" if path else key)
    elif isinstance(value, list) and any(isinstance(inner, dict) for inner in value):
        for inner in value:
            yield from leaves(inner, path)
    else:
        yield path, value


def mapped(value, change, path=""):
    """A copy in which change(path, leaf) stands for each leaf, elements of lists among them."""
    if isinstance(value, dict):
        return {key: mapped(inner, change, f"{path}.{key}" if path else key) for key, inner in value.items()}
    if isinstance(value, list):
        return [mapped(inner, change, path) for inner in value]
    return change(path, value)


def scaled(tree, factors):
    """A copy in which each quantity is multiplied by the factor that factors(path, dimension) gives; None leaves it."""
    def change(path, value):
        found = quantity(value)
        factor = factors(path, found[0]) if found else None
        return value if factor is None else quantity_text(found[0], found[1] * factor)
    return mapped(tree, change)


def at(tree, key, otherwise=None):
    """The value under a dotted key."""
    for part in key.split("."):
        if not isinstance(tree, dict) or part not in tree:
            return otherwise
        tree = tree[part]
    return tree


def with_values(tree, values):
    """A copy with other values under dotted keys; None takes a key away."""
    copy = mapped(tree, lambda _, value: value)
    for key, value in values.items():
        *tables, last = key.split(".")
        table = copy
        for part in tables:
            table = table.setdefault(part, {})
        if value is None:
            table.pop(last, None)
        else:
            table[last] = value
    return copy


def inline(value):
    """A value as TOML writes it within a line."""
    if isinstance(value, dict):
        return "{ " + ", ".join(f"{key_text(key)} = {inline(inner)}" for key, inner in value.items()) + " }"
    if isinstance(value, list):
        return "[" + ", ".join(inline(inner) for inner in value) + "]"
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    if isinstance(value, float):
        return repr(value)
    if isinstance(value, (bool, int, str)):
        return json.dumps(value, ensure_ascii=False)
    return value.isoformat()  # a date, which no scenario has but any TOML file may


def key_text(key):
    return key if re.fullmatch(r"[A-Za-z0-9_-]+", key) else json.dumps(key, ensure_ascii=False)


def toml(tree):
    """A tree as TOML: what is no table first, then a section each; tables within sections stand within a line."""
    def is_list(value):
        return isinstance(value, list) and value != [] and all(isinstance(inner, dict) for inner in value)
    lines = [f"{key_text(key)} = {inline(value)}" for key, value in tree.items()
             if not isinstance(value, dict) and not is_list(value)]
    for name, value in tree.items():
        for table in value if is_list(value) else [value] if isinstance(value, dict) else []:
            head = f"[[{key_text(name)}]]" if is_list(value) else f"[{key_text(name)}]"
            lines += ["", head, *(f"{key_text(key)} = {inline(inner)}" for key, inner in table.items())]
    return "\n".join(lines).strip() + "\n"


def read(path):
    with open(path, "rb") as file:
        return tomllib.load(file)
