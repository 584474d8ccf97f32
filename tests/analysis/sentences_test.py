"""Every claim of a report's sentences, recomputed from results.json by rules that share nothing with the program.

The sentences of random experiments and of small runs are read from left to right. A sentence that no rule covers is a
fault, as is a number, a name, a winner or a cause that the runs do not bear out.

    python3 sentences_test.py [EXPERIMENTS [FIRST]]     60 experiments from number 1 on, if nothing else is said
    python3 sentences_test.py --strict 300              with the known faults, too
    python3 sentences_test.py --kinds                   counts claims by kind
"""

import gzip
import json
import re
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

import support
from sentences import answers, cards, charts, findings, memory, meshes, network_charts, overview, pairs, random_results
from sentences import reader, real_runs, tables, terminal
from sentences.facts import Experiment

PROGRAM = support.simgrad()
CHARTS = {"curves": charts.curves, "time": charts.time, "speedup": charts.speedup, "pareto": tables.pareto,
          "points_table": tables.points_table, "pairs": pairs.pairs, "links": network_charts.links, "collectives": network_charts.collectives,
          "memory": memory.memory, "mesh": meshes.mesh, "staleness": network_charts.staleness, "consensus": network_charts.consensus, "gantt": network_charts.gantt}
NO_NUMBER = (KeyError, StopIteration, TypeError, ZeroDivisionError, AttributeError, ValueError, IndexError)

# Faults of the sentences that are known: (text, kind of claim). An entry goes when the sentence is repaired.
KNOWN = {}


def page_data(file):
    found = re.search(r"<script[^>]*id=\"?simgrad-data\"?[^>]*>(.*?)</script>", file.read_text(encoding="utf-8"), re.S)
    return json.loads(found[1])


class Page:
    """Reads all sentences of a page."""

    def __init__(self, name, experiment, data, claims):
        self.name, self.experiment, self.data, self.claims = name, experiment, data, claims
        self.names = reader.Names(experiment)

    def read(self, what, text, rule):
        one = reader.Reader(text, self.names, self.claims, f"{self.name} {what}")
        try:
            rule(one)
            one.end()
        except reader.Unread as fault:
            self.claims.note(one.place, text, "read", False, str(fault))
        except NO_NUMBER as fault:  # the sentence is about something that the results do not have
            if "--debug" in sys.argv:
                raise
            self.claims.note(one.place, text, "recomputed", False, f"no such numbers: {fault!r}")

    def read_all(self):
        card = self.data["summary"]
        self.read("headline", card["headline"], self.headline)
        for line in card["winners"]:
            self.read(f"card by {line['by']}", line["text"], lambda one,
                      line=line: cards.card(one, self.experiment, line))
        if card["bottleneck"]:
            self.read("bottleneck", card["bottleneck"]["text"],
                      lambda one: cards.bottleneck(one, self.experiment, card["bottleneck"]["name"]))
        for text in card["notes"]:
            self.read("note", text, self.note)
        self.charts()

    def charts(self):
        for name, rule in CHARTS.items():
            chart = self.data.get(name)
            if chart:
                self.read(name, chart["sentence"], lambda one, rule=rule, chart=chart: self.chart(one, rule, chart))
        self.timelines()
        self.rows()

    def timelines(self):
        shown = len(self.data["gantt"]["runs"]) if self.data["gantt"] else 0
        of = sum(1 for case in self.experiment.cases if case.live)
        missing = self.data["missing_timelines"]
        if missing:
            self.read("missing timelines", missing["sentence"],
                      lambda one: network_charts.missing_timelines(one, shown, of))
        else:
            self.read("missing timelines", "", lambda one: one.claim("none missing", shown == of, f"{shown} of {of}"))

    def headline(self, one):
        if answers.without_winner(one, self.experiment):
            return
        if self.experiment.has_target and not self.experiment.to_target:
            answers.closest(one, self.experiment)
            one.need(r"\.")
        else:
            answers.headline(one, self.experiment)

    def note(self, one):
        if not cards.notes(one, self.experiment):
            answers.headline(one, self.experiment)

    def chart(self, one, rule, chart):
        rule(one, self.experiment, chart)
        if chart.get("about"):
            case = self.case_of(chart["about"])
            named = [each for each in self.experiment.cases if each.plain in one.text]
            one.claim("about", not named or case in named, f"the page shows {case.name}")
            # The other case of the sentence, at another grid point, is shown beside it.
            if chart.get("other"):
                other = self.case_of(chart["other"])
                one.claim("about", other in named and other.point != case.point, f"the page adds {other.name}")

    def rows(self):
        table = self.data["points_table"]
        for row in table["rows"] if table else []:
            case = self.case_of(row)
            self.read("row", row["status"],
                      lambda one, row=row,
                      case=case: tables.points_row(one, self.experiment, row, table["to_target"], case))
            rule = findings.binds if row["binds"] else findings.nothing
            self.read("binds", row["binds"], lambda one, rule=rule, case=case: rule(one, self.experiment, case))
        for row in (self.data.get("pairs") or {"rows": []})["rows"]:
            self.read("pairs of a point", row["sentence"],
                      lambda one, row=row: pairs.point(one, self.experiment, row, self.case_of(row).point))
            self.read("matrix", "", lambda one, row=row: pairs.matrix(
                one, self.experiment, row, [self.case_of({"strategy": each, "point": row["point"]})
                                            for each in row["strategies"]]))
        chart = self.data["collectives"]
        for row in chart["rows"] if chart else []:
            self.read("collective", row["explanation"],
                      lambda one, row=row: network_charts.explanation(one, self.case_of(row), row))

    def case_of(self, row):
        label = self.data["strategies"][row["strategy"]]["label"]
        point = self.data["points"][row["point"]]["parameters"]
        return next(case for case in self.experiment.cases if (case.label, case.point) == (label, point))


