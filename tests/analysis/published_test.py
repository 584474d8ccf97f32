"""docs/published.md is the table that published_table.py makes, its fits are those of calibrate, its numbers published ones."""

import csv
import os
import re
import subprocess
import sys
import unittest
from pathlib import Path

import support

if sys.version_info < (3, 11):
    support.skip("no tomllib")

import published_table  # noqa: E402

PUBLISHED = support.SOURCE / "scenarios" / "published"
NUMBER = re.compile(r"\d+(?:\.\d+)?")


def scenarios():
    return sorted(PUBLISHED.glob("*.toml"))


def of_table(name):
    """The rows of a published table, or a word of skipping."""
    folder = os.environ.get("SIMGRAD_TEST_DATA", "")
    path = Path(folder) / "published" / f"{name}.csv"
    if not folder or not path.is_file():
        raise unittest.SkipTest(f"SIMGRAD_TEST_DATA has no published/{name}.csv")
    with open(path, encoding="utf-8", newline="") as file:
        return list(csv.DictReader(line for line in file if not line.startswith("#")))


def published(*names):
    return [row for name in names for row in published_table.rows_of(PUBLISHED / f"{name}.toml")]


class Published(support.Scratch):
    def test_the_page_is_the_table_that_the_script_makes(self):
        rows = {path.stem: published_table.simulated_rows(support.simgrad(), path) for path in scenarios()}
        for name, words in (("published.md", published_table.ENGLISH), ("published.zh.md", published_table.CHINESE)):
            made = published_table.page(rows, words)
            page = (support.SOURCE / "docs" / name).read_text(encoding="utf-8")
            self.assertEqual(NUMBER.sub("0", page), NUMBER.sub("0", made))
            for found, expected in zip(NUMBER.findall(page), NUMBER.findall(made)):
                last_digit = 10.0 ** -len(expected.partition(".")[2])
                self.assertAlmostEqual(float(found), float(expected), delta=1e-4 * float(expected) + 1.01 * last_digit)

    def test_both_languages_have_the_same_links_numbers_and_rows(self):
        english, chinese = ((support.SOURCE / "docs" / name).read_text(encoding="utf-8").splitlines()
                            for name in ("published.md", "published.zh.md"))
        tables = [[re.sub(r" images/s| 张图像/s", "", line).split("|")[1:6] for line in page
                   if re.match(r"\| \[?(deepbench|tensorflow|vtrain)", line)] for page in (english, chinese)]
        self.assertGreater(len(tables[0]), 50)
        self.assertEqual(*tables)
        self.assertEqual(*(sorted(code for code in re.findall(r"`[^`]+`", "\n".join(page)) if "python3" not in code)
                           for page in (english, chinese)))

    def test_every_expectation_holds_and_each_scenario_asks_a_question(self):
        called = subprocess.run([support.simgrad(), "check", "--no-vacuous", *scenarios()], capture_output=True, text=True,
                                timeout=100)
        self.assertEqual(called.returncode, 0, called.stdout + called.stderr)
        for path in scenarios():
            lines = path.read_text(encoding="utf-8").splitlines()
            self.assertRegex(lines[0], r"^# .*\?$")
            self.assertTrue({"# Measured", "# Fitted", "# Assumed", "# Computed"}
                            <= {line.partition(":")[0] for line in lines}, path)

    def test_tolerances_follow_the_errors(self):
        for path in scenarios():
            for row in published_table.simulated_rows(support.simgrad(), path):
                self.assertLessEqual(row.tolerance, max(0.005, 2.5 * abs(row.error)), f"{path.stem}: {row.name}")

    def test_fitted_options_are_those_that_calibrate_finds(self):
        self.assertEqual(sorted(published_table.FITS), [path.stem for path in scenarios()])
        for path in scenarios():
            marked = [line for line in path.read_text(encoding="utf-8").splitlines() if line.endswith("# fitted")]
            self.assertTrue(marked)
            values = []
            for printed in published_table.fitted_options(support.simgrad(), path.stem):
                for table in published_table.tomllib.loads(printed).values():
                    values += [value for key, value in leaves(table)]
            held = {found for line in marked for found in re.findall(r'"[^"]*"|[\d.]+', line)}
            for value in values:
                self.assertIn(f'"{value}"' if isinstance(value, str) else str(value), held, path.stem)

    def test_the_reasons_of_the_page_are_what_its_rows_show(self):
        rows = {path.stem: published_table.simulated_rows(support.simgrad(), path) for path in scenarios()}
        servers = {row.name: row for row in rows["tensorflow_k80"]}
        predicted = [row for row in servers.values() if not row.fitted]
        self.assertTrue(all(row.error < 0.0 for row in predicted))
        self.assertEqual(min(predicted, key=lambda row: row.error).name, "64 GPUs, batch 32 a GPU")
        for gpus in (16, 32, 64):
            self.assertLess(servers[f"{gpus} GPUs, batch 32 a GPU"].error, servers[f"{gpus} GPUs, batch 64 a GPU"].error)
        longer = [2.0 * servers[f"8 GPUs, batch {batch} a GPU"].published
                  / servers[f"16 GPUs, batch {batch} a GPU"].published - 1.0 for batch in (64, 32)]
        self.assertEqual(round(max(longer), 3), 0.007)
        large, middle, small = rows["vtrain_a100"]
        self.assertLess(small.simulated - large.simulated, small.published - large.published)
        self.assertLess(large.simulated, middle.simulated)
        ring = sorted(rows["deepbench_infiniband"], key=lambda row: -abs(row.error))
        self.assertTrue(all(3e6 < row.where["data.features"] < 7e6 for row in ring[:2]))

    def test_bandwidths_of_knights_landing_fall_by_a_fifth_to_a_half(self):
        found = {(int(row["ranks"]), int(row["floats"])): float(row["milliseconds"]) for row in of_table("deepbench_allreduce")
                 if row["system"] == "KNL"}
        falls = [1.0 - 38360000 / found[ranks, 38360000] / (6553600 / found[ranks, 6553600]) for ranks in (2, 4, 8, 16, 32)]
        self.assertTrue(all(0.19 <= fall <= 0.55 for fall in falls), falls)

    def test_steps_of_vtrain_are_the_published_ones(self):
        rows = {f"micro-batches of {row['micro_batch']}": float(row["step_ms"]) / 1e3 for row in of_table("vtrain_a100")
                if row["tensor"] == row["pipeline"] == "1"}
        found = published("vtrain_a100")
        self.check({row.name: row.published for row in found}, rows)
        self.assertEqual([row.strategy for row in found], [row.name for row in found])

    def test_images_a_second_of_tensorflow_are_the_published_ones(self):
        rows = {f"{gpus} GPUs, batch {row['batch_per_gpu']} a GPU": float(row[f"gpus_{gpus}"])
                for row in of_table("tensorflow_ec2_k80") if row["model"] == "ResNet-50" for gpus in (8, 16, 32, 64)}
        found = published("tensorflow_k80")
        self.check({row.name: row.published for row in found}, rows)
        for row in found:
            hosts, batch = row.where["cluster.workers"], row.where["training.batch_size_per_worker"]
            self.assertEqual(row.name, f"{8 * hosts} GPUs, batch {batch // 8} a GPU")

    def test_times_of_deepbench_are_the_published_ones(self):
        rows = {f"{row['system']}, {row['ranks']} GPUs, {int(row['floats']):,} floats": float(row["milliseconds"]) / 1e3
                for row in of_table("deepbench_allreduce") if row["system"] != "KNL"}
        found = published("deepbench_pcie", "deepbench_infiniband")
        self.check({row.name: row.published for row in found}, rows)
        for row in found:
            ranks, floats = row.where["cluster.workers"], row.where["data.features"]
            self.assertTrue(row.name.endswith(f", {ranks} GPUs, {floats:,} floats"), row.name)

    def check(self, found, expected):
        self.assertEqual(sorted(found), sorted(expected))
        for name, value in expected.items():
            self.assertAlmostEqual(found[name], value, delta=1e-9 * value, msg=name)


def leaves(table):
    for key, value in table.items():
        if isinstance(value, dict):
            yield from leaves(value)
        else:
            yield key, value


if __name__ == "__main__":
    unittest.main()
