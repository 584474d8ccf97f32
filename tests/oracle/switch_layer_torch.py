#!/usr/bin/env python3
"""Records in switch_layer.json what PyTorch makes of layers of experts, alone and in a small transformer.

  switch_layer_torch.py [--program PATH]

It needs torch (Debian's 1.13.1 made the record) and simgrad, whose own start is where the small transformers begin.
Nothing runs it but a person who changes the record; switch_layer.py compares with this, and needs no torch.

Written without reading src/, after W. Fedus, B. Zoph, N. Shazeer, Switch Transformers, 2021 (appendix F: an expert
takes the tokens of a group in their order until it is full, the others pass by on the residual way; the auxiliary loss
is N sum(f_i P_i), equation 4) and D. Lepikhin et al., GShard, 2020 (algorithm 1: two experts a token, whose gates are
divided by their sum, first choices in front of second ones; a group is a sequence). A model is evaluated as it is
trained, with its capacity. Everything is in float64, and the gradients are PyTorch's own.
"""

import argparse
import json
import math
import os
import random
import sys
import tempfile

import torch
from torch.nn.functional import cross_entropy, gelu, layer_norm, one_hot, silu

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from learning_runs import run  # noqa: E402

RECORD = os.path.join(os.path.dirname(os.path.abspath(__file__)), "switch_layer.json")


def experts(x, p, options):
    """The layer's output without the residual, the auxiliary loss and the choices that were dropped.

    x: (groups, tokens, hidden). dispatch, combine: (groups, tokens, experts, places in an expert), as in both papers.
    """
    count, top_k, tokens = options["experts"], options["top_k"], x.shape[1]
    capacity = math.ceil(options["capacity_factor"] * tokens * top_k / count)
    shares = torch.softmax(x @ p["router"].T, dim=-1)
    gates, chosen = torch.topk(shares, top_k, dim=-1)
    if top_k > 1:
        gates = gates / gates.sum(dim=-1, keepdim=True)
    combine, before = 0.0, torch.zeros(x.shape[0], 1, count, dtype=x.dtype)
    for choice in range(top_k):
        mask = one_hot(chosen[..., choice], count).to(x.dtype)
        place = torch.cumsum(mask, dim=1) - mask + before
        before = before + mask.sum(dim=1, keepdim=True)
        mask = mask * (place < capacity)
        places = one_hot((place * mask).long().clamp(max=capacity - 1), capacity).to(x.dtype) * mask[..., None]
        combine = combine + gates[..., choice, None, None] * places
    dispatch = (combine > 0).to(x.dtype)
    inside = torch.einsum("gtec,gth->gech", dispatch, x)
    inner = torch.einsum("gech,eih->geci", inside, p["inward"])
    if "inward_bias" in p:
        inner = inner + p["inward_bias"][None, :, None, :]
    if options["gated"]:
        half = inner.shape[-1] // 2
        inner = silu(inner[..., :half]) * inner[..., half:]
    else:
        inner = gelu(inner)
    outside = torch.einsum("geci,ehi->gech", inner, p["outward"])
    if "outward_bias" in p:
        outside = outside + p["outward_bias"][None, :, None, :]
    frequency = one_hot(chosen[..., 0], count).to(x.dtype).mean(dim=1)
    auxiliary = count * (frequency * shares.mean(dim=1)).sum(dim=-1).mean()
    dropped = x.shape[0] * tokens * top_k - int(dispatch.sum())
    return torch.einsum("gtec,gech->gth", combine, outside), auxiliary, dropped


def layer(options, groups=2, tokens=4, hidden=2, inner=3):
    """One layer on random numbers: the loss is the mean of half the squares of x + experts(x)."""
    count, wide = options["experts"], inner * (2 if options["gated"] else 1)
    shapes = {"x": (groups, tokens, hidden), "router": (count, hidden), "inward": (count, wide, hidden),
              "inward_bias": (count, wide), "outward": (count, hidden, inner), "outward_bias": (count, hidden)}
    # Decimals of three digits keep the file short, and are the same numbers in every program.
    values = {name: torch.round(torch.randn(shape, dtype=torch.float64) * 1000) / 1000
              for name, shape in shapes.items()}
    p = {name: value.clone().requires_grad_() for name, value in values.items()}
    result, auxiliary, dropped = experts(p["x"], p, options)
    loss = 0.5 * ((p["x"] + result) ** 2).mean()
    (loss + options["auxiliary_loss"] * auxiliary).backward()
    return {"options": options, "values": {name: value.tolist() for name, value in values.items()},
            "loss": loss.item(), "auxiliary": auxiliary.item(), "dropped": dropped,
            "gradients": {name: value.grad.tolist() for name, value in p.items()}}


