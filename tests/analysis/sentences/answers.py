"""The headline: of one question, of several, of jobs, or of an experiment without a winner."""

import re

from sentences.facts import Top, point_text, value_text
from sentences.quantities import PATTERNS
from sentences.winners import chance_remark, of_alternatives


class Answers:
    """The leaders of each question."""

    def __init__(self, experiment, measure):
        self.questions = experiment.questions()
        self.tops = []
        for parameters, cases in self.questions:
            ranked = experiment.ranking(cases, measure)
            self.tops.append(Top(ranked, measure) if ranked else None)
        self.answered = [top for top in self.tops if top]
        self.keys = list(self.questions[0][0])
        self.names = [None if top is None else winner_text(top) for top in self.tops]
        self.places = [place_text(parameters) for parameters, _ in self.questions]
        self.may_be_chance = any(experiment.may_be_chance(top) for top in self.answered)


def listed(items, most=4):
    if len(items) > most:
        return ", ".join(items[:most]) + f" and {len(items) - most} more"
    return ", ".join(items[:-1]) + (" and " if len(items) > 1 else "") + items[-1]


def winner_text(top):
    names = listed(sorted((case.choice for case in top.all), key=lambda name: name.encode()))
    return f"no clear winner between {names}" if top.lead == "unclear" else names


def place_text(parameters):
    return value_text(next(iter(parameters.values()))) if len(parameters) == 1 else point_text(parameters)


def keys_text(keys):
    last = [key.rpartition(".")[2] for key in keys]
    return listed([key if last.count(short) > 1 else short for key, short in zip(keys, last)])


def of_questions(reader, experiment, measure):
    answers = Answers(experiment, measure)
    title = "first to reach the target" if measure == "time to the target" else "fastest"
    keys = re.escape(keys_text(answers.keys))
    if reader.take(f"The {title} depends on {keys}: "):
        depends(reader, answers)
    else:
        same_winner(reader, answers, title, keys)
    got = reader.take(r" No strategy gets there in <whole n> of <whole m> cases\.")
    missing = len(answers.tops) - len(answers.answered)
    reader.claim("questions without an answer", (int(got["n"]), int(got["m"])) == (missing, len(answers.tops)) if got
                 else missing == 0, f"{missing} of {len(answers.tops)}")
    chance_remark(reader, answers.may_be_chance)


def same_winner(reader, answers, title, keys):
    names = [name for name in answers.names if name]
    places = sorted(map(re.escape, answers.places), key=len, reverse=True)
    where = "|".join([f"every value of {keys}", *places])
    got = reader.take(rf"At (?P<where>{where}) there is (?P<name>no clear winner between .+?)"
                      r"\.(?= No strat| One seed|$)")
    if not got:
        got = reader.need(rf"(?P<name>.+?) (?:is|are) (?:the )?{title} at (?P<where>{where})")
    places = answers.places if got["where"].startswith("every value of ") else [got["where"]]
    for place, name in zip(answers.places, answers.names):
        if place in places and name is not None:
            reader.claim("winner of a question", name == got["name"], f"at {place}: {name}")
    if len(places) > 1 and len(names) == 1:
        reader.claim("winner of a question", False, f"only one question has an answer: {names}")
    if reader.text[reader.at - 1] == ".":
        return
    lead = reader.take(", (?:(?P<least>.+?) to )?(?P<most>(?:<times x>|<percent p>) faster) than the next strategy")
    if lead:
        ratios = [top.next.score(top.measure) / top.ranked[0].score(top.measure) for top in answers.answered
                  if top.next]
        reader.claim("next", bool(ratios), "no question has a next")
        shown(reader, lead["most"].removesuffix(" faster"), max(ratios, default=float("nan")))
        shown(reader, lead["least"] or lead["most"].removesuffix(" faster"), min(ratios, default=float("nan")))
    reader.need(r"\.")


def shown(reader, text, ratio):
    kind = "times" if text.endswith("x") else "percent"
    if not re.fullmatch(PATTERNS[kind], text):
        reader.unread()
    reader.number(kind, "lead", text, ratio if kind == "times" else ratio - 1)


def depends(reader, answers):
    """Reads "a at 10, b at 100 and 1000" or "a in 3 of 4 cases; b at features=100, spread=2.0"."""
    rest = reader.need(r"(?P<all>.+?)(?P<more> and \d+ more)?\.(?= No strategy gets| One seed|$)")
    pairs = list(dict.fromkeys(name for name in answers.names if name))
    text, found = rest["all"], []
    several = len(answers.keys) > 1
    while text:
        entry = next((each for each in entries(answers, pairs, several) if text == each or text.startswith(
            each + ("; " if several else ", "))), None)
        if entry is None:
            reader.claim("winner of a question", False,
                         f"not so by the runs: {text}; {list(zip(answers.places, answers.names))}")
            return
        found.append(entry)
        text = text[len(entry) + 2:]
    reader.claim("winner of a question", len(found) == len(set(found)), "named twice")
    if rest["more"]:
        reader.claim("count", int(rest["more"].split()[1]) > 0 and len(found) == 8, f"{len(found)} are named")


def entries(answers, names, several):
    """What can be said of each winner, the longest first."""
    made = []
    for name in names:
        where = [place for place, each in zip(answers.places, answers.names) if each == name]
        made.append(f"{name} at {listed(where)}")
        if several and len(where) > 1:
            made.append(f"{name} in {len(where)} of {len(answers.places)} cases")
        if not several:  # neighbouring questions
            for first in range(len(answers.places)):
                run = []
                for place, each in list(zip(answers.places, answers.names))[first:]:
                    if each == name:
                        run.append(place)
                    elif each is not None:
                        break
                if run:
                    made.append(f"{name} at {listed(run)}")
    return sorted(made, key=len, reverse=True)


