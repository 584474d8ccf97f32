"""What results.json says of each case, computed from its runs by the definitions of docs/reading_a_table.md and DESIGN.md."""

import json
import math

# Student's t for 95 %, by degrees of freedom (from a table).
T95 = {1: 12.7062047362, 2: 4.3026527297, 3: 3.1824463053, 4: 2.7764451052, 5: 2.5705818366, 6: 2.4469118511,
       7: 2.3646242516, 8: 2.3060041352, 9: 2.2621571628}
EQUAL = 1.005
PARTS = ("compute_s", "communicate_s", "wait_s", "down_s")
CHOICES = {"cluster.workers", "cluster.sharing", "cluster.collectives", "cluster.failures.market",
           "cluster.failures.recovery"}


def printable(text):
    return "".join(" " if ord(c) < 32 or ord(c) == 127 else c for c in text)


def value_text(value):
    if value is None:
        return "-"
    return printable(value if isinstance(value, str) else json.dumps(value, separators=(",", ":"), ensure_ascii=False))


def point_text(point):
    last = [key.rpartition(".")[2] for key in point]
    names = [key if last.count(short) > 1 else short for key, short in zip(point, last)]
    return ", ".join(f"{name}={value_text(value)}" for name, value in zip(names, point.values()))


def split_point(point):
    """Returns "8 workers" and the text of the other keys."""
    workers = point.get("cluster.workers")
    text = "" if workers is None else f"{value_text(workers)} worker{'' if workers == 1 else 's'}"
    return text, point_text({key: value for key, value in point.items() if key != "cluster.workers"})


def point_words(point):
    return ", ".join(text for text in split_point(point) if text)


def at_point(point):
    workers, rest = split_point(point)
    return (f" with {workers}" if workers else "") + (f" at {rest}" if rest else "")


def finite(numbers):
    return [x for x in numbers if x is not None and math.isfinite(x)]


def mean(numbers):
    numbers = finite(numbers)
    return math.fsum(numbers) / len(numbers) if numbers else None


def margin(numbers):
    """Half of the 95 % interval of the mean."""
    numbers = finite(numbers)
    n = len(numbers)
    if n < 2:
        return None
    middle = math.fsum(numbers) / n
    return T95[n - 1] * math.sqrt(math.fsum((x - middle) ** 2 for x in numbers) / (n - 1) / n)


def shows_margin(numbers):
    """Whether the mean is followed by its margin, which is more than that of rounding."""
    half = margin(numbers)
    return half is not None and half > 1e-9 * abs(mean(numbers))


def seen(run):
    samples = run.get("samples_seen")
    return run["samples"] if samples is None else samples


def per_sample(name):
    def of(run):
        known = run[name] is not None and seen(run) > 0 and run["simulated_s"] > 0
        return run[name] / seen(run) if known else None
    return of


# Numbers by which cases are compared: less is better.
NUMBERS = {
    "time to the target": lambda run: run["time_to_target_s"],
    "time per sample": per_sample("simulated_s"),
    "simulated time": lambda run: run["simulated_s"],
    "cost to the target": lambda run: run["cost_to_target_usd"] if run["time_to_target_s"] is not None else None,
    "cost": lambda run: run["cost_usd"],
    "cost per sample": per_sample("cost_usd"),
    "energy to the target": lambda run: run["energy_j"] if run["time_to_target_s"] is not None else None,
    "energy": lambda run: run["energy_j"],
    "energy per sample": per_sample("energy_j"),
}


# Speed-ups are ratios of mean times: the baseline's over the case's.
TIMES = {"speedup_throughput": per_sample("simulated_s"), "efficiency": per_sample("simulated_s"),
         "speedup_time_to_target": lambda run: run["time_to_target_s"]}


def ratio_of_times(runs, name):
    pairs = [(run[name] * s, s) for run in runs if run[name] is not None and run["status"] != "diverged"
             and (s := TIMES[name](run)) is not None]
    return math.fsum(alone for alone, _ in pairs) / math.fsum(s for _, s in pairs) if pairs else None


