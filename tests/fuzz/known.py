"""Faults that the project knows, as tests/known_faults.toml lists them.

A listed fault excuses what it is recognised by: the beginning of its words, in scenarios that its predicate describes.
Its own scenario, cases/known/NAME.toml, must still show it, so that the line in the file is taken out once the fault is
mended.
"""

import pathlib
import re
import shutil

import tables
from case import Case
from relations import check_relations

HERE = pathlib.Path(__file__).resolve().parent
LISTED = HERE.parent / "known_faults.toml"
PREFIXES = ("relations: ", "fuzz: ")


# The name in known_faults.toml, its relation, the scenarios that may show it, and the pattern of its words if not all
# words of the relation are meant. A fault of a run by itself has None for its relation, and a pattern.
KNOWN = {}


def shows(known, case, fault):
    """Whether a fault of a case is this known one."""
    related, may_show, *words = known
    begin = f"relation \"{related}\": " if related else ""
    return (fault.startswith(begin) and (related is not None or not fault.startswith("relation "))
            and all(re.search(each, fault.removeprefix(begin)) for each in words) and may_show(case))


class Known:
    def __init__(self, program, directory):
        self.program, self.directory = program, directory
        listed = {fault["test"] for fault in tables.read(LISTED).get("fault", [])}
        self.listed = [name for name in KNOWN if any(prefix + name in listed for prefix in PREFIXES)]

    def unknown(self, case, faults):
        """The faults of a case that no listed one excuses."""
        return [fault for fault in faults if not any(shows(KNOWN[name], case, fault) for name in self.listed)]

    def mended(self, faults_of):
        """What is to be said of listed faults that their own scenarios no longer show.

        faults_of: all faults of the runs of a scenario by themselves, known ones too.
        """
        for name in self.listed:
            file = name.replace(" ", "_") + ".toml"
            scenario = self.directory / f"known-{file}"
            shutil.copy(HERE / "cases" / "known" / file, scenario)
            case, relation = Case(self.program, scenario), KNOWN[name][0]
            faults = check_relations(case, 0, 0, {}, only=relation) if relation else faults_of(scenario)
            if not any(shows(KNOWN[name], case, fault) for fault in faults):
                yield f"\"{name}\" is mended: take it out of tests/known_faults.toml"
