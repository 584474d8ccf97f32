"""The homework of docs/teaching.md: variants, right, wrong and dishonest submissions, and the page's commands."""

import csv
import io
import json
import os
import re
import shutil
import subprocess
import sys
import tarfile
import unittest
import xml.etree.ElementTree as xml

import support

try:
    import homework
except ImportError as error:
    support.skip(f"{error}: Python 3.11 has tomllib ({sys.executable})")

TEACHING = support.SOURCE / "scenarios" / "teaching"
PAGE = support.SOURCE / "docs" / "teaching.md"

RIGHT = """
[[strategy]]
kind        = "local_sgd"
local_steps = 64
algorithm   = "recursive_doubling"
[[expect]]
metric = "time_to_target_s"
equals = 0.0359
"""


class Class(support.Scratch):
    """A folder of a class: the homework, its solution, and the submissions of a test."""

    def setUp(self):
        super().setUp()
        for name in ("homework.toml", "solution.toml"):
            shutil.copy(TEACHING / name, self.path)

    def hand_in(self, student, text=RIGHT, extends=None):
        homework.give(self.path, [str(student)])
        self.write(f"student_{student}.toml", f'extends = "{extends or f"given_{student}.toml"}"\n{text}')

    def step(self, *arguments):
        script = str(support.ANALYSIS / "homework.py")
        command = [sys.executable, "-B", script, arguments[0], str(self.path), *arguments[1:]]
        called = subprocess.run(command, capture_output=True, text=True, timeout=60)
        return called.returncode, called.stdout, called.stderr

    def check(self, *names):
        """Returns the outcome of each expectation, by suite: "ok", or the name of its element."""
        called = subprocess.run([support.simgrad(), "check", *(str(self.path / name) for name in names), "--quiet",
                                 "--junit", str(self.path / "grades.xml")], capture_output=True, text=True, timeout=100)
        self.assertIn(called.returncode, (0, 2, 3), called.stderr)
        return {suite.get("name").split("/")[-1]:
                [next((part.tag for part in case if part.tag != "system-out"), "ok") for case in suite.iter("testcase")]
                for suite in xml.parse(self.path / "grades.xml").iter("testsuite")}

    def grade(self):
        """Returns what `check` found and the table of marks, as lists of its rows."""
        said = self.step("grade")
        self.assertEqual(said[0], 0, said)
        found = self.check(*sorted(path.name for path in self.path.glob("grade_*.toml")))
        code, table, fault = self.step("marks", str(self.path / "grades.xml"))
        self.assertEqual(code, 0, fault)
        return found, list(csv.reader(io.StringIO(table)))


