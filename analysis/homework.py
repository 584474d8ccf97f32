#!/usr/bin/env python3
"""Gives a class its homework and grades it, in a folder with homework.toml, solution.toml and student_N.toml.

    python3 analysis/homework.py give class 17 18 19          # writes class/given_N.toml, the numbers of each student
    python3 analysis/homework.py grade class                  # writes class/grade_N.toml over each class/student_N.toml
    build/simgrad check class/grade_*.toml --junit grades.xml
    python3 analysis/homework.py marks class grades.xml       # prints points as CSV; takes several files, too

docs/teaching.md explains these steps. Only Python's standard library is needed (3.11 or later). The files of students
are read as data, and never run.
"""

import argparse
import csv
import json
import re
import sys
import tomllib
import xml.etree.ElementTree as xml
from pathlib import Path

WORKERS = [16, 8, 10, 12]
BANDWIDTHS_MBPS = range(50, 210, 10)
#: What a student may write, beside `extends`.
OWN_KEYS = {"strategy", "expect"}
#: A student's number is right within this share of the simulated one.
TOLERANCE = 0.01
MOST_BYTES = 20_000
MOST_S = 1e9
MOST_OF_ERROR = 200


class Refused(Exception):
    """A submission that is not graded, and why."""


def numbers_of(student):
    """Returns a student's own workers and bandwidth: 64 consecutive numbers have 64 different pairs."""
    number = int(student)
    workers = WORKERS[number % len(WORKERS)]
    bandwidth = BANDWIDTHS_MBPS[number // len(WORKERS) % len(BANDWIDTHS_MBPS)]
    return {"cluster": {"workers": workers, "bandwidth": f"{bandwidth}Mbps"}}


def read(path):
    """Reads TOML. Some editors of Windows begin a file with a byte order mark."""
    return tomllib.loads(path.read_bytes().decode("utf-8-sig"))


def read_own(path):
    """Reads a file of the teacher."""
    try:
        return read(path)
    except (OSError, ValueError) as fault:
        sys.exit(f"{path}: {fault.strerror if isinstance(fault, OSError) else fault}")


def as_toml(value):
    """Returns a value in TOML, on one line."""
    if isinstance(value, dict):
        return "{ " + ", ".join(f"{json.dumps(key)} = {as_toml(each)}" for key, each in value.items()) + " }"
    if isinstance(value, list):
        return "[" + ", ".join(map(as_toml, value)) + "]"
    return json.dumps(value, ensure_ascii=False)


def as_file(scenario):
    """Returns the text of a scenario: keys first, then tables, then lists of tables."""
    def entries(table):
        return "".join(f"{key if re.fullmatch('[A-Za-z0-9_]+', key) else json.dumps(key)} = {as_toml(value)}\n"
                       for key, value in table.items())

    text = entries({key: value for key, value in scenario.items() if not isinstance(value, (dict, list))})
    for key, value in scenario.items():
        if isinstance(value, dict):
            text += f"\n[{key}]\n{entries(value)}"
    for key, value in scenario.items():
        if isinstance(value, list):
            text += "".join(f"\n[[{key}]]\n{entries(each)}" for each in value)
    return text


def names_a_file(value):
    """Whether a student's value could make the program read another file: a path, or a text that looks like one."""
    if isinstance(value, dict):
        return "path" in value or any(map(names_a_file, value.values()))
    if isinstance(value, list):
        return any(map(names_a_file, value))
    return isinstance(value, str) and bool(re.search(r"[/\\]", value))


def submission(path, student):
    """Returns the number that a student expects, after everything else in the file has been found to be allowed."""
    if path.is_symlink():
        raise Refused("is a link, and not a file")
    if not path.is_file():
        raise Refused("no file")
    if path.stat().st_size > MOST_BYTES:
        raise Refused(f"more than {MOST_BYTES} bytes")
    try:
        handed_in = read(path)
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, RecursionError, ValueError) as fault:
        raise Refused(f"no TOML: {str(fault) or 'nested too deeply'}") from fault
    if handed_in.get("extends") != f"given_{student}.toml":
        raise Refused(f"does not extend given_{student}.toml")
    others = sorted(set(handed_in) - OWN_KEYS - {"extends"})
    if others:
        raise Refused("changes " + ", ".join(map(json.dumps, others)))
    strategies, expected = handed_in.get("strategy"), handed_in.get("expect")
    if not isinstance(strategies, list) or len(strategies) != 1 or not isinstance(strategies[0], dict):
        raise Refused("does not have one [[strategy]]")
    if names_a_file(strategies[0]):
        raise Refused("names a file in [[strategy]]")
    if not isinstance(expected, list) or len(expected) != 1 or not isinstance(expected[0], dict):
        raise Refused("does not have one [[expect]]")
    number = expected[0].get("equals")
    if expected[0].get("metric") != "time_to_target_s" or type(number) not in (int, float):
        raise Refused("[[expect]] has no number of time_to_target_s")
    if not 0 < number < MOST_S:
        raise Refused("the expected time is no number of seconds above 0")
    return number


def students(folder, kind="student"):
    """Returns the students who have handed in, or those of another kind of files, in order of their numbers."""
    found = [re.fullmatch(rf"{kind}_([0-9]{{1,9}})\.toml", path.name) for path in folder.iterdir()]
    return sorted((name[1] for name in found if name), key=lambda each: (int(each), each))


