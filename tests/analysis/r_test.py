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


class Files(support.Scratch):
    RUNS = "id,label,workers,status,simulated_s,final_loss\n"

    def printed(self, runs, curves):
        self.write("runs.csv", self.RUNS + runs)
        self.write("curves.csv", "run,step,simulated_s,samples,loss\n" + curves)
        called = subprocess.run(["Rscript", "--vanilla", str(support.ANALYSIS / "read_runs.R"), str(self.path)],
                                capture_output=True, text=True, timeout=60)
        self.assertEqual(called.returncode, 0, called.stderr)
        return [line.split() for line in called.stdout.splitlines()]

    def test_without_numbers_it_prints_times(self):
        printed = self.printed("a,ring,2,stopped,1.5,\nb,ring,4,stopped,0.5,\n", "a,0,0,0,\nb,0,0,0,\n")
        self.assertEqual(printed[1:], [["1", "ring", "2", "1", "0", "1.5", "NA"], ["2", "ring", "4", "1", "0", "0.5", "NA"]])

    def test_runs_that_diverge_are_counted_and_left_out_of_means(self):
        printed = self.printed("a,ring,2,stopped,1.5,0.25\nb,ring,2,diverged,9,1e99\n", "a,0,0,0,0.25\nb,0,0,0,1e99\n")
        self.assertEqual(printed[1], ["1", "ring", "2", "2", "1", "1.5", "0.25"])


if __name__ == "__main__":
    if not shutil.which("Rscript"):
        support.skip("there is no Rscript; apt-get install r-base-core")
    unittest.main()
