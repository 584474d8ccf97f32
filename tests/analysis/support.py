"""What the tests of analysis/ share.  A test program ends with 77, which CTest calls skipped, where something is missing."""

import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

SOURCE = Path(__file__).resolve().parents[2]
ANALYSIS = SOURCE / "analysis"
sys.path.insert(0, str(ANALYSIS))

SMALL = """
[cluster]
speed = "1GF"
[data]
samples = 400
features = 5
[model]
kind = "least_squares"
[stop]
loss = 0.1
steps = 40
[prices]
worker = "1$/h"
[[strategy]]
kind = "allreduce"
[[strategy]]
kind = "parameter_server"
label = "async, one server"
consistency = "asp"
[grid]
"cluster.workers" = [1, 2, 4]
"""


def skip(why):
    print("skipped:", why)
    sys.exit(77)


def need_modules():
    try:
        import matplotlib  # noqa: F401
        import pandas  # noqa: F401
    except ImportError as error:
        skip(f"{error} ({sys.executable}); apt-get install python3-pandas python3-matplotlib")


def simgrad():
    """The built program."""
    program = os.environ.get("SIMGRAD_PROGRAM", str(SOURCE / "build" / "simgrad"))
    if not Path(program).exists():
        skip(f"{program} is not built")
    return program


class Scratch(unittest.TestCase):
    """A directory for each test."""

    def setUp(self):
        self._directory = tempfile.TemporaryDirectory(prefix="simgrad-test-")
        self.addCleanup(self._directory.cleanup)
        self.path = Path(self._directory.name)

    def write(self, name, text):
        file = self.path / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
        return file


_ran = None


def results_of_small():
    """The directory of the results of SMALL under three seeds; made once a program."""
    global _ran
    if _ran is None:
        _ran = tempfile.TemporaryDirectory(prefix="simgrad-test-")
        scenario = Path(_ran.name) / "small.toml"
        scenario.write_text(SMALL, encoding="utf-8")
        subprocess.run([simgrad(), "run", str(scenario), "--seeds", "1..3", "--quiet", "--out", _ran.name + "/out"],
                       check=True, timeout=60)
    return Path(_ran.name) / "out"
