#!/usr/bin/env python3
"""Draws small trainings, runs them by simgrad, and compares losses and parameters with learning.py.

  learning_test.py [--scenarios N] [--seed S] [--only INDEX] [--program PATH] [--keep DIR]

Exit code: 0 where all agree, 1 at a difference, 77 without numpy. The program is --program, or $SIMGRAD_PROGRAM, or
simgrad in the path. Every scenario starts from the parameters that the program itself writes down: a run whose target
is reached before its first step leaves them in models/.

learning_scenarios.py draws, learning_runs.py runs the program; this file compares, and knows the faults that stand in
known_faults.toml. Written without reading src/.
"""

import argparse
import os
import random
import shutil
import sys
import tempfile

try:
    import tomllib

    import numpy as np
except ImportError as missing:
    print(f"learning_test: skipped, {missing}")
    sys.exit(77)

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import known  # noqa: E402
import learning  # noqa: E402
from learning_runs import find_batches, order_of_cores, order_of_updates, read_sparse, read_table, run  # noqa: E402
from learning_scenarios import SYNCHRONOUS, draw, toml_text, write_table, write_text  # noqa: E402

TOLERANCE = 1e-9
HERE = os.path.dirname(os.path.abspath(__file__))


def build_model(case, head):
    o = case["model"]
    if o["kind"] == "transformer":
        letters = sorted(set(case["file"][1]))
        tokens = np.array([letters.index(c) for c in case["file"][1]])
        places, rows = o["sequence"], case["rows"]
        model = learning.Transformer(o, tokens[:rows * places].reshape(rows, places),
                                     tokens[1:rows * places + 1].reshape(rows, places), len(letters))
        return model
    if o["kind"] == "factorization_machine":
        return learning.FactorizationMachine(*read_sparse(case), o["factors"], o.get("l2", 0.0))
    if o["kind"] == "sparse_logistic":
        return learning.Linear("logistic_regression", *read_sparse(case), 2, o.get("bias", False), o.get("l2", 0.0))
    if o["kind"] == "matrix_factorization":
        cells = np.array([[float(v) for v in line.split(",")] for line in case["file"][1].split()[1:]])
        ratings = cells[:, 2]
        if case["data"]["standardize_target"]:
            ratings = (ratings - ratings.mean()) / ratings.std()
        return learning.MatrixFactorization(cells[:, 0].astype(int), cells[:, 1].astype(int), ratings, o["factors"],
                                            o.get("bias", False), o.get("l2", 0.0))
    x, y, classes = read_table(case, head)
    if o["kind"] == "k_means":
        return learning.Clusters(x, o["clusters"])
    if o["kind"] == "multitask_perceptron":
        return learning.Perceptron(x, y, classes, o["hidden"], o["activation"], classes="tasks")
    if o["kind"] == "perceptron":
        return learning.Perceptron(x, y, classes or 1, o["hidden"], o["activation"], o.get("bias", True),
                                   o.get("l2", 0.0), bool(classes))
    return learning.Linear(o["kind"], x, y, classes, o.get("bias", False), o.get("l2", 0.0))


def ours(case, theirs, batches=None):
    """What learning.py makes of the scenario: the parameters at each evaluation, and the model."""
    model = build_model(case, theirs["head"])
    training = case["training"]
    options = training["optimizer"]
    options = dict(options) if isinstance(options, dict) else {"kind": options}
    layers = [(layer["first"], layer["count"]) for layer in theirs["head"]["layers"]]

    def optimizer():
        return learning.Optimizer(rate=training["learning_rate"], schedule=training.get("schedule"),
                                  warmup=training.get("warmup_steps", 0), clip=training.get("clip_norm"),
                                  layers=layers, **options)

    ranks, steps, s = case["ranks"], case["stop"]["steps"], case["strategy"]
    task = learning.Task(model, theirs["start"], learning.stretches(case["rows"], ranks), optimizer, batches)
    kind = s["kind"]
    keys = {k: v for k, v in s.items() if k in ("local_steps", "synchronous_steps", "slow_momentum", "slow_rate",
                                                "optimizer_memory", "outer_rate", "outer_momentum", "proximal",
                                                "period", "moving_rate", "one_peer", "overlap", "blocks",
                                                "blocks_a_step", "periods")}
    if kind == "parameter_server" and "consistency" in s:
        order, versions = order_of_updates(theirs["events"])
        return model, learning.asynchronous_server(task, order[:steps], versions, s["gradient"], s["staleness_aware"],
                                                   s["delay_compensation"])
    if kind == "easgd" and not s["synchronous"]:
        return model, learning.asynchronous_easgd(task, order_of_updates(theirs["events"])[0][:steps], s["period"],
                                                  s["moving_rate"])
    if kind == "hogwild":
        return model, learning.hogwild(task, order_of_cores(theirs["events"], steps))
    if case.get("parallel", {}).get("schedule", "").startswith("pipedream"):
        return model, learning.stale_pipeline(task, steps, case["parallel"]["schedule"],
                                              [int(n) for n in case["parallel"]["stages"]], layers)
    if kind in SYNCHRONOUS or kind == "sparse_parameter_server":
        return model, learning.synchronous(task, steps, s.get("compression"))
    if kind == "block_sync":
        return model, learning.block_sync(task, steps, layers=layers, **keys)
    if kind in ("gossip", "d2", "gradient_tracking"):
        matrix = learning.mixing_matrix(learning.neighbours(s["graph"], ranks), s["mixing"],
                                        s.get("lazy", kind == "d2"))
        if "compression" in s:
            return model, learning.choco(task, steps, matrix, s["compression"], s["consensus_step"], s["update"])
        if kind == "gossip":
            return model, learning.gossip(task, steps, matrix, s["update"])
        return model, getattr(learning, kind)(task, steps, matrix)
    if kind == "sgp":
        outgoing = [sorted(n) for n in learning.neighbours(s["graph"], ranks)] if isinstance(s["graph"], str) else []
        if s["graph"] == "exponential" or not outgoing:
            outgoing = learning.exponential_turns(ranks, not outgoing)
        return model, learning.sgp(task, steps, outgoing, **keys)
    return model, getattr(learning, kind)(task, steps, **keys)