def misnamed(folder):
    """Returns the names of files that look like submissions and are none."""
    return sorted(path.name for path in folder.iterdir() if path.name.lower().startswith("student")
                  and not re.fullmatch(r"student_[0-9]{1,9}\.toml", path.name))


def graded(folder, student):
    """Returns the scenario that grades a student: laid over the submission, with every key of the homework again."""
    number = submission(folder / f"student_{student}.toml", student)
    homework, solution = read_own(folder / "homework.toml"), read_own(folder / "solution.toml")
    pinned = {key: value for key, value in homework.items() if key not in OWN_KEYS}
    for section, values in numbers_of(student).items():
        pinned[section] = pinned.get(section, {}) | values
    open_test = solution["expect"][0].get("where", {})
    own = {"metric": "time_to_target_s", "where": open_test, "equals": number, "tolerance": TOLERANCE}
    return {"extends": f"student_{student}.toml"} | pinned | {"grid": solution.get("grid", {}),
                                                             "expect": [own, *solution["expect"]]}


def check_solution(folder):
    """Refuses a solution whose expectations are not of one point each: each is to be one testcase, and one point."""
    solution = read_own(folder / "solution.toml")
    for number, expected in enumerate(solution.get("expect", []), 1):
        missing = sorted(set(solution.get("grid", {})) - set(expected.get("where", {})))
        if missing:
            sys.exit(f"{folder / 'solution.toml'}: [[expect]] {number} has no {', '.join(missing)} in its `where`")
    if not solution.get("expect"):
        sys.exit(f"{folder / 'solution.toml'}: has no [[expect]]")


def give(folder, numbers):
    for student in numbers:
        text = f"# The numbers of student {student}.\n" + as_file({"extends": "homework.toml"} | numbers_of(student))
        (folder / f"given_{student}.toml").write_text(text, encoding="utf-8")


def grade(folder):
    """Writes grade_N.toml for each submission, and says which are refused."""
    check_solution(folder)
    for student in students(folder):
        file = folder / f"grade_{student}.toml"
        try:
            text = as_file(graded(folder, student))
        except Refused as why:
            file.unlink(missing_ok=True)
            print(f"student_{student}.toml is refused: {why}")
        else:
            file.write_text(f"# Grades student {student}.\n" + text, encoding="utf-8")
    for name in misnamed(folder):
        print(f"{name!r} is ignored; expected a name such as student_17.toml")


def outcome(folder, student, suites):
    """Returns a student's points and a remark. A run that fails, and an expectation that is not tested, give none."""
    try:
        if student not in students(folder):
            return 0, "nothing was handed in"
        submission(folder / f"student_{student}.toml", student)
    except Refused as why:
        return 0, f"refused: {why}"
    cases = suites.get(f"grade_{student}.toml")
    if cases is None:
        return 0, "not in the JUnit file"
    wrong = [number for number, case in enumerate(cases, 1) if len(case) and case[0].tag != "system-out"]
    errors = [case.find("error").get("message", "") for case in cases if case.find("error") is not None]
    if errors:
        return 0, f"cannot be run: {errors[0][:MOST_OF_ERROR]}"
    return len(cases) - len(wrong), "not met: " + " ".join(map(str, wrong)) if wrong else "all met"


def suites_in(junit_files):
    """Returns the testcases of each suite by its file's name. The last of several suites of that name counts."""
    suites = {}
    for file in junit_files:
        try:
            found = xml.parse(file).iter("testsuite")
        except (OSError, xml.ParseError) as fault:
            sys.exit(f"{file}: {fault.strerror if isinstance(fault, OSError) else fault}")
        suites |= {Path(suite.get("name")).name: suite.findall("testcase") for suite in found}
    return suites


def marks(folder, junit_files):
    """Prints the points of each student who was given numbers or has handed in."""
    check_solution(folder)
    tests = 1 + len(read_own(folder / "solution.toml")["expect"])
    suites = suites_in(junit_files)
    table = csv.writer(sys.stdout, lineterminator="\n")
    table.writerow(["student", "points", "of", "remark"])
    everybody = {*students(folder), *students(folder, "given")}
    for student in sorted(everybody, key=lambda each: (int(each), each)):
        points, remark = outcome(folder, student, suites)
        table.writerow([student, points, tests, remark])


def main():
    parser = argparse.ArgumentParser(description="Gives a class its homework and grades it; see docs/teaching.md.")
    parser.add_argument("step", choices=["give", "grade", "marks"])
    parser.add_argument("folder", type=Path, help="the folder of the class, with homework.toml and solution.toml")
    parser.add_argument("rest", nargs="*", help="give: the students' numbers; marks: JUnit files of `simgrad check`")
    options = parser.parse_args()
    if not options.folder.is_dir():
        sys.exit(f"{options.folder}: is not a folder")
    if options.step == "give":
        if not options.rest or not all(re.fullmatch("[0-9]{1,9}", each) for each in options.rest):
            parser.error("give needs the students' numbers, as in: give class 17 18 19")
        give(options.folder, options.rest)
    elif options.step == "grade":
        if options.rest:
            parser.error("grade needs the folder alone")
        grade(options.folder)
    else:
        if not options.rest:
            parser.error("marks needs a JUnit file, as in: marks class grades.xml")
        marks(options.folder, options.rest)


if __name__ == "__main__":
    main()
