"""The known faults of trainings: for each word a scenario that shows it, and whether learning.py can have it, too.

To delete a fault's lines in known_faults.toml is all that there is to do once it is mended: from then on its scenario
must agree, and the drawn ones are compared without it. Written without reading src/.
"""

import os
import random
import tomllib

import known
from learning_oracle import differences
from learning_runs import run
from learning_scenarios import write_table, write_text

WORDS = ["capacity", "clip_norm", "count", "tied_lamb", "one_worker", "file_graph", "broadcast_count"]
NOT_OURS = ["tied_lamb", "file_graph"]  # which the oracle cannot have; scenarios with them are not drawn
LIST = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "known_faults.toml")


def listed_words():
    """The words of the faults that are known: known_faults.toml has them as "learning: WORD"."""
    prefix = "learning: "
    with open(LIST, "rb") as file:
        tests = [fault["test"] for fault in tomllib.load(file).get("fault", [])]
    words = [test.removeprefix(prefix) for test in tests if test.startswith(prefix)]
    for word in words:
        if word not in WORDS:
            raise RuntimeError(f"known_faults.toml has the word {word!r}, for which there is no scenario here")
    return words


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
    elif word == "file_graph":  # the file's edges are those of the replicas of a part, as other graphs are
        case["model"] = {"kind": "perceptron", "hidden": [4], "activation": "tanh", "task": "regression"}
        case["parallel"] = {"pipeline": 2, "data": 2}
        case["training"]["partition"] = "contiguous"
        case.update(ranks=2, cluster={"workers": 4}, edges=[(0, 1)], files={"graph.txt": "0 1\n"},
                    strategy={"kind": "gossip", "update": "combine_then_adapt", "mixing": "metropolis",
                              "graph": {"kind": "file", "path": "graph.txt"}})
    elif word == "broadcast_count":  # Adam's averages are of a rank's own gradients, and so is their count
        case["model"] = {"kind": "least_squares"}
        case["training"].update(optimizer="adam", partition="contiguous")
        case.update(ranks=2, cluster={"workers": 2, "speed": "100kF"}, strategy={"kind": "async_broadcast"})
    (write_text if case["model"]["kind"] == "transformer" else write_table)(random.Random(1), case)
    return case, word not in NOT_OURS


def check_exhibits(program, directory, listed, report):
    """A fault that is listed must show, and one that is not must not."""
    for word in WORDS:
        case, both = exhibit(word)
        theirs, why = run(program, case, os.path.join(directory, word))
        if theirs is None and word not in NOT_OURS:
            raise RuntimeError(why)
        known.suppose()
        # A refusal, too, mends a fault that the oracle cannot have.
        found = differences(case, theirs)[0] if theirs else []
        if word not in listed:
            if found:
                report.differs(f"the scenario of {word}", case, found)
            continue
        if not found:
            report.complain(f"the fault {word} no longer shows: take it out of known_faults.toml")
        elif both:
            known.suppose({word})
            found = differences(case, theirs)[0]
            if found:
                report.differs(f"the scenario of {word}, beside this fault,", case, found)
    known.suppose()
