#!/usr/bin/env python3
"""Which keys, and which pairs of keys, the generator of random scenarios has never drawn together.

    tests/fuzz/pairs.py --program build/simgrad --generator build/tests/fuzz/random_scenarios
                        [--scenarios 5000] [--seed S] [--out pairs.txt]
    tests/fuzz/pairs.py --program build/simgrad --drawn DIR...      # scenarios that lie there already, and their files

A key is a dotted path, with the kind of the component that it belongs to: strategy.allreduce.bucket_size. Choices are
keys of their own: training.precision/float16. All devices of the catalogue are one kind. A pair counts where one
scenario has both. All pairs that were never drawn are written to a file. The largest families of them are printed, two
parts of a scenario each, and what the program says: pairs of a family are tried, by putting what has the one key into
scenarios that have the other. One that is then accepted is the generator's habit, and not the program's refusal.
Nothing proves that a pair is refused everywhere.
"""

import argparse
import collections
import copy
import itertools
import os
import pathlib
import random
import re
import shutil
import sys
import tempfile

import tables
from program import called

A_CALL = 250  # scenarios that are drawn by one call
FAMILIES, TRIED, DONORS = 30, 6, 4  # how many are printed; pairs of each that are tried, and scenarios with each key
WHOLE = {"serving", "capacity", "plan", "job", "expect", "grid", "prices"}  # sections that are one family


def keys(value, path="", within_list=False):
    """The dotted names of all keys of a scenario and of their choices, each with the kinds of components on its way.

    A kind stands as path/kind, so that what two kinds of one component have is known not to go together; the tables of
    a list may be of several kinds.
    """
    if isinstance(value, list) and any(isinstance(inner, dict) for inner in value):
        for inner in value:
            yield from keys(inner, path, True)
    elif isinstance(value, dict):
        kind = value.get("kind", value.get("source"))
        if path.endswith("device") and kind not in (None, "none", "custom"):
            kind = "listed"  # a device of the catalogue is a row of numbers
        if isinstance(kind, str) and path:
            path += f".{kind}" if within_list else f"/{kind}"
            yield path
        for key, inner in value.items():
            if key not in ("kind", "source"):
                yield from keys(inner, f"{path}.{key}" if path else key)
    elif path:
        choice = isinstance(value, str) and value.replace("_", "").isalpha() and value.islower()
        yield f"{path}/{str(value).lower()}" if choice or isinstance(value, bool) else path


def exclude(one, other):
    """Whether two keys belong to different kinds of one component, or to two strategies, which are runs of their own."""
    def kinds(name):
        return {name[:place]: re.split(r"[./]", name[place + 1:])[0] for place, sign in enumerate(name) if sign == "/"}
    of_one, of_other = kinds(one), kinds(other)
    strategies = {name.split(".")[1].split("/")[0] for name in (one, other) if name.startswith("strategy.")}
    if len(strategies) == 2:
        return True
    return any(path in of_other and of_other[path] != kind for path, kind in of_one.items())


def drawn_scenarios(options, directory):
    """Trees of the scenarios of several seeds, or of those in directories. The files that they name are copied into the
    directory."""
    folders = options.drawn or []
    for place in range(0, 0 if folders else options.scenarios, A_CALL):
        folders.append(directory / f"drawn-{place}")
        count, seed = min(A_CALL, options.scenarios - place), options.seed + place // A_CALL
        code, _, err = called([options.generator, folders[-1], count, seed], 3600)
        if code != 0:
            sys.exit(f"the generator failed: {err}")
    for folder in folders:
        yield from (tables.read(file) for file in sorted(folder.glob("valid-*.toml")))
    for file in folders[0].iterdir():
        if file.is_file() and file.suffix != ".toml" or file.name == "operators.toml":
            shutil.copy(file, directory)


def all_keys(program):
    """The keys of a scenario that `simgrad explain scenario` lists; those of components stand with their kinds."""
    _, lines, _ = called([program, "explain", "scenario"])
    names = {line.split()[0] for line in lines.splitlines() if re.match(r"  [a-z]\S* \(", line)}
    return names - {"schema", "data.source", "model.kind", "strategy.kind"}


def family(name):
    """The part of a scenario that a key belongs to: a section's option or component, or a strategy."""
    parts = re.split(r"[./]", name)
    return parts[0] if parts[0] in WHOLE else ".".join(parts[:2])