class Case:
    """One strategy at one grid point."""

    def __init__(self, label, point):
        self.label, self.point, self.runs = label, point, []
        self.name = self.choice = self.plain = ""

    def finish(self, experiment):
        self.plain = printable(self.label)
        self.name = self.plain + (at_point(self.point) if len(experiment.points) > 1 else "")
        self.choice = self.plain + at_point({k: v for k, v in self.point.items() if not is_question(k)})
        self.terminal = self.plain + (f" at {point_text(self.point)}" if self.point else "")
        self.live = [run for run in self.runs if run["status"] != "failed"]
        learnt = [run for run in self.runs if run["status"] in ("reached", "stopped")]
        self.good = learnt or [run for run in self.runs if run["status"] == "diverged"]
        self.sound = len(learnt) == len(self.runs)
        self.reached = sum(run["time_to_target_s"] is not None for run in self.runs)
        self.all_reached = self.reached == len(self.runs)
        self.diverged = sum(run["status"] == "diverged" for run in self.runs)
        self.failed = sum(run["status"] == "failed" for run in self.runs)
        self.workers = self.runs[0]["workers"]
        self.experiment, self.conditions = experiment, experiment.conditions(self.point)

    def baselines(self):
        """The runs of one worker that it is compared with."""
        runs = self.experiment.results["baselines"] if self.workers > 1 else []
        return [run for run in runs if run["parameters"].items() <= self.point.items()]

    def mean(self, number):
        """Over the runs that neither failed nor diverged."""
        if number in TIMES:
            return ratio_of_times(self.good, number)
        return mean(number(run) if callable(number) else run[number] for run in self.good)

    def of_live(self, number):
        """Over the runs that did not fail."""
        return mean(number(run) if callable(number) else run.get(number) for run in self.live)

    def values(self, measure):
        return {run["seed"]: x for run in self.good if (x := NUMBERS[measure](run)) is not None}

    def score(self, measure):
        """The mean by which it is compared; None if it may not win."""
        if not (self.all_reached if measure.endswith("target") else self.sound):
            return None
        return mean(self.values(measure).values())

    def parts(self):
        """Seconds by activity: means over workers and seeds."""
        found = []
        for part in PARTS:
            found.append(self.mean(lambda run, part=part: mean(
                rank[part] for rank in run["ranks"] if rank["role"] == "worker")))
        return None if None in found else found

    def detail(self, activity):
        """Seconds by part of an activity: means over workers and the seeds that did not fail."""
        names = [name for name in self.live[0]["ranks"][0] if name.startswith(activity + "_") and name.endswith("_s")
                 and name != activity + "_s"]
        return {name: mean(mean(rank.get(name, 0.0) for rank in run["ranks"] if rank["role"] == "worker")
                           for run in self.live) for name in names}

    def reads_storage(self):
        names = ("communicate_transfer_s", "communicate_input_s", "communicate_storage_s", "communicate_checkpoint_s")
        sums = [math.fsum(mean(rank.get(name, 0.0) for rank in run["ranks"] if rank["role"] == "worker")
                          for run in self.good) for name in names]
        return sum(sums[1:]) > 0 and sum(sums[1:]) >= 0.5 * sum(sums)

    def shares(self):
        parts = self.parts() or [0.0] * 4
        total = math.fsum(parts)
        return [part / total if total > 0 else 0.0 for part in parts]


def is_question(key):
    return key not in CHOICES and key.split(".")[0] in ("cluster", "data", "model")


def lead(first, second, measure):
    """The relation of two cases, of which the first has the smaller mean."""
    mine, its = first.values(measure), second.values(measure)
    pairs = [its[seed] - mine[seed] for seed in mine if seed in its]
    alike = second.score(measure) <= EQUAL * first.score(measure)
    if len(pairs) < 2:
        return "equal" if alike else "one_seed"
    half = margin(pairs)
    ahead = mean(pairs) - half > 0
    if not ahead and (half > (EQUAL - 1) * first.score(measure) or mean(pairs) + half < 0):
        return "unclear"
    return "equal" if alike else "clear"


