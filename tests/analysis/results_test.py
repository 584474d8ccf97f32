"""simgrad_results.py: statistics against values by hand, tables against results.json."""

import json
import math
import unittest

import support

support.need_modules()

import pandas as pd  # noqa: E402
import simgrad_results as results  # noqa: E402


class Statistics(unittest.TestCase):
    def test_interval_of_three_values(self):
        # Mean 2, standard deviation 1, t = 4.303 for two degrees of freedom.
        mean, low, high = results.confidence_interval([1.0, 2.0, 3.0])
        self.assertEqual(mean, 2.0)
        self.assertAlmostEqual(high - mean, 4.303 / math.sqrt(3), delta=1e-12)
        self.assertAlmostEqual(mean - low, 4.303 / math.sqrt(3), delta=1e-12)

    def test_interval_of_one_value_of_equal_ones_and_of_none(self):
        mean, low, high = results.confidence_interval([0.1])
        self.assertEqual(mean, 0.1)
        self.assertTrue(math.isnan(low) and math.isnan(high))
        self.assertEqual(results.confidence_interval([0.1] * 7), (0.1, 0.1, 0.1))
        self.assertTrue(math.isnan(results.confidence_interval([math.nan, None])[0]))

    def test_interval_of_values_whose_squares_are_beyond_numbers(self):
        mean, low, high = results.confidence_interval([1e200, 2e200, 3e200])
        self.assertEqual(mean, 2e200)
        self.assertAlmostEqual((high - mean) / 1e200, 4.303 / math.sqrt(3), delta=1e-12)

    def test_values_that_are_missing_are_left_out(self):
        self.assertEqual(results.confidence_interval([1.0, math.nan, 3.0])[0], 2.0)

    def test_quantiles_of_student_beyond_the_table(self):
        for degrees, t in ((1, 12.706), (30, 2.042), (31, 2.040), (40, 2.021), (60, 2.000), (120, 1.980)):
            self.assertAlmostEqual(results.student_t(degrees), t, delta=0.0006)

    def test_amdahls_fit_finds_the_share_that_made_the_speedups(self):
        workers = [1, 2, 4, 8, 16]
        speedups = [1 / (0.1 + 0.9 / p) for p in workers]
        self.assertAlmostEqual(results.amdahl(workers, speedups), 0.1, delta=1e-12)
        self.assertEqual(results.amdahl(workers, workers), 0.0)
        self.assertEqual(results.amdahl([2, 4], [3, 6]), 0.0)  # faster than ideal is not less than nothing serial
        self.assertTrue(math.isnan(results.amdahl([1], [1.0])))

    def test_pareto_front(self):
        rows = pd.DataFrame({"time": [1, 2, 3, 2, 4, 0.5], "cost": [9, 5, 5, 5, 1, math.nan]})
        # (3, 5) is beaten by (2, 5), which is there twice; what has no cost is not compared.
        self.assertEqual(list(results.pareto(rows, ["time", "cost"])), [True, True, False, True, True, False])


