"""Faults in relations that the project knows, as tests/known_faults.toml lists them.

A listed fault excuses the scenarios that its predicate describes. Its own scenario, cases/known/NAME.toml, must still
show it, so that the line in the file is taken out once the fault is mended.
"""

import pathlib
import shutil

import tables
from case import Case
from relations import check_relations, cut

HERE = pathlib.Path(__file__).resolve().parent
LISTED = HERE.parent / "known_faults.toml"
PREFIX = "relations: "

# The name in known_faults.toml, its relation, and the scenarios that may show it.
KNOWN = {
    "times of cut models": ("numbers or none", cut),
    "memory of cut models": ("memory of shards", cut),
    "hosts of devices": ("hosts and devices", lambda case: True),
}


class Known:
    def __init__(self, program, directory):
        self.program, self.directory = program, directory
        listed = {fault["test"] for fault in tables.read(LISTED).get("fault", [])}
        self.listed = [name for name in KNOWN if PREFIX + name in listed]

    def unknown(self, case, faults):
        """The faults of a case that no listed one excuses."""
        def excused(fault):
            return any(fault.startswith(f"relation \"{related}\"") and may_show(case)
                       for related, may_show in (KNOWN[name] for name in self.listed))
        return [fault for fault in faults if not excused(fault)]

    def mended(self):
        """What is to be said of listed faults that their own scenarios no longer show."""
        for name in self.listed:
            file = name.replace(" ", "_") + ".toml"
            scenario = self.directory / f"known-{file}"
            shutil.copy(HERE / "cases" / "known" / file, scenario)
            if not check_relations(Case(self.program, scenario), 0, 0, {}, only=KNOWN[name][0]):
                yield f"\"{PREFIX}{name}\" is mended: take it out of tests/known_faults.toml"