class Top:
    """Who leads a ranking."""

    def __init__(self, ranked, measure):
        self.ranked, self.measure = ranked, measure
        relations = {id(case): lead(ranked[0], case, measure) for case in ranked[1:]}
        self.all = ranked[:1] + [case for case in ranked[1:] if relations[id(case)] in ("equal", "unclear")]
        behind = [case for case in ranked[1:] if case not in self.all]
        self.next = behind[0] if behind else None
        if "unclear" in relations.values():
            self.lead = "unclear"
        elif "one_seed" in relations.values():
            self.lead = "one_seed"
        else:
            self.lead = "equal" if len(self.all) > 1 else "clear"


class Experiment:
    def __init__(self, results, timelines):
        self.results, self.timelines = results, timelines
        self.scenario = results["scenario"]
        self.points, by_key = [], {}
        for run in results["runs"]:
            if run["parameters"] not in self.points:
                self.points.append(run["parameters"])
        for point in self.points:
            for run in results["runs"]:
                if run["parameters"] == point:
                    key = (run["label"], json.dumps(point))
                    by_key.setdefault(key, Case(run["label"], point)).runs.append(run)
        self.cases = list(by_key.values())
        self.labels = list(dict.fromkeys(run["label"] for run in results["runs"]))
        self.keys = list(dict.fromkeys(key for point in self.points for key in point))
        for case in self.cases:
            case.finish(self)
        self.jobs = "job" in self.scenario
        stop = self.scenario.get("stop", {}).get("loss")
        self.target = stop if isinstance(stop, (int, float)) and "stop.loss" not in self.keys else None
        self.has_target = (self.target is not None or "stop.loss" in self.keys
                           or any(case.reached for case in self.cases))
        self.measure = "time to the target" if any(
            case.score("time to the target") is not None for case in self.cases) else "time per sample"
        self.to_target = self.measure == "time to the target"
        self.by_chance = any(case.conditions["by_chance"] for case in self.cases)

    def conditions(self, point):
        scenario = json.loads(json.dumps(self.scenario))
        for key, value in point.items():
            if key.split(".")[0] in ("cluster", "model", "training"):
                place = scenario
                *path, last = key.split(".")
                for part in path:
                    place = place.setdefault(part, {})
                place[last] = value
        cluster = scenario.get("cluster", {})

        def given(section, key):
            return section.get(key) not in (None, "none", [], {})
        failures = cluster.get("failures", {})
        found = {key: given(cluster, key) for key in ("jitter", "stragglers", "background")}
        found["failures"] = given(failures, "hosts") or given(failures, "links") or failures.get("market") == "spot"
        kinds = [entry["kind"] for entry in scenario.get("strategy", [])]
        partition = scenario.get("training", {}).get("partition", "iid")
        found["drawn"] = (scenario.get("model", {}).get("kind") in ("sparse_logistic", "factorization_machine",
                                                                    "wide_and_deep")
                          or (partition if isinstance(partition, str) else partition["kind"]) in (
                              "dirichlet", "quantity", "stream")
                          or "ad_psgd" in kinds or "federated_averaging" in kinds)
        found["by_chance"] = any(found.values())
        found["uneven"] = given(cluster, "hosts") or any(x != 1 for x in cluster.get("relative_speeds", []))
        return found

    def ranking(self, cases, measure):
        """The best case of each strategy and those not clearly behind the first; with one strategy all cases."""
        ranked = sorted((case for case in cases if case.score(measure) is not None), key=lambda c: c.score(measure))
        if len(self.labels) < 2:
            return ranked
        seen, kept = set(), []
        for case in ranked:
            if case.label not in seen or lead(ranked[0], case, measure) in ("equal", "unclear"):
                kept.append(case)
            seen.add(case.label)
        return kept

    def questions(self):
        """Cases by the grid's keys that change the task or the machines."""
        found = []
        for case in self.cases:
            asked = {key: value for key, value in case.point.items() if is_question(key)}
            for parameters, cases in found:
                if parameters == asked:
                    cases.append(case)
                    break
            else:
                found.append((asked, [case]))
        return found if any(len(cases) > 1 for _, cases in found) else [({}, list(self.cases))]

    def may_be_chance(self, top):
        """Whether one seed decides what others may decide otherwise."""
        return top.lead == "one_seed" and (top.measure != "time per sample" or self.by_chance)