class Grading(Class):
    def test_right_wrong_and_cheating_submissions(self):
        for file in TEACHING.glob("*_1[789].toml"):
            shutil.copy(file, self.path)
        found, table = self.grade()
        self.assertEqual(found, {"grade_17.toml": ["ok", "ok", "ok"], "grade_18.toml": ["failure", "ok", "failure"]})
        self.assertEqual(table, [["student", "points", "of", "remark"], ["17", "3", "3", "all met"],
                                 ["18", "1", "3", "not met: 1 3"], ["19", "0", "3", 'refused: changes "cluster"']])

    def test_the_time_that_a_student_is_to_expect_is_that_of_a_formula(self):
        self.hand_in(17)
        command = [support.simgrad(), "run", "student_17.toml", "--json", "--quiet", "--no-why", "--out", "out"]
        called = subprocess.run(command, cwd=self.path, capture_output=True, text=True, timeout=60)
        run = json.loads(called.stdout)["runs"][0]
        # A step is 4 flops for each of 500 numbers of 400/8 rows at 1 Gflop/s. A round of 64 steps ends with lg 8
        # exchanges of 4 kB over 90 Mb/s.
        step_s, exchange_s = 4 * 500 * 50 / 1e9, 500e-6 + 8 * 4000 / 90e6
        expected_s = run["steps"] * step_s + run["steps"] // 64 * 3 * exchange_s
        self.assertAlmostEqual(run["time_to_target_s"], expected_s, delta=1e-9)
        self.assertAlmostEqual(run["time_to_target_s"], 0.0359, delta=5e-5)  # as the page rounds it

    def test_a_copy_of_another_students_file_has_the_wrong_time(self):
        self.hand_in(17)
        self.hand_in(18)
        found, table = self.grade()
        self.assertEqual(found["grade_17.toml"], ["ok", "ok", "ok"])
        self.assertEqual(found["grade_18.toml"], ["failure", "ok", "ok"])
        self.assertEqual([row[1] for row in table[1:]], ["3", "2"])

    def test_a_submission_that_cannot_be_run_takes_no_other_student_along(self):
        self.hand_in(17)
        self.hand_in(18, RIGHT.replace("local_sgd", "local_sdg"))
        self.hand_in(20, RIGHT.replace("64", "0"))
        found, table = self.grade()
        self.assertEqual(found["grade_18.toml"], ["error"])
        self.assertEqual([row[1:3] for row in table[1:]], [["3", "3"], ["0", "3"], ["0", "3"]])
        self.assertEqual(table[1][3], "all met")
        self.assertRegex(table[2][3], r"^cannot be run: \S*student_18\.toml:4:15: unknown strategy")
        self.assertRegex(table[3][3], r"^cannot be run: \S*student_20\.toml:5:15: local_steps")

    def test_students_of_several_junit_files_have_the_outcome_of_the_last_one(self):
        self.hand_in(17)
        error = '<testcase><error message="interrupted before it was checked"/></testcase>'
        self.write("first.xml", f'<testsuites><testsuite name="grade_17.toml">{error}</testsuite></testsuites>')
        self.write("again.xml", '<testsuites><testsuite name="grade_17.toml"><testcase/></testsuite></testsuites>')
        files = [str(self.path / name) for name in ("first.xml", "again.xml")]
        self.assertEqual(self.step("marks", files[0])[1].splitlines()[1],
                         "17,0,3,cannot be run: interrupted before it was checked")
        self.assertEqual(self.step("marks", *files)[1].splitlines()[1], "17,1,3,all met")

    def test_names_that_are_no_submission_and_students_without_one_are_said(self):
        self.hand_in(17)
        homework.give(self.path, ["20"])
        for name in ("Student_21.toml", "student_22 (1).toml"):
            self.write(name, "")
        _, said, _ = self.step("grade")
        self.assertEqual(said, "".join(f"{name!r} is ignored; expected a name such as student_17.toml\n"
                                       for name in ("Student_21.toml", "student_22 (1).toml")))
        self.write("none.xml", "<testsuites/>")
        self.assertEqual(self.step("marks", str(self.path / "none.xml"))[1].splitlines()[1:],
                         ["17,0,3,not in the JUnit file", "20,0,3,nothing was handed in"])

    def test_a_file_with_a_byte_order_mark_is_graded(self):
        self.hand_in(17)
        file = self.path / "student_17.toml"
        file.write_bytes(b"\xef\xbb\xbf" + file.read_bytes())
        self.assertEqual(self.step("grade"), (0, "", ""))
        self.assertEqual(self.check("grade_17.toml"), {"grade_17.toml": ["ok", "ok", "ok"]})

    def test_a_training_that_misses_the_target_has_no_points(self):
        self.hand_in(17, RIGHT.replace("64", '"all"'))  # one average of uneven replicas
        self.assertEqual(self.grade()[0], {"grade_17.toml": ["failure", "failure", "failure"]})

    def test_a_student_who_is_not_in_the_junit_file_has_no_points(self):
        self.hand_in(17)
        self.grade()
        self.hand_in(18)
        self.assertIn("18,0,3,not in the JUnit file\n", self.step("marks", str(self.path / "grades.xml"))[1])

    def test_an_expectation_that_was_not_tested_is_no_point(self):
        self.hand_in(17)
        cases = ["", '<skipped message="vacuous: found 1"/>', "<system-out>found 2</system-out>"]
        suite = "".join(f"<testcase>{inside}</testcase>" for inside in cases)
        self.write("grades.xml", f'<testsuites><testsuite name="class/grade_17.toml">{suite}</testsuite></testsuites>')
        self.assertEqual(self.step("marks", str(self.path / "grades.xml"))[1],
                         "student,points,of,remark\n17,2,3,not met: 2\n")