class Frames(support.Scratch):
    RUNS = ("id,strategy,label,param.cluster.workers,seed,status,simulated_s,steps,samples,epochs,final_loss,"
            "time_to_target_s,speedup_throughput,efficiency,compute_s,communicate_s,wait_s,down_s,bytes,messages,cost_usd,"
            "energy_j,workers\n")

    def runs(self, *lines):
        self.write("runs.csv", self.RUNS + "".join(line + "\n" for line in lines))
        return results.load_runs(self.path)

    def line(self, run, label, workers, seed, speedup, status="stopped", point=None):
        point = workers if point is None else point
        return f"{run},x,{label},{point},{seed},{status},1,1,1,1,1,,{speedup},,1,0,0,0,0,0,,,{workers}"

    def test_speedup_is_that_of_the_mean_times_by_label_and_grid_point(self):
        runs = self.runs(self.line("a", "ring", 2, 1, 1.5), self.line("b", "ring", 2, 2, 1.7),
                         self.line("c", '"NA, none"', 4, 1, 2.0), self.line("d", '"NA, none"', 4, 2, "", "failed"),
                         self.line("e", "tree", 4, 1, ""))
        rows = results.speedup(runs)
        self.assertEqual(list(rows["label"]), ["ring", "NA, none"])
        self.assertAlmostEqual(rows["mean"][0], 1.6, delta=1e-15)
        # Standard deviation sqrt(0.02), t = 12.706 for one degree of freedom.
        self.assertAlmostEqual(rows["high"][0] - rows["mean"][0], 12.706 * 0.1, delta=1e-12)
        self.assertAlmostEqual(rows["efficiency"][0], 0.8, delta=1e-15)
        self.assertEqual([rows["mean"][1], rows["seeds"][1], rows["of"][1]], [2.0, 1, 2])
        self.assertRaisesRegex(results.ResultsError, "neither", results.speedup, runs, "time")

    def test_labels_and_values_of_a_grid_that_look_like_nothing_are_texts(self):
        runs = self.runs(self.line("a", "NA", 2, 1, 1, point="none"), self.line("b", "null", 2, 1, 1, point=""))
        self.assertEqual(list(runs["label"]), ["NA", "null"])
        self.assertEqual(list(runs["param.cluster.workers"]), ["none", ""])

    def test_curves_are_means_at_the_steps_of_all_seeds_and_who_has_ended_stays_there(self):
        self.runs(self.line("a", "ring", 2, 1, 1), self.line("b", "ring", 2, 2, 1))
        self.write("curves.csv", "run,step,simulated_s,samples,loss,r2\n"
                                 "a,0,0,0,1.0,\na,5,2,50,0.5,\nb,0,0,0,2.0,\nb,5,4,50,0.7,\nb,10,8,100,0.1,\n")
        curves = results.mean_curves(results.load_curves(self.path))
        self.assertEqual(list(curves["step"]), [0, 5, 10])
        self.assertEqual(list(curves["simulated_s"]), [0.0, 3.0, 5.0])
        for found, expected in zip(curves["mean"], [1.5, 0.6, 0.3]):
            self.assertAlmostEqual(found, expected, delta=1e-15)
        self.assertTrue(results.mean_curves(results.load_curves(self.path), "r2").empty)
        self.assertRaisesRegex(results.ResultsError, "no column accuracy; it has run, step",
                               results.mean_curves, results.load_curves(self.path), "accuracy")

    def test_a_curve_ends_where_a_seed_diverges_and_a_failed_one_has_none(self):
        self.runs(self.line("a", "ring", 2, 1, 1, "diverged"), self.line("b", "ring", 2, 2, 1),
                  self.line("c", "ring", 2, 3, 1, "failed"))
        self.write("curves.csv", "run,step,simulated_s,samples,loss\na,0,0,0,1.0\na,5,1,50,1e200\na,10,2,100,\n"
                                 "b,0,0,0,1.0\nb,5,1,50,3e200\nb,10,2,100,0.1\nc,0,0,0,7.0\n")
        curves = results.mean_curves(results.load_curves(self.path))
        self.assertEqual(list(curves["step"]), [0, 5])
        self.assertEqual(list(curves["mean"]), [1.0, 2e200])
        self.assertAlmostEqual(curves["high"][1] / (2e200 + 12.706 * 1e200), 1.0, delta=1e-12)

    def test_files_that_were_cut_short_are_refused(self):
        whole = self.RUNS + self.line("a", "ring", 2, 1, 1) + "\n"
        for text, expected in ((whole[:-1], "its last line has no end"), (whole[:-10], "its last line has no end"),
                               (whole + "b,x,ring,2\n", "runs.csv:3: 4 cells, but the header has 23"),
                               (whole + self.line("b", "ring", 2, 1, 1) + ",9\n", "runs.csv:3: 24 cells"),
                               (whole + 'b,"x\n', "unexpected end of data")):
            with self.subTest(expected):
                self.write("runs.csv", text)
                self.assertRaisesRegex(results.ResultsError, expected, results.load_runs, self.path)

    def test_faults_name_the_file_and_what_is_wrong(self):
        load = results.load_runs
        self.assertRaisesRegex(results.ResultsError, "runs.csv: there is no such file; give the directory", load, self.path)
        self.write("runs.csv", "")
        self.assertRaisesRegex(results.ResultsError, "runs.csv: not a CSV file of simgrad", load, self.path)
        self.write("runs.csv", "id,label\n1,2\n")
        self.assertRaisesRegex(results.ResultsError, "the column strategy is missing", load, self.path)
        self.write("runs.csv", self.RUNS + self.line("a", "ring", 2, 1, 1) + "\n" + self.line("b", "ring", 2, 1, "x") + "\n")
        self.assertRaisesRegex(results.ResultsError, "runs.csv:3: speedup_throughput must be a number, found 'x'", load, self.path)
        self.runs(self.line("a", "ring", 2, 1, 1))
        self.write("curves.csv", "run,step,simulated_s,samples,loss\nz,0,0,0,1\n")
        self.assertRaisesRegex(results.ResultsError, "the run z is not in runs.csv", results.load_curves, self.path)

    def test_a_grid_point_is_chosen_by_its_value(self):
        runs = self.runs(self.line("a", "ring", 2, 1, 1), self.line("b", "ring", 4, 1, 1))
        self.assertEqual(list(results.at_point(runs, ["cluster.workers=4"])["id"]), ["b"])
        self.assertRaisesRegex(results.ResultsError, "expected KEY=VALUE with a key of the grid; it has: cluster.workers",
                               results.at_point, runs, ["workers=4"])
        self.assertRaisesRegex(results.ResultsError, "the grid takes 2, 4", results.at_point, runs, ["cluster.workers=8"])
        self.assertEqual(results.point_text(runs.iloc[1]), "workers=4")


