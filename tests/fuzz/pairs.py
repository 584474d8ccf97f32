#!/usr/bin/env python3
"""Which keys, and which pairs of keys, the generator of random scenarios has never drawn together.

    tests/fuzz/pairs.py --generator build/tests/fuzz/random_scenarios [--scenarios 5000] [--seed S] [--out pairs.txt]
    tests/fuzz/pairs.py --drawn DIR...      # scenarios that lie there already

A key is a dotted path, with the kind of the component that it belongs to: strategy.allreduce.bucket_size. Choices are
keys of their own: training.precision/float16. A pair counts where one scenario has both. All pairs that were never
drawn are written to a file; those of the keys that were drawn most often are printed, for they are missing not by
chance.
"""

import argparse
import itertools
import os
import pathlib
import re
import sys
import tempfile

import tables
from program import called

A_CALL = 250  # scenarios that are drawn by one call


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
    """Whether two keys belong to different kinds of one component."""
    def kinds(name):
        return {name[:place]: re.split(r"[./]", name[place + 1:])[0] for place, sign in enumerate(name) if sign == "/"}
    of_one, of_other = kinds(one), kinds(other)
    return any(path in of_other and of_other[path] != kind for path, kind in of_one.items())


def drawn_scenarios(options):
    """Trees of the scenarios of several seeds, or of those in directories."""
    if options.drawn:
        for directory in options.drawn:
            yield from (tables.read(file) for file in sorted(directory.glob("valid-*.toml")))
        return
    for place in range(0, options.scenarios, A_CALL):
        with tempfile.TemporaryDirectory(prefix="simgrad-pairs-") as name:
            count, seed = min(A_CALL, options.scenarios - place), options.seed + place // A_CALL
            code, _, err = called([options.generator, name, count, seed], 3600)
            if code != 0:
                sys.exit(f"the generator failed: {err}")
            yield from (tables.read(file) for file in sorted(pathlib.Path(name).glob("valid-*.toml")))


def all_keys(program):
    """The keys of a scenario that `simgrad explain scenario` lists; those of components stand with their kinds."""
    _, lines, _ = called([program, "explain", "scenario"])
    names = {line.split()[0] for line in lines.splitlines() if re.match(r"  [a-z]\S* \(", line)}
    return names - {"schema", "data.source", "model.kind", "strategy.kind"}


def report(counted, together, known, out):
    names = sorted(counted)
    possible = [pair for pair in itertools.combinations(names, 2) if not exclude(*pair)]
    never = sorted((pair for pair in possible if pair not in together),
                   key=lambda pair: (-min(counted[pair[0]], counted[pair[1]]), pair))
    plain = {re.sub(r"/[^.]*", "", name) for name in names}
    plain |= {f"strategy.{name.split('.')[-1]}" for name in plain if name.startswith("strategy.")}
    absent = sorted(key for key in known if not any(name == key or name.startswith(f"{key}.") for name in plain))
    with open(out, "w", encoding="utf-8") as file:
        file.write("".join(f"never drawn: {name}\n" for name in absent))
        file.write("".join(f"{one} {other}\n" for one, other in never))
    print(f"{len(names)} keys and choices were drawn; of {len(known)} keys of `explain scenario` {len(absent)} never: "
          f"{' '.join(absent)}")
    share = len(never) / max(len(possible), 1)
    print(f"of {len(possible)} pairs {len(never)} never together ({100 * share:.1f} %): {out}")
    for one, other in never[:20]:
        print(f"  {counted[one]:5} x {one}, {counted[other]:5} x {other}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--generator", type=pathlib.Path)
    parser.add_argument("--program", type=pathlib.Path, help="tells the keys that there are")
    parser.add_argument("--drawn", type=pathlib.Path, nargs="+")
    parser.add_argument("--scenarios", type=int, default=5000)
    parser.add_argument("--seed", type=int, default=int(os.environ.get("SIMGRAD_SEED") or 1))
    parser.add_argument("--out", default="pairs.txt")
    options = parser.parse_args()
    if not options.drawn and not options.generator:
        parser.error("give --generator or --drawn")
    counted, together, scenarios = {}, set(), 0
    for tree in drawn_scenarios(options):
        names = sorted(set(keys(tree)))
        scenarios += 1
        for name in names:
            counted[name] = counted.get(name, 0) + 1
        together.update(itertools.combinations(names, 2))
    print(f"{scenarios} scenarios")
    report(counted, together, all_keys(options.program) if options.program else set(), options.out)


if __name__ == "__main__":
    main()