class Attacks(Class):
    def test_what_is_not_the_students_to_write_is_refused(self):
        attacks = {
            'changes "cluster"': '[cluster]\nspeed = "10GF"' + RIGHT,
            'changes "cluster", "training"': "cluster.relative_speeds = [9]\ntraining.numbers = false" + RIGHT,
            'changes "data"': '[data]\nsource = "csv"\npath = "secret.csv"' + RIGHT,
            'changes "grid", "stop"': '[stop]\nloss = 0.6\n[grid]\n"cluster.workers" = [1, 64]' + RIGHT,
            'changes "model"': "[model]\nl2 = 0.5" + RIGHT,
            'changes "seed", "title"': 'seed = 5\ntitle = "=1+1"' + RIGHT,
            "does not have one [[strategy]]": RIGHT + '[[strategy]]\nkind = "gossip"',
            "names a file in [[strategy]]":
                RIGHT.replace('"local_sgd"', '"gossip"\ngraph = { kind = "file", path = "given_17.toml" }'),
            "does not have one [[expect]]": RIGHT + '[[expect]]\nmetric = "steps"\nat_least = 0',
            "[[expect]] has no number of time_to_target_s": RIGHT.replace("equals", "at_most"),
            "the expected time is no number of seconds above 0 ": RIGHT.replace("0.0359", "1" + "0" * 400),
            "the expected time is no number of seconds above 0": RIGHT.replace("0.0359", "nan"),
            "more than 20000 bytes": RIGHT + "#" * 20_000,
        }
        for why, text in attacks.items():
            with self.subTest(why):
                self.hand_in(17, text)
                self.assertEqual(self.step("grade"), (0, f"student_17.toml is refused: {why.strip()}\n", ""))
                self.assertFalse((self.path / "grade_17.toml").exists())

    def test_other_bases_and_files_that_are_no_toml_are_refused(self):
        for extends in ("given_18.toml", "homework.toml", "../given_17.toml", "solution.toml", "grade_17.toml"):
            self.hand_in(17, extends=extends)
            self.assertIn("refused: does not extend given_17.toml", self.step("grade")[1])
        for text in ("a = " + "[" * 5_000, "a = 1" + "0" * 5_000, "a = 1\na = 2", "=", "\0"):
            self.write("student_17.toml", text)
            self.assertIn("student_17.toml is refused: no TOML", self.step("grade")[1], text[:10])
        (self.path / "student_17.toml").write_bytes(b'extends = "\xff"')
        self.assertIn("refused: no TOML", self.step("grade")[1])
        (self.path / "student_17.toml").unlink()
        (self.path / "student_17.toml").symlink_to(self.path / "solution.toml")
        self.assertIn("refused: is a link, and not a file", self.step("grade")[1])

    def test_a_grade_file_of_before_does_not_survive_a_refusal(self):
        self.hand_in(17)
        self.grade()
        self.hand_in(17, "seed = 2" + RIGHT)
        self.assertEqual(self.grade()[1][1], ["17", "0", "3", 'refused: changes "seed"'])

    def test_the_keys_of_the_grade_file_win_over_the_students(self):
        self.hand_in(17)
        found, _ = self.grade()
        honest = (self.path / "grades.xml").read_text(encoding="utf-8")
        # Changed after the file was looked at: every section of the homework, and the expectations.
        cheating = """
seed = 3
[cluster]
workers = 64
speed = "100GF"
bandwidth = "100Gbps"
latency = "1ns"
network_model = "tcp"
[data]
source = "blobs"
samples = 100
[model]
kind = "perceptron"
[training]
batch_size = 8
learning_rate = 9.0
partition = "by_label"
[stop]
loss = 5.0
steps = 2
[grid]
"cluster.latency" = ["0s"]
""" + RIGHT + '[[expect]]\nmetric = "steps"\nat_least = 0\n'
        self.hand_in(17, cheating)
        self.assertEqual(self.check("grade_17.toml"), found)
        without_times = [re.sub(r' time="[^"]*"', "", text)
                         for text in (honest, (self.path / "grades.xml").read_text(encoding="utf-8"))]
        self.assertEqual(*without_times)

    def test_a_key_that_the_homework_does_not_have_is_why_files_are_refused(self):
        self.hand_in(18, RIGHT)
        found, _ = self.grade()
        self.hand_in(18, "[cluster]\nrelative_speeds = [2, 2, 2, 2, 2, 2, 2, 2, 2, 2]" + RIGHT)
        self.check("grade_18.toml")
        times = re.findall("found ([0-9.]+)", (self.path / "grades.xml").read_text(encoding="utf-8"))
        self.assertLess(float(times[0]), 0.03)  # no pin stands against it: without this key it is 0.0313
        self.assertIn('refused: changes "cluster"', self.step("grade")[1])