class LargePage(Page):
    """Reads the page of a large experiment: an overview, and the charts of three grid points."""

    def headline(self, one):
        if len(self.experiment.labels) < 2 or self.experiment.jobs:
            super().headline(one)
        elif answers.without_winner(one, self.experiment):
            pass
        elif self.experiment.has_target and not self.experiment.to_target:
            answers.closest(one, self.experiment)
            one.need(r"\.")
        else:
            overview.headline(one, self.experiment)

    def note(self, one):
        if not cards.notes(one, self.experiment):
            overview.headline(one, self.experiment)

    def charts(self):
        data = self.data["overview"]
        self.read("overview", data["sentence"], lambda one: tables.points_table(one, self.experiment, data))
        self.read("closer", data["closer"], lambda one: overview.closer(one, self.experiment))
        if data["by"]:
            self.read("winners", "", lambda one: overview.winners(one, self.experiment, data))
        self.read("cases", "", lambda one: overview.cases(one, self.experiment, data))
        shown = [point["parameters"] for point in self.data["points"]]
        results = dict(self.experiment.results)
        results["runs"] = [run for point in shown for run in results["runs"] if run["parameters"] == point]
        few = Page(f"{self.name} closer", Experiment(results, self.experiment.timelines), self.data, self.claims)
        few.charts()


class Altered(Page):
    """Reads each text with one of its numbers altered, and counts those that pass."""

    altered, passed = 0, []

    def read(self, what, text, rule):
        if wrong_in(self, what, text, rule):
            return  # a text with a fault has one anyway
        names = [name for of_way in self.names.by.values() for name in of_way]
        name = re.compile("|".join(re.escape(each) for each in sorted(names, key=len, reverse=True)))
        masked = name.sub(lambda match: "_" * len(match[0]), text)
        for number in re.finditer(r"(?<![\w.])\d+(?:\.\d+)?", masked):
            decimals = len(number[0].partition(".")[2])
            other = text[:number.start()] + f"{3 * float(number[0]) + 1:.{decimals}f}" + text[number.end():]
            Altered.altered += 1
            if not wrong_in(self, what, other, rule):
                Altered.passed.append(f"{self.name} {what}: {other}")


