"""simgrad report --latex and --methods: LaTeX that compiles, with the numbers of results.json; pairs.csv by another way."""

import csv
import itertools
import json
import math
import re
import shutil
import subprocess
import unittest

import support

#: What LaTeX takes for a command or a parameter, unless a backslash stands before.
SPECIAL = "&%$#_{}~^"


def without_escapes(text):
    return re.sub(r"\\[\\&%$#_{}]", "", text)


def t_density(x, n):
    return math.exp(math.lgamma((n + 1) / 2) - math.lgamma(n / 2)) / math.sqrt(n * math.pi) * (1 + x * x / n) ** (-(n + 1) / 2)


def two_sided_p(differences):
    """The p-value of a paired t test: Student's density integrated by Simpson's rule, after x = tan(angle)."""
    n, mean = len(differences), sum(differences) / len(differences)
    deviation = math.sqrt(sum((x - mean) ** 2 for x in differences) / (n - 1))
    t = abs(mean) / (deviation / math.sqrt(n))
    steps, first = 2000, math.atan(t)
    width = (math.pi / 2 - 1e-9 - first) / steps
    angles = [first + k * width for k in range(steps + 1)]
    values = [t_density(math.tan(a), n - 1) / math.cos(a) ** 2 for a in angles]
    return 2 * width / 3 * (values[0] + values[-1] + 4 * sum(values[1:-1:2]) + 2 * sum(values[2:-1:2]))


def holm(p_values):
    """Holm's p-values by their definition: the largest of m x p over all hypotheses that are rejected before."""
    ranked = sorted(p_values)
    adjusted = lambda p: max((len(ranked) - k) * q for k, q in enumerate(ranked) if q <= p)
    return [min(1.0, adjusted(p)) for p in p_values]