class AgainstTheProgram(unittest.TestCase):
    """The CSV files say what results.json says."""

    @classmethod
    def setUpClass(cls):
        cls.directory = support.results_of_small()
        cls.json = json.loads((cls.directory / "results.json").read_text(encoding="utf-8"))

    def test_runs_have_the_numbers_of_results_json(self):
        runs = results.load_runs(self.directory)
        self.assertEqual(list(runs["id"]), [run["id"] for run in self.json["runs"]])
        self.assertEqual(set(runs["label"]), {"allreduce", "async, one server"})
        for column in results.COLUMNS["runs.csv"]:
            for found, run in zip(runs[column], self.json["runs"]):
                expected = run[column]
                if expected is None:
                    self.assertTrue(pd.isna(found), column)
                else:
                    self.assertEqual(found, expected, column)

    def test_speedups_and_their_intervals_are_those_of_the_summary_of_results_json(self):
        for measure in ("throughput", "time_to_target"):
            rows = results.speedup(results.load_runs(self.directory), measure)
            self.assertEqual(len(rows), 6)
            for _, row in rows.iterrows():
                found = next(each for each in self.json["summary"]
                             if each["label"] == row["label"] and each["workers"] == row["workers"])
                self.assertEqual(found["seeds"], 3)
                for ours, theirs in (("mean", ""), ("low", "_low"), ("high", "_high")):
                    self.assertAlmostEqual(row[ours], found["speedup_" + measure + theirs], delta=1e-6)
                if measure == "throughput":
                    self.assertAlmostEqual(row["efficiency"], found["efficiency"], delta=1e-9)
                else:
                    self.assertNotIn("efficiency", row)
                    self.assertAlmostEqual(row["efficiency_to_target"],
                                           found["speedup_time_to_target"] / row["workers"], delta=1e-9)

    def test_the_front_holds_the_fastest_and_the_cheapest(self):
        runs = results.load_runs(self.directory)
        rows = results.summary(runs, "time_to_target_s")
        rows["cost"] = results.summary(runs, "cost_usd")["mean"]
        front = results.pareto(rows, ["mean", "cost"])
        self.assertTrue(front[rows["mean"].idxmin()])
        self.assertTrue(front[rows["cost"].idxmin()])

    def test_curves_ranks_and_links_belong_to_their_runs(self):
        curves, ranks = results.load_curves(self.directory), results.load_ranks(self.directory)
        links = results.load_links(self.directory)
        self.assertEqual(len(curves), sum(len(run["curve"]) for run in self.json["runs"]))
        self.assertEqual(len(links), sum(len(run["links"]) for run in self.json["runs"]))
        for run in self.json["runs"]:
            own = ranks[ranks["run"] == run["id"]]
            self.assertEqual(set(own["label"]), {run["label"]})
            for total in own[results.PARTS].sum(axis=1):
                self.assertAlmostEqual(total, run["simulated_s"], delta=1e-9 * run["simulated_s"])


if __name__ == "__main__":
    unittest.main()