def wrong_in(page, what, text, rule):
    page.claims = reader.Claims()
    Page.read(page, what, text, rule)
    return page.claims.wrong


def read_drawn(numbers, claims, kind=Page, large=False):
    """Makes reports on the experiments of these numbers, and reads them."""
    with tempfile.TemporaryDirectory(prefix="simgrad-test-") as scratch:
        for number in numbers:
            directory = Path(scratch) / str(number)
            results, timelines = random_results.write_experiment(directory, number, large)
            subprocess.run([PROGRAM, "report", str(directory)], check=True, timeout=100, stdout=subprocess.DEVNULL)
            kind(f"experiment-{number}", Experiment(results, timelines), page_data(directory / "report.html"),
                 claims).read_all()


def read_real(numbers, claims):
    """Runs the scenarios of these numbers, and reads their reports and what the runs print."""
    with tempfile.TemporaryDirectory(prefix="simgrad-test-") as scratch:
        for number in numbers:
            text, words = real_runs.scenario(number)
            directory = Path(scratch) / str(number)
            directory.mkdir()
            (directory / "drawn.toml").write_text(text, encoding="utf-8")
            ran = subprocess.run([PROGRAM, "run", "drawn.toml", *words, "--out", "out"], cwd=directory, timeout=100,
                                 check=True, capture_output=True, text=True, encoding="utf-8")
            results = json.loads((directory / "out/results.json").read_text(encoding="utf-8"))
            timelines = {file.name.partition(".")[0].rpartition("-")[2]: json.loads(gzip.decompress(file.read_bytes()))
                         for file in (directory / "out/timelines").glob("*.json.gz")}
            page = Page(f"run-{number}", Experiment(results, timelines), page_data(directory / "out/report.html"),
                        claims)
            page.read_all()
            for line in terminal.paragraphs(ran.stdout):
                page.read("terminal", line, lambda one, page=page: terminal.line(one, page.experiment))


class Sentences(unittest.TestCase):
    numbers = range(1, 61)

    def judge(self, claims):
        print(f"{sum(claims.texts.values())} texts, {sum(claims.kinds.values())} claims of {len(claims.kinds)} kinds, "
              f"{len(claims.wrong)} wrong")
        fresh = []
        for place, text, kind, why in claims.wrong:
            known = KNOWN.get((place.split(" ", 1)[1], kind))
            if known is None or "--strict" in sys.argv:
                fresh.append(f"{place}: {kind}: {why}\n    {text}")
        if "--kinds" in sys.argv:
            print(dict(claims.texts), dict(claims.kinds), sep="\n")
        self.assertEqual(len(fresh), 0, "\n" + "\n".join(fresh))

    def test_claims_on_random_experiments_are_those_of_the_runs_they_name(self):
        claims = reader.Claims()
        read_drawn(self.numbers, claims)
        self.judge(claims)

    def test_claims_on_large_experiments_are_those_of_the_runs_they_name(self):
        claims = reader.Claims()
        read_drawn(range(1, 1 + max(3, len(self.numbers) // 20)), claims, LargePage, large=True)
        self.judge(claims)

    def test_claims_on_small_runs_are_those_of_the_runs_they_name(self):
        claims = reader.Claims()
        read_real(range(1, 1 + max(6, len(self.numbers) // 10)), claims)
        self.judge(claims)

    def test_an_altered_number_is_found(self):
        read_drawn([2, 3, 6, 9, 18], None, Altered)
        print(f"{Altered.altered} numbers altered, {len(Altered.passed)} not found")
        self.assertEqual(Altered.passed, [])


if __name__ == "__main__":
    given = [int(word) for word in sys.argv[1:] if word.isdigit()]
    if given:
        first = given[1] if len(given) > 1 else 1
        Sentences.numbers = range(first, first + given[0])
    unittest.main(argv=sys.argv[:1])