def differences(case, theirs, batches=None, noise=0.0):
    """The texts of what differs, the largest relative difference, and the oracle's own last parameters.

    noise: how much each parameter is changed before, relative to itself.
    """
    if noise:
        shaken = 1 + noise * np.random.default_rng(1).normal(size=len(theirs["start"]))
        theirs = dict(theirs, start=theirs["start"] * shaken)
    model, trail = ours(case, theirs, batches)
    found, worst, w = [], 0.0, None
    rows = np.arange(case["rows"])
    # The last digit decides now and then to which number of single precision a compressed one is rounded.
    tolerance = 1e-6 if "compression" in case["strategy"] else TOLERANCE
    for step, w in enumerate(trail):
        if step not in theirs["losses"]:
            continue
        expected, shown = model.value(w, rows), theirs["losses"][step]
        gap = abs(expected - shown) / max(abs(expected), 1e-12)
        worst = max(worst, gap)
        if not gap <= tolerance:
            found.append(f"loss at step {step}: the program has {shown!r}, the oracle {expected!r}")
    if len(w) != len(theirs["end"]):
        found.append(f"the program has {len(theirs['end'])} parameters, the oracle {len(w)}")
    else:
        gaps = np.abs(w - theirs["end"]) / max(np.abs(w).max(), 1e-12)
        worst = max(worst, gaps.max())
        if not gaps.max() <= tolerance:
            at = int(gaps.argmax())
            found.append(f"parameter {at}: the program has {theirs['end'][at]!r}, the oracle {w[at]!r}")
    return found, worst, w


# ---------------------------------------------------------------------------------------------------------------------
# Known faults: for each word a scenario that shows the fault, and whether learning.py can have it too.


def listed_words():
    """The words of the faults that are known: known_faults.toml has them as "learning: WORD"."""
    prefix = "learning: "
    with open(os.path.join(HERE, "..", "known_faults.toml"), "rb") as file:
        tests = [fault["test"] for fault in tomllib.load(file).get("fault", [])]
    return [test.removeprefix(prefix) for test in tests if test.startswith(prefix)]


def exhibit(word):
    """The scenario in which the fault with this word shows, and whether the oracle can have it, too."""
    case = {"seed": 1, "rows": 8, "ranks": 1, "cluster": {"workers": 1}, "stop": {"steps": 4},
            "training": {"optimizer": "sgd", "learning_rate": 0.1}, "strategy": {"kind": "single"},
            "model": {"kind": "transformer", "layers": 1, "hidden": 4, "heads": 2, "kv_heads": 2, "sequence": 4,
                      "gated": False, "tied": True, "bias": False, "norm": "rms_norm", "positions": "learned"}}
    if word == "capacity":
        case["model"].update(experts=2, top_k=1, capacity_factor=0.25)
    elif word == "tied_lamb":
        case["training"]["optimizer"] = "lamb"
        case["model"]["layers"] = 2
        case["parallel"] = {"pipeline": 2, "data": 1}
        case["cluster"]["workers"] = 2
    elif word == "clip_norm":
        case["model"] = {"kind": "least_squares"}
        case["training"]["clip_norm"] = 0.05
    elif word == "count":
        case["model"] = {"kind": "least_squares"}
        case["training"].update(optimizer="adam", partition="contiguous")
        case.update(ranks=2, cluster={"workers": 2}, strategy={"kind": "local_sgd", "local_steps": 2,
                                                              "optimizer_memory": "reset"})
    elif word == "one_worker":
        case["model"] = {"kind": "least_squares"}
        case["strategy"] = {"kind": "parameter_server", "compression": {"kind": "top_k", "k": 1}}
    else:
        raise RuntimeError(f"known_faults.toml has the word {word!r}, for which there is no scenario here")
    (write_text if case["model"]["kind"] == "transformer" else write_table)(random.Random(1), case)
    return case, word != "tied_lamb"