def of_jobs(reader, experiment):
    got = reader.take(r"<whole n> jobs? share the cluster; the time that each takes alone is not known\.")
    if got:
        reader.claim("count", int(got["n"]) == len(experiment.labels), f"{len(experiment.labels)} jobs")
        reader.claim("interference", all(case.of_live("interference") is None for case in experiment.cases), "known")
        return
    reader.need("While the other jobs run, ")
    items, more = reader.list_of(r"<case c> takes (?:(?P<same>as long as alone)|<times x> as long as alone)")
    known = [case for case in experiment.cases if case.of_live("interference") is not None]
    reader.claim("count", len(items) + more == len(known), f"{len(known)} jobs have an interference")
    for item in items:
        interference(reader, item, reader.names.case(item["c"]))
    reader.need(r"\.")


def interference(reader, item, case):
    value = case.of_live("interference")
    if item["x"]:
        reader.number("times", "interference", item["x"], value)
    else:
        reader.claim("interference", value < 1.005, f"{value}")


def headline(reader, experiment, measure=None):
    measure = measure or experiment.measure
    if experiment.jobs:
        of_jobs(reader, experiment)
    elif len(experiment.questions()) > 1:
        of_questions(reader, experiment, measure)
    else:
        of_alternatives(reader, experiment, measure)


def without_winner(reader, experiment):
    """Reads the sentences of an experiment in which no case is compared. Returns whether there was one."""
    runs = experiment.results["runs"]
    if reader.take(r"No run has finished\."):
        reader.claim("no winner", not runs, "there are runs")
    elif reader.take(r"Every run failed\."):
        reader.claim("no winner", all(run["status"] == "failed" for run in runs), "not all failed")
    elif reader.take(r"Every run diverged or failed\."):
        reader.claim("no winner", {run["status"] for run in runs} == {"diverged", "failed"}, "others")
    elif reader.take(r"Every run diverged\. A smaller training\.learning_rate may help\."):
        reader.claim("no winner", all(run["status"] == "diverged" for run in runs), "not all diverged")
    elif reader.take(r"Every case has a seed that diverged or failed, so no case is called the best\."):
        reader.claim("no winner", all(case.failed + case.diverged for case in experiment.cases), "a case has none")
    elif reader.take(r"No case in which every run is sound has processed any samples, so no case is called the best\."):
        sound = [case for case in experiment.cases if case.sound]
        reader.claim("no winner", sound and all(case.score("time per sample") is None for case in sound), "a case has")
    else:
        return False
    return True


def closest(reader, experiment):
    """Reads the headline of an experiment in which no case reached the target with every seed."""
    got = reader.need("(?P<who>No strategy reached the target with every seed|No run reached the target)"
                      r"(?: \(loss <four l>\))?")
    none = all(case.reached == 0 for case in experiment.cases)
    reader.claim("target", none if got["who"].startswith("No run") else not any(
        case.all_reached for case in experiment.cases), "reached")
    if got["l"]:
        reader.number("four", "target", got["l"], experiment.target)
    closest_clause(reader, experiment, "case")


def level_clause(reader, sound, way, least):
    """Reads "; a, b and c ended closest to it, with loss 0.1"."""
    level = [case for case in sound if f"{case.mean('final_loss'):.4g}" == f"{least:.4g}"]
    start = reader.at
    if len(level) < 2 or not reader.take("; (?!the replicas)"):
        return False
    items, more = reader.list_of(f"<{way} c>")
    named = [reader.names.by[way][item["c"]][0] for item in items]
    got = reader.need(" ended closest to it, with loss <four l>")
    reader.number("four", "loss", got["l"], least)
    reader.claim("closest", len(named) + more == len(level) and all(case in level for case in named), f"{start}: {level}")
    return True


def closest_clause(reader, experiment, way):
    """Returns the case whose time follows; nothing where several have the loss, or none."""
    sound = [case for case in experiment.cases if case.sound and case.mean("final_loss") is not None]
    least = min((case.mean("final_loss") for case in sound), default=None)
    got = reader.take(f"; <{way} c> came closest: its loss levelled off at <four l>")
    levelled = got is not None
    if level_clause(reader, sound, way, least):
        return None
    held = reader.take(f"; the replicas' mean of <{way} c>, which no worker holds, has loss <four l>")
    got = got or held or reader.take(f"; the closest is <{way} c> with loss <four l>")
    if got:
        case = reader.names.by[way][got["c"]][0]
        reader.number("four", "loss", got["l"], case.mean("final_loss"))
        reader.claim("closest", case in sound and case.mean("final_loss") <= least * (1 + 1e-12),
                     f"the least is {least}")
        met = (experiment.target is not None and case.reached == 0
               and case.mean("final_loss") <= experiment.target)
        reader.claim("a mean at the target", bool(held) == met, f"the target is {experiment.target}")
        if levelled:
            reader.claim("levelled off", all(levels_off(run) for run in case.good), "the loss changes by more than 1 %")
    else:
        reader.claim("closest", not sound, "a case has a loss")
    return case if got else None


def levels_off(run):
    """Whether the loss changed by less than 1 % in the last quarter of the steps."""
    last = [each["loss"] for each in run["curve"] if each["step"] >= 0.75 * run["steps"]]
    return all(loss is not None and abs(loss - run["final_loss"]) <= 0.01 * run["final_loss"] for loss in last)
