"""Random experiments as results.json holds them: numbers are drawn, and agree with each other as in real runs."""

import gzip
import itertools
import json
import math
import random

from sentences import random_runs

KEYS = {
    "cluster.workers": [[1, 2], [1, 2, 4, 8], [2, 4, 8, 16], [4, 8]],
    "cluster.bandwidth": [["100Mbps", "1Gbps"], ["1Gbps", "10Gbps", "100Gbps"]],
    "cluster.latency": [["1us", "50us", "1ms"], ["10us", "20ms"]],
    "training.learning_rate": [[0.01, 0.1, 1], [0.5, 1.5]],
    "data.features": [[10, 1000]],
    "cluster.jitter": [["none", "20%"]],
}
KINDS = ["allreduce", "parameter_server", "gossip", "local_sgd", "hogwild", "mapreduce", "easgd"]
LABELS = [
    lambda kind, i: f"{kind} {i}" if i else kind,
    lambda kind, i: f"{kind}(consistency=ssp, staleness={i}, compression=(kind=top_k, fraction=0.01))",
    lambda kind, i: f"tree and ring, {i}. with a stop",
    lambda kind, i: f"策略 {i}",
    lambda kind, i: f"Jeff's \"{kind}\": {i + 1}x",
]


class Dice(random.Random):
    def chance(self, share):
        return self.random() < share

    def spread(self, low, high):
        """Between powers of ten."""
        return 10 ** self.uniform(low, high)


def grid(dice):
    keys = dice.sample(sorted(KEYS), dice.choice([0, 1, 1, 1, 2, 2]))
    if keys and dice.chance(0.5) and "cluster.workers" not in keys:
        keys[0] = "cluster.workers"
    points = [{}]
    for key in keys:
        values = dice.choice(KEYS[key])
        points = [{**point, key: value} for point in points for value in values]
    return points


def scenario_of(dice, workers, strategies, target):
    cluster = {"workers": workers, "collectives": "auto", "jitter": "none", "stragglers": "none", "background": [],
               "hosts": [], "relative_speeds": [], "sharing": "processor",
               "failures": {"hosts": "none", "links": "none", "market": "on_demand"}}
    if dice.chance(0.15):
        cluster["jitter"] = "10%"
    if dice.chance(0.2):
        cluster["stragglers"] = {"kind": "lognormal", "sigma": 0.3}
    if dice.chance(0.1):
        cluster["background"] = [{"from": 0, "to": 1, "rate": "100Mbps"}]
    if dice.chance(0.15):
        cluster["relative_speeds"] = [1, 0.5]
    if dice.chance(0.15):
        cluster["failures"]["hosts"] = {"kind": "exponential", "mean": "1h"}
    scenario = {"schema": 1, "title": "drawn", "seed": 1, "cluster": cluster, "data": {"samples": 1000},
                "stop": {"steps": 100} if target is None else {"loss": target, "steps": 100}}
    if dice.chance(0.1):
        scenario["job"] = [{"label": strategy.label} for strategy in strategies]
        cluster["sharing"] = dice.choice(["processor", "gang"])
    return scenario


def conditions_at(scenario, point):
    """The cluster of a grid point."""
    scenario = json.loads(json.dumps(scenario))
    for key, value in point.items():
        section, name = key.split(".")
        scenario.setdefault(section, {})[name] = value
    return scenario


class Strategy:
    """What all runs of a strategy share."""

    def __init__(self, dice, kind, label, twin):
        self.kind, self.label = kind, label
        self.factor = dice.spread(-0.5, 0.5)  # of the time a step
        self.noise = dice.choice([0.0, 0.0, 0.01, 0.1, 0.4])
        self.work = dice.spread(-0.3, 0.3)  # of the number of steps
        if twin and dice.chance(0.3):  # as fast as the one before, or nearly
            self.factor = twin.factor * dice.choice([1.0, 1.0, 1.002, 1.03])
            self.noise, self.work = twin.noise, twin.work
        self.misses = dice.choice([0.0, 0.0, 0.0, 0.3, 1.0])
        self.serial = dice.choice([0.02, 0.2]) if dice.chance(0.4) else None  # share, for all numbers of workers
        self.servers = 0 if kind != "parameter_server" else dice.choice([1, 1, 2])