WORDS = ["capacity", "clip_norm", "count", "tied_lamb", "one_worker"]


class Report:
    def __init__(self):
        self.bad = self.known = self.rounding = self.compared = 0

    def differs(self, name, case, found):
        self.bad += 1
        print(f"{name} differs:\n{toml_text(case)}\n# {case['file'][0]}:\n# "
              + case["file"][1].strip().replace("\n", "\n# "))
        print("\n".join(found[:4]), flush=True)


def check_exhibits(program, directory, listed, report):
    """A fault that is listed must show, and one that is not must not."""
    for word in WORDS:
        case, both = exhibit(word)
        theirs, why = run(program, case, os.path.join(directory, word))
        if theirs is None:
            raise RuntimeError(why)
        known.suppose()
        found = differences(case, theirs)[0]
        if word not in listed:
            if found:
                report.differs(f"the scenario of {word}", case, found)
            continue
        if not found:
            report.bad += 1
            print(f"the fault {word} no longer shows: take it out of known_faults.toml")
        elif both:
            known.suppose({word})
            found = differences(case, theirs)[0]
            if found:
                report.differs(f"the scenario of {word}, beside this fault,", case, found)
    known.suppose()


def check_drawn(program, directory, seed, index, listed, report, verbose):
    """Draws until the program takes a scenario, and compares."""
    for attempt in range(10):
        case = draw(seed, index, attempt)
        here = os.path.join(directory, f"{index}_{attempt}")
        theirs, why = run(program, case, here)
        if theirs is not None:
            break
        if verbose:
            print(f"scenario {index} refused: {why.strip().splitlines()[-1]}")
    else:
        raise RuntimeError(f"ten scenarios with the number {index} were refused, at last: {why}")
    batches = find_batches(program, case, here + "/probe") if "gradients" in case else None
    known.suppose()
    found, worst, w = differences(case, theirs, batches)
    report.compared += 1
    verdict = ""
    if found:
        known.suppose(listed)
        beside, worst, w = differences(case, theirs, batches)
        if not beside:
            report.known += 1
            verdict = "known fault"
        else:
            # Where the oracle's own result changes as much by noise in the last digits of the start, nothing follows.
            shaken = differences(case, theirs, batches, noise=1e-14)[2]
            own = np.abs(shaken - w).max() / max(np.abs(w).max(), 1e-12)
            if own >= worst:
                report.rounding += 1
                verdict = "rounding alone"
            else:
                verdict = "DIFFERS"
                report.differs(f"scenario {index} of seed {seed}", case, beside)
        known.suppose()
    if verbose:
        print(index, case["model"]["kind"], case["strategy"], case.get("parallel", ""), case["ranks"],
              case["training"]["optimizer"], f"{worst:.1e}", verdict, flush=True)


def main():
    parser = argparse.ArgumentParser()
    # The gate, which takes a share of long tests, draws fewer.
    parser.add_argument("--scenarios", type=int, default=20 if os.environ.get("SIMGRAD_SHARE") else 120)
    parser.add_argument("--seed", default="1")
    parser.add_argument("--only", type=int, help="the number of one scenario")
    parser.add_argument("--program", default=os.environ.get("SIMGRAD_PROGRAM", "simgrad"))
    parser.add_argument("--keep", help="a directory for the scenarios and their results")
    parser.add_argument("--verbose", action="store_true")
    options = parser.parse_args()
    np.seterr(divide="ignore")  # masked scores of attention are exp(-inf)
    report = Report()
    for problem in learning.self_test():
        report.bad += 1
        print(problem)
    listed = listed_words()
    for word in listed:
        exhibit(word)
    program = shutil.which(options.program)
    if program is None:
        print(f"there is no program {options.program}; give --program or SIMGRAD_PROGRAM")
        return 1
    directory = options.keep or tempfile.mkdtemp()
    try:
        if options.only is None:
            check_exhibits(program, directory, listed, report)
        for index in range(options.scenarios) if options.only is None else [options.only]:
            check_drawn(program, directory, options.seed, index, listed, report, options.verbose)
    finally:
        if not options.keep:
            shutil.rmtree(directory, ignore_errors=True)
    print(f"{report.compared} scenarios of seed {options.seed} compared: {report.bad} differences, {report.known} with "
          f"known faults alone, {report.rounding} that rounding may explain")
    return 1 if report.bad else 0


if __name__ == "__main__":
    sys.exit(main())
