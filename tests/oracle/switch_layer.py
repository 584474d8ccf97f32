"""PyTorch's recorded numbers of layers of experts with capacity, which learning.py and simgrad must have, too.

switch_layer_torch.py made the record, switch_layer.json, and says after which papers. Written without reading src/.
"""

import json
import os

import numpy as np

from autograd import Node, square
from learning_runs import run
from transformer import Transformer

RECORD = os.path.join(os.path.dirname(os.path.abspath(__file__)), "switch_layer.json")
TOLERANCE = 1e-9


def gap(here, there):
    """The largest difference, over the largest number."""
    here, there = np.asarray(here, dtype=float), np.asarray(there, dtype=float)
    if here.shape != there.shape:
        return np.inf
    return float(np.abs(here - there).max() / max(np.abs(there).max(), 1e-300))


def layer_gaps(part):
    """How far the oracle's layer of experts is from PyTorch's: (name, relative difference) of all that is recorded."""
    values = {name: np.array(value) for name, value in part["values"].items()}
    hidden, inner = values["outward"].shape[1:]
    o = dict(part["options"], hidden=hidden, heads=1, feed_forward=inner, layers=1)
    model = Transformer(o, np.zeros((1, 1), dtype=int), np.zeros((1, 1), dtype=int), 2)
    p = {name: Node(value.reshape(-1) if "bias" in name else value) for name, value in values.items()}
    result, auxiliary = model.route(p["x"], p["router"], p["inward"], p["inward_bias"], p["outward"],
                                     p["outward_bias"], True)
    loss = square(p["x"] + result).mean() * 0.5
    gradients = (loss + auxiliary * o["auxiliary_loss"]).gradients(*p.values())
    yield "loss", gap(loss.value, part["loss"])
    yield "auxiliary loss", gap(auxiliary.value, part["auxiliary"])
    yield "number of dropped choices", abs(model.dropped - part["dropped"])
    for name, gradient in zip(p, gradients):
        yield f"gradient of {name}", gap(gradient.reshape(values[name].shape), part["gradients"][name])


def model_gaps(part):
    """The same for a transformer: the loss of an evaluation, and the gradient of the training, with auxiliary loss."""
    o, text = part["case"]["model"], part["case"]["file"][1]
    tokens, shape = np.array(["abcd".index(letter) for letter in text]), (part["case"]["rows"], o["sequence"])
    model = Transformer(o, tokens[:-1].reshape(shape), tokens[1:].reshape(shape), 4)
    rows, w = np.arange(shape[0]), np.array(part["start"])
    yield "loss", gap(model.value(w, rows), part["loss"])
    yield "number of dropped choices", abs(model.dropped - part["dropped"])
    yield "gradient", gap(model.gradient(w, rows), part["gradient"])


def oracle_test():
    """The texts of what differs between the oracle's layers and transformers and PyTorch's."""
    with open(RECORD) as file:
        record = json.load(file)
    wrong = []
    for kind, gaps in (("layers", layer_gaps), ("models", model_gaps)):
        for number, part in enumerate(record[kind]):
            wrong += [f"the {name} of number {number} of the recorded {kind} differs from PyTorch's by {difference:.1e}"
                      for name, difference in gaps(part) if not difference <= TOLERANCE]
    return wrong


def program_test(program, directory, listed):
    """The texts of what differs between simgrad's transformers of experts and PyTorch's: the loss before the first step
    (not as long as known_faults.toml lists "capacity"), and the gradient, which a step with the rate 1 shows."""
    wrong = []
    with open(RECORD) as file:
        models = json.load(file)["models"]
    for number, part in enumerate(models):
        theirs, why = run(program, part["case"], os.path.join(directory, f"switch_{number}"))
        if theirs is None:
            wrong.append(f"the program refuses the recorded transformer {number}: {why}")
            continue
        if gap(theirs["start"], part["start"]) > TOLERANCE:
            wrong.append(f"the recorded transformer {number} begins elsewhere; switch_layer_torch.py records it again")
            continue
        loss, gradient = theirs["losses"][0], theirs["start"] - theirs["end"]
        if "capacity" not in listed and not gap(loss, part["loss"]) <= TOLERANCE:
            wrong.append(f"transformer {number} has the loss {loss!r}, PyTorch {part['loss']!r}, with its capacity")
        if not gap(gradient, part["gradient"]) <= TOLERANCE:
            wrong.append(f"transformer {number} has a gradient that differs from PyTorch's by "
                         f"{gap(gradient, part['gradient']):.1e} of its largest number")
    return wrong