class Variants(Class):
    def test_64_students_in_a_row_have_numbers_of_their_own(self):
        for first in (0, 17, 2_026_001):
            given = {str(homework.numbers_of(str(first + i))) for i in range(64)}
            self.assertEqual(len(given), 64)
        # 17 = 4 * 4 + 1: the second number of workers, the fifth bandwidth.
        self.assertEqual(homework.numbers_of("17"), {"cluster": {"workers": 8, "bandwidth": "90Mbps"}})

    def test_the_committed_numbers_are_those_that_give_writes(self):
        code, _, fault = self.step("give", "17", "18", "19")
        self.assertEqual(code, 0, fault)
        for name in ("given_17.toml", "given_18.toml", "given_19.toml"):
            self.assertEqual((self.path / name).read_bytes(), (TEACHING / name).read_bytes())

    def test_the_solution_meets_what_is_asked_for_with_the_numbers_of_any_student(self):
        extremes = [(workers, f"{bandwidth}Mbps") for workers in homework.WORKERS
                    for bandwidth in (homework.BANDWIDTHS_MBPS[0], homework.BANDWIDTHS_MBPS[-1])]
        for place, (workers, bandwidth) in enumerate(extremes):
            self.write(f"any_{place}.toml", f'extends = "solution.toml"\n[cluster]\nworkers = {workers}\n'
                                            f'bandwidth = "{bandwidth}"\n')
        found = self.check(*(f"any_{place}.toml" for place in range(len(extremes))))
        self.assertEqual(found, {f"any_{place}.toml": ["ok", "ok"] for place in range(len(extremes))})

    def test_wrong_calls_and_wrong_solutions_are_refused(self):
        for arguments in (("give",), ("give", "seventeen"), ("give", "-1"), ("grade", "17"), ("marks",)):
            self.assertEqual(self.step(*arguments)[0], 2, arguments)
        self.assertEqual(self.step("marks", "none.xml"), (1, "", "none.xml: No such file or directory\n"))
        self.write("solution.toml", 'extends = "homework.toml"\n[grid]\n"cluster.latency" = ["1ms"]\n'
                                    '[[expect]]\nmetric = "steps"\nat_most = 9\n')
        code, _, fault = self.step("grade")
        self.assertEqual(code, 1)
        self.assertIn("[[expect]] 1 has no cluster.latency in its `where`", fault)


def blocks_of(text, language):
    return re.findall(f"^```{language}\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)


class Page(support.Scratch):
    """The commands of docs/teaching.md, in order and in a directory that has what a clone with a build has."""

    def setUp(self):
        super().setUp()
        for folder in ("scenarios", "platforms", "analysis", "docs"):
            os.symlink(support.SOURCE / folder, self.path / folder)
        for folder in ("build", "bin"):
            (self.path / folder).mkdir()
        os.symlink(support.simgrad(), self.path / "build" / "simgrad")
        os.symlink(sys.executable, self.path / "bin" / "python3")
        self.text = PAGE.read_text(encoding="utf-8")

    def run_block(self, block):
        environment = dict(os.environ, PATH=f"{self.path / 'bin'}:{os.environ['PATH']}", PYTHONDONTWRITEBYTECODE="1")
        return subprocess.run(["bash", "-euc", block], cwd=self.path, env=environment, capture_output=True, text=True,
                              timeout=100)

    def test_commands_run_and_print_what_the_page_shows(self):
        shown = iter(blocks_of(self.text, "text"))
        ran = 0
        for block in blocks_of(self.text, "sh"):
            called = self.run_block(block)
            # "The command ends with exit code 3, for not all expectations hold".
            one_by_one = block.startswith("for ")
            self.assertEqual(called.returncode, 3 if "--junit" in block and not one_by_one else 0,
                             block + called.stdout + called.stderr)
            if one_by_one:
                self.assertIn("17,3,3,all met\n18,1,3,not met: 1 3\n", called.stdout)
            elif "homework.py grade" in block or "homework.py marks" in block:
                self.assertEqual(called.stdout, next(shown))
            ran += 1
        self.assertEqual(ran, 8)
        self.assertEqual(list(shown), [])
        student, grade = blocks_of(self.text, "toml")
        self.assertEqual(student, (self.path / "class" / "student_17.toml").read_text(encoding="utf-8"))
        self.assertEqual(grade, (self.path / "class" / "grade_17.toml").read_text(encoding="utf-8"))

    def test_the_packed_lessons_have_no_answers(self):
        pack = next(block for block in blocks_of(self.text, "sh") if block.startswith("tar "))
        self.assertEqual(self.run_block(pack).returncode, 0)
        with tarfile.open(self.path / "course.tar") as packed:
            names = packed.getnames()
            texts = {name: packed.extractfile(name).read().decode() for name in names
                     if "/lessons/" in name and name.endswith((".md", ".toml"))}
        lessons = [name for name in names if re.fullmatch(r"docs/lessons/(zh/)?[01][0-9].*\.md", name)]
        self.assertEqual(len(lessons), 2 * 19)
        self.assertEqual(sum(name.startswith("scenarios/lessons/") and name.endswith(".toml") for name in names), 19)
        self.assertEqual([name for name in names if re.search(r"/answers|teaching|\.svg", name)], [])
        for name, text in texts.items():
            self.assertNotRegex(text, re.compile(r"^\[\[expect", re.MULTILINE), name)

    def test_the_chinese_page_has_the_same_commands_and_files(self):
        translation = PAGE.with_suffix(".zh.md").read_text(encoding="utf-8")
        for language in ("sh", "text", "toml"):
            self.assertEqual(blocks_of(translation, language), blocks_of(self.text, language))


if __name__ == "__main__":
    unittest.main()