def large_grid():
    """144 points: with three strategies more cases than a page shows in full."""
    keys = {"cluster.workers": [2, 4, 8], "cluster.bandwidth": ["100Mbps", "1Gbps", "2Gbps", "5Gbps", "10Gbps", "25Gbps"],
            "cluster.latency": ["1us", "10us", "100us", "1ms"], "training.learning_rate": [0.01, 0.1]}
    return [dict(zip(keys, values)) for values in itertools.product(*keys.values())]


def experiment(number, large=False):
    """Returns the results, and the timelines by the id of their runs."""
    dice = Dice(number * 7919 + 17)
    points = large_grid() if large else grid(dice)
    wide = not large and dice.chance(0.06)
    strategies, twin = [], None
    naming = dice.choice([LABELS[0], LABELS[0], LABELS[0], *LABELS])
    for i in range(3 if large else 24 if wide else dice.choice([1, 1, 2, 2, 3, 4, 6])):
        kind = KINDS[(i + number) % len(KINDS)]
        twin = Strategy(dice, kind, naming(kind, i), twin)
        strategies.append(twin)
    seeds = 1 + number % 3 if large else 1 if len(strategies) * len(points) > 60 else dice.choice([1, 2, 3, 3, 5])
    target = dice.spread(-3, 0) if dice.chance(0.6) else None
    scenario = scenario_of(dice, dice.choice([2, 4, 8]), strategies, target)
    settings = random_runs.Settings(dice, scenario, target)
    runs, timelines = [], {}
    for strategy in strategies:
        for point in points:
            case = random_runs.CaseTraits(dice, settings, strategy, conditions_at(scenario, point))
            for seed in range(1, seeds + 1):
                run = random_runs.run_of(dice, settings, case, f"{number:04x}{len(runs):012x}", point, seed)
                runs.append(run)
                if seed == 1 and dice.chance(0.7):
                    timelines[run["id"]] = random_runs.timeline(dice, run)
    extra = Dice(number * 104729 + 5)  # draws of its own: the rest of an experiment is as without them
    if extra.chance(0.6):
        random_runs.add_memory(extra, runs)
    if extra.chance(0.2):
        random_runs.add_proxy(extra, scenario, runs)
    if not large and dice.chance(0.15):
        runs = runs[:dice.randint(1, len(runs))]
        complete = False
    else:
        complete = True
    baselines = []
    if "job" not in scenario and dice.chance(0.85):
        baselines = [random_runs.baseline(dice, settings, f"ba5e{number:08x}{seed:04x}", seed)
                     for seed in range(1, seeds + 1)]
        random_runs.compare(runs, baselines)
    results = {"schema": 1, "version": "0.1.0", "name": f"drawn_{number}", "title": "", "complete": complete,
               "command": "simgrad run drawn.toml", "scenario": scenario, "runs": runs, "baselines": baselines}
    tried = random_runs.counterfactuals(dice, runs)
    if "job" not in scenario and extra.chance(0.25):
        random_runs.add_mesh(extra, runs, tried)
    if tried:
        results["counterfactuals"] = tried
    return results, timelines


def write_experiment(directory, number, large=False):
    results, timelines = experiment(number, large)
    (directory / "timelines").mkdir(parents=True, exist_ok=True)
    (directory / "results.json").write_text(json.dumps(results), encoding="utf-8")
    for name, timeline in timelines.items():
        (directory / "timelines" / f"{name}.json.gz").write_bytes(gzip.compress(json.dumps(timeline).encode()))
    assert all(math.isfinite(run["simulated_s"]) for run in results["runs"])
    return results, timelines
