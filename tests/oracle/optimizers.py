"""The optimizers, with the schedules of their rate and the limit of the gradient's norm.

Written without reading src/.
"""

import math

import numpy as np

import known


class Optimizer:
    """move(w, g) is the change that the next update makes to w with the gradient g."""

    defaults = {"momentum": 0.9, "decay": 0.99, "beta1": 0.9, "beta2": 0.999, "weight_decay": None, "epsilon": None}

    addend = 0.0  # added to the norm where a gradient is limited: PyTorch has 1e-6, Pascanu et al. (2013) have nothing

    def __init__(self, kind="sgd", rate=0.1, schedule=None, warmup=0, clip=None, layers=(), **options):
        self.kind, self.rate, self.clip, self.layers = kind, rate, clip, layers
        self.schedule, self.warmup = schedule or {"kind": "constant"}, warmup
        self.o = dict(self.defaults, **options)
        if self.o["epsilon"] is None:
            self.o["epsilon"] = {"adagrad": 1e-10, "lamb": 1e-6}.get(kind, 1e-8)
        if self.o["weight_decay"] is None:
            self.o["weight_decay"] = 0.01 if kind == "adamw" else 0.0
        self.updates, self.first, self.second = 0, 0.0, 0.0
        self.bias_updates = 0

    def forget(self):
        """Loses the vectors, and not the place in the schedule."""
        self.first, self.second = 0.0, 0.0
        if "count" not in known.FAULTS:
            self.bias_updates = 0

    def rate_of(self, k):
        s, kind = self.schedule, self.schedule["kind"]
        rate = self.rate
        if kind == "inverse_time":
            rate /= 1 + s.get("decay", 0.01) * k
        elif kind == "step":
            rate *= s.get("factor", 0.1) ** (k // s.get("every_steps", 100))
        elif kind == "cosine":
            least, part = s.get("minimum", 0.0), min(k / s.get("steps", 1000), 1.0)
            rate *= least + (1 - least) * (1 + math.cos(math.pi * part)) / 2
        return rate * min(1.0, (k + 1) / self.warmup) if self.warmup else rate

    def move(self, w, g, at=None, divisor=1.0):
        """`at`: the number of the update for the schedule, where it is not the count of this optimizer's own ones."""
        rate = self.rate_of(self.updates if at is None else at) / divisor
        self.updates += 1
        self.bias_updates += 1
        o = self.o
        if self.clip is not None:
            addend = 1e-6 if "clip_norm" in known.FAULTS else self.addend
            g = g * min(1.0, self.clip / max(np.sqrt(g @ g) + addend, 1e-300))
        if self.kind == "sgd":
            return -rate * g
        if self.kind == "momentum":
            self.first = o["momentum"] * self.first + g
            return -rate * self.first
        if self.kind == "nesterov":
            self.first = o["momentum"] * self.first + g
            return -rate * (g + o["momentum"] * self.first)
        if self.kind == "adagrad":
            self.second = self.second + g * g
            return -rate * g / (np.sqrt(self.second) + o["epsilon"])
        if self.kind == "rmsprop":
            self.second = o["decay"] * self.second + (1 - o["decay"]) * g * g
            return -rate * g / (np.sqrt(self.second) + o["epsilon"])
        self.first = o["beta1"] * self.first + (1 - o["beta1"]) * g
        self.second = o["beta2"] * self.second + (1 - o["beta2"]) * g * g
        mean = self.first / (1 - o["beta1"] ** self.bias_updates)
        size = self.second / (1 - o["beta2"] ** self.bias_updates)
        direction = mean / (np.sqrt(size) + o["epsilon"])
        if self.kind == "adam":
            return -rate * direction
        if self.kind == "adamw":
            return -rate * (direction + o["weight_decay"] * w)
        direction = direction + o["weight_decay"] * w
        result = np.empty_like(w)
        for first, count in self.layers:
            part, length = direction[first:first + count], np.linalg.norm(w[first:first + count])
            size = np.linalg.norm(part)
            result[first:first + count] = -rate * (length / size if length > 0 and size > 0 else 1.0) * part
        return result
