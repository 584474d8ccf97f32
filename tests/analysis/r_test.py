"""read_runs.R in R, where there is one."""

import json
import shutil
import subprocess
import unittest

import support


class Snippet(unittest.TestCase):
    def test_it_prints_the_means_of_the_runs(self):
        directory = support.results_of_small()
        called = subprocess.run(["Rscript", "--vanilla", str(support.ANALYSIS / "read_runs.R"), str(directory)],
                                capture_output=True, text=True, timeout=60)
        self.assertEqual(called.returncode, 0, called.stderr)
        runs = json.loads((directory / "results.json").read_text(encoding="utf-8"))["runs"]
        losses = [e["loss"] for run in runs if run["label"] == "allreduce" for e in run["curve"]]
        last = next(line for line in reversed(called.stdout.splitlines()) if "allreduce" in line)
        self.assertAlmostEqual(float(last.split()[-1]), min(losses), delta=1e-6)


if __name__ == "__main__":
    if not shutil.which("Rscript"):
        support.skip("there is no Rscript; apt-get install r-base-core")
    unittest.main()
