#!/usr/bin/env python3
"""Draws small trainings, runs them by simgrad, and compares losses and parameters with learning.py.

  learning_test.py [--scenarios N] [--seed S] [--only INDEX] [--program PATH] [--keep DIR]

Exit code: 0 where all agree, 1 at a difference, 77 without numpy. The seed is --seed, or $SIMGRAD_SEED, or 1; the
program is --program, or $SIMGRAD_PROGRAM, or simgrad in the path. Where $SIMGRAD_SHARE says that long tests run in part
20 scenarios are drawn, else 300. Every scenario starts from the parameters that the program itself writes down: a run
whose target is reached before its first step leaves them in models/.

learning_scenarios.py and learning_strategies.py draw, learning_runs.py runs the program, learning_oracle.py compares,
learning_faults.py knows the faults that stand in known_faults.toml, switch_layer.py has the numbers of PyTorch. Written
without reading src/.
"""

import argparse
import os
import shutil
import sys
import tempfile

try:
    import numpy as np
    import tomllib  # noqa: F401
except ImportError as missing:
    print(f"learning_test: skipped, {missing}")
    sys.exit(77)

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import known  # noqa: E402
import learning  # noqa: E402
import switch_layer  # noqa: E402
from learning_faults import check_exhibits, listed_words  # noqa: E402
from learning_oracle import differences  # noqa: E402
from learning_runs import documented_addend, find_batches, find_shards, run  # noqa: E402
from learning_scenarios import draw, toml_text  # noqa: E402


class Report:
    def __init__(self):
        self.bad = self.known = self.rounding = self.compared = 0

    def complain(self, text):
        self.bad += 1
        print(text, flush=True)

    def differs(self, name, case, found, again=""):
        files = {case["file"][0]: case["file"][1], **case.get("files", {})}
        shown = "".join(f"# {file}:\n# " + text.strip().replace("\n", "\n# ") + "\n" for file, text in files.items())
        self.complain(f"{name} differs:\n{toml_text(case)}\n{shown}" + "\n".join(found[:4]) + again)


def change_by_noise(case, theirs, batches, w):
    """The largest change of the oracle's own result by noise in the last digits of the start, relative to it.

    Where it is a third of a difference, nothing follows from that. Codes with a norm in float32, which is rounded up,
    jump where a sum has few digits, and not at every draw of noise.
    """
    noise = 1e-7 if case["training"].get("precision") == "float32" else 1e-14
    changes = [np.abs(differences(case, theirs, batches, noise, draw)[2] - w).max() for draw in range(1, 9)]
    return max(changes) / max(np.abs(w).max(), 1e-12)


def check_drawn(program, directory, seed, index, listed, report, verbose):
    """Draws until the program takes a scenario, and compares."""
    for attempt in range(10):
        case = draw(seed, index, attempt, listed)
        here = os.path.join(directory, f"{index}_{attempt}")
        theirs, why = run(program, case, here)
        if theirs is not None:
            break
        if verbose:
            print(f"scenario {index} refused: {why.strip().splitlines()[-1]}")
    else:
        raise RuntimeError(f"ten scenarios with the number {index} were refused, at last: {why}")
    batches = find_batches(program, case, here + "/probe") if "gradients" in case else None
    if "dealt" in case:
        case["shards"] = find_shards(program, case, here + "/probe")
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
            if 3 * change_by_noise(case, theirs, batches, w) >= worst:
                report.rounding += 1
                verdict = "rounding alone"
            else:
                verdict = "DIFFERS"
                report.differs(f"scenario {index} of seed {seed}", case, beside,
                               f"\nAgain: SIMGRAD_SEED={seed} tests/oracle/learning_test.py --only {index}")
        known.suppose()
    if verbose:
        print(index, case["model"]["kind"], case["strategy"], case.get("parallel", ""), case["ranks"],
              case["training"], f"{worst:.1e}", verdict, flush=True)


def read_options():
    share, seed = os.environ.get("SIMGRAD_SHARE"), os.environ.get("SIMGRAD_SEED", "1")
    parser = argparse.ArgumentParser()
    parser.add_argument("--scenarios", type=int, default=20 if share else 300)
    parser.add_argument("--seed", type=int, default=seed, help="a whole number")
    parser.add_argument("--only", type=int, help="the number of one scenario")
    parser.add_argument("--program", default=os.environ.get("SIMGRAD_PROGRAM", "simgrad"))
    parser.add_argument("--keep", help="a directory for the scenarios and their results")
    parser.add_argument("--verbose", action="store_true")
    return parser.parse_args()


def main():
    options = read_options()
    drawn = f"{options.scenarios} scenarios" if options.only is None else f"scenario {options.only}"
    print(f"learning_test: seed {options.seed}, {drawn}", flush=True)
    np.seterr(divide="ignore")  # masked scores of attention are exp(-inf)
    report = Report()
    for problem in learning.self_test() + switch_layer.oracle_test():
        report.complain(problem)
    listed = listed_words()
    program = shutil.which(options.program)
    if program is None:
        print(f"there is no program {options.program}; give --program or SIMGRAD_PROGRAM")
        return 1
    learning.Optimizer.addend = documented_addend(program)
    directory = options.keep or tempfile.mkdtemp()
    try:
        if options.only is None:
            check_exhibits(program, directory, listed, report)
            for problem in switch_layer.program_test(program, directory, listed):
                report.complain(problem)
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