class Paper(support.Scratch):
    def report(self, *words, code=0):
        called = subprocess.run([support.simgrad(), "report", *map(str, words)], capture_output=True, text=True, timeout=60)
        self.assertEqual(called.returncode, code, called.stderr)
        return called

    def latex(self, directory):
        file = self.path / "x.tex"
        self.assertEqual(self.report(directory, "--latex", file).stdout, f"{file}\n")
        return file.read_text(encoding="utf-8")

    def check_well_formed(self, text):
        """Braces and environments are balanced, every row has the tabular's columns, nothing is unescaped."""
        text = "\n".join(line for line in text.splitlines() if not line.startswith("%"))
        open_environments = []
        for kind, name in re.findall(r"\\(begin|end)\{(\w+)\}", text):
            if kind == "begin":
                open_environments.append(name)
            else:
                self.assertEqual(open_environments.pop(), name)
        self.assertEqual(open_environments, [])
        self.assertNotRegex(text, r"(\\\\|\\(top|mid|bottom)rule)\s*[\[*]", "an option of the line's end")
        depth = 0
        for c in without_escapes(text):
            depth += {"{": 1, "}": -1}.get(c, 0)
            self.assertGreaterEqual(depth, 0)
        self.assertEqual(depth, 0)
        for columns, body in re.findall(r"\\begin\{tabular\}\{([lr]+)\}(.*?)\\end\{tabular\}", text, re.S):
            for row in [row for row in body.split("\\\\\n") if "&" in row]:
                joined = sum(int(n) - 1 for n in re.findall(r"\\multicolumn\{(\d+)\}", row))
                self.assertEqual(without_escapes(row).count("&") + joined, len(columns) - 1, row)
        mathless = re.sub(r"\$[^$]*\$", "", without_escapes(text))
        self.assertNotIn("$", mathless)
        outside = re.sub(r"\\begin\{tabular\}.*?\\end\{tabular\}", "", mathless, flags=re.S)
        for c in "&%#_^~$":
            self.assertNotIn(c, outside, outside)

    def check_compiles(self, text):
        if not shutil.which("pdflatex"):
            self.skipTest("no pdflatex: the text was checked, and not compiled")
        (self.path / "whole.tex").write_text("\\documentclass{article}\\usepackage{booktabs}\\begin{document}\n" + text +
                                             "\\end{document}\n", encoding="utf-8")
        called = subprocess.run(["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "whole.tex"], cwd=self.path,
                                capture_output=True, text=True, timeout=100)
        self.assertEqual(called.returncode, 0, called.stdout)

    def test_the_table_has_the_numbers_of_the_summary(self):
        directory = support.results_of_small()
        text = self.latex(directory)
        self.check_well_formed(text)
        summary = json.loads((directory / "results.json").read_text(encoding="utf-8"))["summary"]
        body = text.split("\\bottomrule")[0].split("\\midrule\n", 1)[1].replace("\\midrule\n", "")
        rows = [row.split(" & ") for row in body.split(" \\\\\n") if row.strip()]
        header = text.split("\\midrule")[0].strip().splitlines()[-1].removesuffix(" \\\\").split(" & ")
        self.assertEqual(len(rows), len(summary))
        unit = {"ns": 1e-9, "$\\mu$s": 1e-6, "ms": 1e-3, "s": 1.0}[re.match(r"time \[(.*)\]", header[3])[1]]
        for row, expected in zip(rows, summary):
            self.assertEqual(row[0], "{}" + expected["label"])
            self.assertEqual(row[1:3], [str(expected["workers"]), "3"])
            mean = re.search(r"[\d.]+", row[3])[0]
            self.assertGreaterEqual(len(mean.replace(".", "").lstrip("0")), 2)
            last_digit = 10.0 ** -len(mean.partition(".")[2])
            self.assertAlmostEqual(float(mean), expected["simulated_s"] / unit, delta=0.501 * last_digit)
        self.check_compiles(text)

    def test_labels_of_all_characters_are_escaped(self):
        hostile = "[a]*_b%$#&{}~^\\\\x--y<>|"
        scenario = self.write("x.toml", support.SMALL.replace("async, one server", hostile))
        subprocess.run([support.simgrad(), "run", str(scenario), "--seeds", "1..2", "--quiet", "--out", str(self.path / "out")],
                       check=True, timeout=60)
        text = self.latex(self.path / "out")
        self.check_well_formed(text)
        self.check_compiles(text)

    def test_the_checker_finds_what_is_wrong(self):
        for wrong in ("\\begin{table}", "a_b", "a \\\\\n[b]", "\\midrule\n[1] & 2", "5 % x", "{", "$x", "\\begin{tabular}{lr}\na & b & c \\\\\n\\end{tabular}",
                      "\\begin{a}\\begin{b}\\end{a}\\end{b}"):
            with self.subTest(wrong), self.assertRaises((AssertionError, IndexError)):
                self.check_well_formed(wrong)

    def test_the_numbers_of_the_paragraph_are_in_the_results(self):
        directory = support.results_of_small()
        text = " ".join(self.report(directory, "--methods").stdout.split())
        whole = json.loads((directory / "results.json").read_text(encoding="utf-8"))
        known = {"95"} | set(re.findall(r"\d+(?:\.\d+)*", json.dumps(whole["scenario"]) + whole["version"] + whole["command"]))
        known |= {str(run["seed"]) for run in whole["runs"]}
        known |= {str(value) for run in whole["runs"] for value in run["parameters"].values()}
        found = re.findall(r"\d+(?:\.\d+)*", text)
        self.assertGreater(len(found), 10)
        self.assertEqual([number for number in found if number not in known], [])
        cluster = whole["scenario"]["cluster"]
        for part in (f"by simgrad {whole['version']} ", f"worker {cluster['speed']},", f"card (each way) {cluster['bandwidth']},",
                     f"latency (one way) {cluster['latency']},", "means over seeds 1 to 3.", "over 1, 2 and 4.",
                     f"network model {cluster['network_model']}", f"model {whole['scenario']['model']['kind']},"):
            self.assertIn(part, text)

    def test_pairs_are_tested_as_another_program_does(self):
        directory = support.results_of_small()
        with open(directory / "runs.csv", encoding="utf-8") as file:
            runs = list(csv.DictReader(file))
        with open(directory / "pairs.csv", encoding="utf-8") as file:
            pairs = list(csv.DictReader(file))
        self.assertEqual([pair["param.cluster.workers"] for pair in pairs], ["2", "4"] if len(pairs) == 2 else ["1", "2", "4"])
        for workers, group in itertools.groupby(pairs, key=lambda pair: pair["param.cluster.workers"]):
            group, p_values = list(group), []
            for pair in group:
                times = [[float(run["time_to_target_s"]) for run in runs
                          if run["label"] == pair[key] and run["param.cluster.workers"] == workers]
                         for key in ("label", "other")]
                differences = [b - a for a, b in zip(*times)]
                p_values.append(two_sided_p(differences) if max(differences) > min(differences) else 1.0)
                self.assertEqual(int(pair["seeds"]), 3)
                self.assertAlmostEqual(float(pair["behind"]), sum(differences) / 3, delta=1e-12)
                self.assertAlmostEqual(float(pair["p"]), p_values[-1], delta=1e-7)
            for pair, expected in zip(group, holm(p_values)):
                self.assertAlmostEqual(float(pair["p_holm"]), expected, delta=1e-6)

    def test_refusals(self):
        directory = support.results_of_small()
        for words in (["--latex", "x.tex", "--out", "y.html"], ["--methods", "--language", "en"], ["--latex=", "--sqlite"]):
            self.assertIn("excludes", self.report(directory, *words, code=2).stderr)
        self.assertIn("不能与", self.report(directory, "--methods", "--language", "zh", code=2).stderr)
        self.assertIn("no such file", self.report(self.path, "--methods", code=5).stderr.lower())
        self.assertIn("cannot be written", self.report(directory, "--latex", self.path / "none" / "x.tex", code=5).stderr)

    def test_the_file_is_beside_the_results_by_default(self):
        shutil.copytree(support.results_of_small(), self.path / "out")
        self.assertEqual(self.report(self.path / "out", "--latex").stdout, f"{self.path / 'out' / 'summary.tex'}\n")
        self.assertEqual((self.path / "out" / "summary.tex").read_text(encoding="utf-8"), self.latex(support.results_of_small()))


if __name__ == "__main__":
    support.simgrad()
    unittest.main()