def grafted(tree, donor, name):
    """The tree with what has the key in the donor: the whole component, or the list of tables; of strategies those that
    have it, beside the tree's own."""
    tree = copy.deepcopy(tree)
    above, value = tree, donor
    for part in name.split("/")[0].split("."):
        if not isinstance(value, dict) or part not in value:
            break
        if part == "strategy" and above is tree:
            kind = name.split(".")[1].split("/")[0]
            tree.setdefault("strategy", []).extend(each for each in donor["strategy"] if each.get("kind") == kind)
            break
        value = value[part]
        if not isinstance(value, dict) or not isinstance(above.get(part), dict) or "kind" in value or "source" in value:
            above[part] = copy.deepcopy(value)
            break
        above = above[part]
    return tree


def answer(program, directory, tree):
    """None if the program accepts the tree, else the first line of what it says."""
    file = directory / "tried.toml"
    file.write_text(tables.toml(tree), encoding="utf-8")
    code, _, err = called([program, "validate", "--resolved", file])
    return None if code == 0 else re.sub(r"^\S+:\d+:\d+: ", "", err.splitlines()[0] if err else "")


def tried(program, directory, holders, pair, dice):
    """Whether a scenario with both keys is accepted, and if not, what is said of one. holders: trees by key."""
    said = ""
    for one, other in (pair, pair[::-1]):
        for tree in dice.sample(holders[one], min(DONORS, len(holders[one]))):
            both = grafted(tree, dice.choice(holders[other]), other)
            if not set(pair) <= set(keys(both)):
                continue
            refused = answer(program, directory, both)
            if refused is None:
                return True, ""
            said = said or refused
    return False, said


def report_families(options, directory, never, possible, holders):
    families = collections.defaultdict(list)
    for pair in never:
        families[tuple(sorted(map(family, pair)))].append(pair)
    of_family = collections.Counter(tuple(sorted(map(family, pair))) for pair in possible)
    largest = sorted(families, key=lambda each: -len(families[each]))[:FAMILIES]
    print("the largest families: pairs that never came, of how many; accepted of those tried; else what was said")
    dice = random.Random(1)
    for each in largest:
        found = [tried(options.program, directory, holders, pair, dice)
                 for pair in dice.sample(families[each], min(TRIED, len(families[each])))] if options.program else []
        accepted = f"{sum(there for there, _ in found)} of {len(found)}"
        said = next((text for there, text in found if not there and text), "")
        print(f"  {len(families[each]):6} of {of_family[each]:6} {' x '.join(each):48} {accepted}  {said[:150]}")


def report(options, directory, holders, together, known):
    names = sorted(holders)
    possible = [pair for pair in itertools.combinations(names, 2) if not exclude(*pair)]
    never = sorted((pair for pair in possible if pair not in together),
                   key=lambda pair: (-min(len(holders[pair[0]]), len(holders[pair[1]])), pair))
    plain = {re.sub(r"/[^.]*", "", name) for name in names}
    plain |= {f"strategy.{name.split('.')[-1]}" for name in plain if name.startswith("strategy.")}
    absent = sorted(key for key in known if not any(name == key or name.startswith(f"{key}.") for name in plain))
    with open(options.out, "w", encoding="utf-8") as file:
        file.write("".join(f"never drawn: {name}\n" for name in absent))
        file.write("".join(f"{one} {other}\n" for one, other in never))
    print(f"{len(names)} keys and choices were drawn; of {len(known)} keys of `explain scenario` {len(absent)} never: "
          f"{' '.join(absent)}")
    drawn = len(possible) - len(never)
    print(f"{drawn} of {len(possible)} pairs were drawn ({100 * drawn / max(len(possible), 1):.1f} %); those that never "
          f"came: {options.out}")
    report_families(options, directory, never, possible, holders)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--generator", type=pathlib.Path)
    parser.add_argument("--program", type=pathlib.Path, help="tells the keys that there are, and whether pairs are refused")
    parser.add_argument("--drawn", type=pathlib.Path, nargs="+")
    parser.add_argument("--scenarios", type=int, default=5000)
    parser.add_argument("--seed", type=int, default=int(os.environ.get("SIMGRAD_SEED") or 1))
    parser.add_argument("--out", default="pairs.txt")
    options = parser.parse_args()
    if not options.drawn and not options.generator:
        parser.error("give --generator or --drawn")
    holders, together, scenarios = collections.defaultdict(list), set(), 0
    with tempfile.TemporaryDirectory(prefix="simgrad-pairs-") as name:
        directory = pathlib.Path(name)
        for tree in drawn_scenarios(options, directory):
            names = sorted(set(keys(tree)))
            scenarios += 1
            for each in names:
                holders[each].append(tree)
            together.update(itertools.combinations(names, 2))
        print(f"{scenarios} scenarios")
        report(options, directory, holders, together, all_keys(options.program) if options.program else set())


if __name__ == "__main__":
    main()