def transformer(w, o, tokens, targets, vocabulary):
    """The cross-entropy and the auxiliary loss of one block behind a tied embedding, in the file's order of parameters.

    One head, learned positions, layer_norm, no biases beside those of norms: A. Radford et al., 2019.
    """
    h, inner, count, first = o["hidden"], o["feed_forward"], o["experts"], 0

    def take(*shape):
        nonlocal first
        first += math.prod(shape)
        return w[first - math.prod(shape):first].reshape(shape)

    def norm(value, gain, bias):
        return layer_norm(value, (h,), gain, bias, 1e-5)

    embedding, positions = take(vocabulary, h), take(o["sequence"], h)
    value = embedding[tokens] + positions
    matrix, gain, bias = take(3 * h, h), take(h), take(h)
    q, k, v = (norm(value, gain, bias) @ matrix.T).chunk(3, dim=-1)
    scores = q @ k.transpose(1, 2) / math.sqrt(h)
    later = torch.triu(torch.ones(scores.shape[1:], dtype=torch.bool), diagonal=1)
    value = value + torch.softmax(scores.masked_fill(later, -math.inf), dim=-1) @ v @ take(h, h).T
    router, gain, bias = take(count, h), take(h), take(h)
    p = {"router": router, "inward": take(count, inner, h), "outward": take(count, h, inner)}
    result, auxiliary, dropped = experts(norm(value, gain, bias), p, o)
    value = norm(value + result, take(h), take(h))
    assert first == len(w)
    return cross_entropy((value @ embedding.T).reshape(-1, vocabulary), targets.reshape(-1)), auxiliary, dropped


def model(program, top_k, seed):
    """A transformer that simgrad starts: a step of gradient descent, and the loss before it."""
    r = random.Random(seed)
    o = {"kind": "transformer", "layers": 1, "hidden": 4, "heads": 1, "kv_heads": 1, "feed_forward": 3, "sequence": 5,
         "gated": False, "tied": True, "bias": False, "norm": "layer_norm", "positions": "learned", "experts": 3,
         "top_k": top_k, "capacity_factor": 0.5, "auxiliary_loss": 0.3}
    text = "abcd" + "".join(r.choice("abcd") for _ in range(4 * 5 + 1 - 4))
    case = {"seed": seed, "rows": 4, "ranks": 1, "cluster": {"workers": 1}, "stop": {"steps": 1},
            "training": {"optimizer": "sgd", "learning_rate": 1.0}, "strategy": {"kind": "single"}, "model": o,
            "file": ["data.txt", text], "data": {"source": "text", "path": "data.txt", "tokens": "characters"}}
    with tempfile.TemporaryDirectory() as directory:
        theirs, why = run(program, case, directory)
    if theirs is None:
        raise SystemExit(why)
    letters = torch.tensor(["abcd".index(c) for c in text])
    w = torch.tensor(theirs["start"], dtype=torch.float64, requires_grad=True)
    loss, auxiliary, dropped = transformer(w, o, letters[:20].reshape(4, 5), letters[1:21].reshape(4, 5), 4)
    (loss + o["auxiliary_loss"] * auxiliary).backward()
    return {"case": case, "start": w.tolist(), "loss": loss.item(), "auxiliary": auxiliary.item(), "dropped": dropped,
            "gradient": w.grad.tolist()}


def rounded(value):
    """13 digits of each number, which are enough for a comparison to 1e-9."""
    if isinstance(value, dict):
        return {name: rounded(part) for name, part in value.items()}
    if isinstance(value, (list, tuple)):
        return [rounded(part) for part in value]
    return float(f"{value:.12e}") if isinstance(value, float) else value


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--program", default=os.environ.get("SIMGRAD_PROGRAM", "simgrad"))
    program = parser.parse_args().program
    torch.manual_seed(1)
    record = {"torch": torch.__version__, "layers": [], "models": []}
    for top_k, factor, gated in ((1, 0.5, False), (2, 0.75, True), (2, 3.0, False)):
        record["layers"].append(layer({"experts": 3, "top_k": top_k, "capacity_factor": factor, "gated": gated,
                                       "auxiliary_loss": 0.3}))
    record["models"] = [model(program, 1, 1), model(program, 2, 2)]
    with open(RECORD, "w") as file:
        text = json.dumps(rounded(record), separators=(",", ":"))
        file.write(text.replace("},{", "},\n{").replace('},"', '},\n"') + "\n")
    for part in record["layers"] + record["models"]:
        print(part["loss"], part["auxiliary"], part["dropped"])


if __name__ == "__main__":
    main()
