"""results.sqlite: the queries of analysis/README.md, and every cell against the CSV files, by Python's sqlite3."""

import csv
import json
import re
import sqlite3
import subprocess
import unittest

import support

TABLES = ("runs", "summary", "curves", "ranks", "links")


class Database(support.Scratch):
    def setUp(self):
        super().setUp()
        self.run_program("run", support.SOURCE / "scenarios" / "speedup_below_m.toml", "--set", "stop.steps=5", "--no-why",
                         "--quiet", "--sqlite", "--out", self.path)
        self.results = json.loads((self.path / "results.json").read_text(encoding="utf-8"))
        self.database = sqlite3.connect(self.path / "results.sqlite")
        self.addCleanup(self.database.close)

    def run_program(self, *words):
        subprocess.run([support.simgrad(), *map(str, words)], check=True, timeout=100, stdout=subprocess.DEVNULL)

    def queries(self):
        text = (support.SOURCE / "analysis" / "README.md").read_text(encoding="utf-8")
        found = [block.split("```")[0] for block in text.split("```sql\n")[1:]]
        self.assertEqual(len(found), 2)
        return found

    def test_the_fastest_strategy_by_number_of_workers(self):
        best = {}
        for row in self.results["summary"]:
            workers = row["parameters"]["cluster.workers"]
            if workers not in best or row["simulated_s"] < best[workers][1]:
                best[workers] = (row["label"], row["simulated_s"])
        self.assertEqual(self.database.execute(self.queries()[0]).fetchall(),
                         [(workers, *best[workers]) for workers in sorted(best)])

    def test_the_share_of_waiting(self):
        rows = self.database.execute(self.queries()[1]).fetchall()
        self.assertEqual(len(rows), len(self.results["runs"]))
        for (label, workers, waiting), run in zip(rows, self.results["runs"]):
            self.assertEqual((label, workers), (run["label"], run["parameters"]["cluster.workers"]))
            self.assertAlmostEqual(waiting, run["wait_s"] / run["simulated_s"], delta=1e-12)

    def test_every_cell_is_that_of_the_csv_file(self):
        for table in TABLES:
            with open(self.path / f"{table}.csv", newline="", encoding="utf-8") as file:
                header, *rows = csv.reader(file)
            found = self.database.execute(f"SELECT * FROM {table} ORDER BY rowid")
            self.assertEqual([column[0] for column in found.description], header)
            cells = found.fetchall()
            self.assertEqual(len(cells), len(rows))
            self.assertGreater(len(rows), 0)
            for row, values in zip(rows, cells):
                for text, value in zip(row, values):
                    self.assertTrue(self.same(text, value), f"{table}: {text!r} and {value!r}")

    def same(self, text, value):
        if value is None:
            return text == ""
        if isinstance(value, str):
            return text in (value, "'" + value)
        return isinstance(value, (int, float)) and float(text) == value and bool(re.search(r"[.e]", text)) == isinstance(
            value, float)

    def test_report_writes_the_same_database_from_the_results(self):
        written = (self.path / "results.sqlite").read_bytes()
        (self.path / "results.sqlite").unlink()
        self.run_program("report", self.path, "--sqlite")
        self.assertEqual((self.path / "results.sqlite").read_bytes(), written)


if __name__ == "__main__":
    unittest.main()
