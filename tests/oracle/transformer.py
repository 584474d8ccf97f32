"""The transformer that predicts the next token, with or without experts.

Written without reading src/.
"""

import math

import numpy as np

import known
from autograd import Node, concatenate, cross_entropy, gelu, silu, softmax, sqrt, square
from models import Model


class Transformer(Model):
    """A decoder: x is (samples, sequence) tokens, y the token behind each of them.

    The order of the parameters is that of the layers in the head of a model's file; within a layer the matrix comes
    first, then its biases, then the gains and biases of the norm in front of it.
    """

    epsilon = 1e-5    # of the norms
    rotary_base = 10000.0
    pairs = "halves"   # which numbers of a head rotary positions turn together: i and i + size / 2, or 2 i and 2 i + 1
    gelu_form = "erf"

    def __init__(self, options, x, y, vocabulary):
        self.o, self.x, self.y, self.vocabulary, self.l2 = options, x, y, vocabulary, options.get("l2", 0.0)
        self.hidden, self.heads = options["hidden"], options["heads"]
        self.kv_heads = options.get("kv_heads") or self.heads
        self.inner = options.get("feed_forward") or 4 * self.hidden
        self.experts, self.top_k = options.get("experts", 0), options.get("top_k", 2)
        self.gated, self.bias = options.get("gated", False), options.get("bias", True)
        self.rms = options.get("norm", "layer_norm") == "rms_norm"
        self.positions, self.tied = options.get("positions", "learned"), options.get("tied", True)
        self.every = options.get("expert_every", 1)
        self.dropped, self.choices = 0, 0

    def count(self):
        """The number of parameters."""
        reader = _Reader(None)
        self._forward(reader, None)
        return reader.first

    def _norm(self, value, gain, bias):
        if not self.rms:
            value = value - value.mean(axis=-1, keepdims=True)
        value = value / sqrt(square(value).mean(axis=-1, keepdims=True) + self.epsilon)
        return value * gain if bias is None else value * gain + bias

    def _rotate(self, value):
        """Turns the pairs of each head's numbers by angles that grow with the place; value is (..., places, size)."""
        places, size = value.shape[-2:]
        angle = np.arange(places)[:, None] * self.rotary_base ** (-np.arange(0, size, 2) / size)[None, :]
        cos, sin = np.cos(angle), np.sin(angle)
        if self.pairs == "halves":
            left, right = value[..., :size // 2], value[..., size // 2:]
            return concatenate([left * cos - right * sin, right * cos + left * sin], axis=-1)
        left, right = value[..., 0::2], value[..., 1::2]
        turned = concatenate([(left * cos - right * sin).reshape(*left.shape, 1),
                              (right * cos + left * sin).reshape(*left.shape, 1)], axis=-1)
        return turned.reshape(*value.shape)

    def _attention(self, value, matrix, bias):
        samples, places = value.shape[:2]
        size = self.hidden // self.heads
        group = self.heads // self.kv_heads
        all_heads = value @ matrix.transpose(1, 0)
        if bias is not None:
            all_heads = all_heads + bias
        split = np.cumsum([self.hidden, self.kv_heads * size])
        q = all_heads[..., :split[0]].reshape(samples, places, self.kv_heads, group, size).transpose(0, 2, 3, 1, 4)
        k = all_heads[..., split[0]:split[1]].reshape(samples, places, self.kv_heads, 1, size).transpose(0, 2, 3, 1, 4)
        v = all_heads[..., split[1]:].reshape(samples, places, self.kv_heads, 1, size).transpose(0, 2, 3, 1, 4)
        if self.positions == "rotary":
            q, k = self._rotate(q), self._rotate(k)
        scores = q @ k.transpose(0, 1, 2, 4, 3) * (1 / math.sqrt(size))
        scores = scores + np.where(np.tril(np.ones((places, places))) > 0, 0.0, -np.inf)
        mixed = softmax(scores) @ v
        return mixed.transpose(0, 3, 1, 2, 4).reshape(samples, places, self.hidden)

    def _activate(self, value):
        if self.gated:
            return silu(value[..., :self.inner]) * value[..., self.inner:]
        return gelu(value, self.gelu_form)

    def loss(self, w, rows):
        return self._forward(_Reader(w), rows)

    def value(self, w, rows):
        """The cross-entropy of the model that is trained, and the penalty of its parameters; the auxiliary loss only
        steers the router."""
        loss = self._forward(_Reader(Node(w)), rows, "capacity" not in known.FAULTS, False)
        return float(loss.value) + self.l2 / 2 * float(w @ w)

    def _forward(self, read, rows, capacity=True, auxiliary=True):
        h, wide = self.hidden, self.inner * (2 if self.gated else 1)
        norm = (lambda: (read(h), None)) if self.rms else (lambda: (read(h), read(h)))
        bias = (lambda n: read(n)) if self.bias else (lambda n: None)
        counting = rows is None
        self.dropped = self.choices = 0
        penalties = []

        embedding = read(self.vocabulary, h)
        places = read(self.x.shape[1], h) if self.positions == "learned" else None
        if not counting:
            value = embedding[self.x[rows]]
            if places is not None:
                value = value + places
        for block in range(self.o["layers"]):
            qkv = h + 2 * self.kv_heads * (h // self.heads)
            matrix, offset, (gain, shift) = read(qkv, h), bias(qkv), norm()
            if not counting:
                attention = self._attention(self._norm(value, gain, shift), matrix, offset)
            matrix, offset = read(h, h), bias(h)
            if not counting:
                value = value + _affine(attention, matrix, offset)
            if self.experts and block % self.every == self.every - 1:
                router, (gain, shift) = read(self.experts, h), norm()
                inward, inward_bias = read(self.experts, wide, h), bias(self.experts * wide)
                outward, outward_bias = read(self.experts, h, self.inner), bias(self.experts * h)
                if not counting:
                    normed = self._norm(value, gain, shift)
                    result, penalty = self.route(normed, router, inward, inward_bias, outward, outward_bias, capacity)
                    value = value + result
                    penalties.append(penalty)
            else:
                matrix, offset, (gain, shift) = read(wide, h), bias(wide), norm()
                if not counting:
                    inner = self._activate(_affine(self._norm(value, gain, shift), matrix, offset))
                matrix, offset = read(h, self.inner), bias(h)
                if not counting:
                    value = value + _affine(inner, matrix, offset)
        head = embedding if self.tied else read(self.vocabulary, h)
        gain, shift = norm()
        if counting:
            return None
        result = cross_entropy(self._norm(value, gain, shift) @ head.transpose(1, 0), self.y[rows])
        if auxiliary:
            for penalty in penalties:
                result = result + penalty * self.o.get("auxiliary_loss", 0.01)
        return result

    def route(self, value, router, inward, inward_bias, outward, outward_bias, capacity):
        """GShard's groups are sequences: all first choices take their places before the second ones, and the penalty
        counts first choices (Lepikhin et al., Algorithm 1); with one choice its gate is the router's share (Fedus)."""
        samples, places, h = value.shape
        wide = inward.shape[1]
        shares = softmax(value @ router.transpose(1, 0))
        chosen = np.argsort(-shares.value, axis=-1, kind="stable")[..., :self.top_k]
        room = math.ceil(self.o.get("capacity_factor", 1.25) * places * self.top_k / self.experts)
        taken = np.zeros((samples, places, self.experts))
        for sample in range(samples):
            full = np.zeros(self.experts, dtype=int)
            order = [(t, c) for c in range(self.top_k) for t in range(places)]
            for place, choice in order:
                expert = chosen[sample, place, choice]
                if not capacity or full[expert] < room:
                    taken[sample, place, expert] = 1
                full[expert] += 1
                self.choices += 1
        self.dropped += samples * places * self.top_k - int(taken.sum())
        picked = np.zeros_like(taken)
        np.put_along_axis(picked, chosen, 1, axis=-1)
        gates = shares * picked
        if self.top_k > 1:
            gates = gates / gates.sum(axis=-1, keepdims=True)
        gates = gates * taken
        result = None
        for expert in range(self.experts):
            inner = value @ inward[expert].transpose(1, 0)
            if inward_bias is not None:
                inner = inner + inward_bias[expert * wide:(expert + 1) * wide]
            part = self._activate(inner) @ outward[expert].transpose(1, 0)
            if outward_bias is not None:
                part = part + outward_bias[expert * h:(expert + 1) * h]
            part = part * gates[..., expert].reshape(samples, places, 1)
            result = part if result is None else result + part
        frequency = np.eye(self.experts)[chosen[..., 0]].mean(axis=1)
        return result, (shares.mean(axis=1) * frequency).sum(axis=-1).mean() * self.experts


class _Reader:
    """Hands out a flat vector piece by piece."""

    def __init__(self, w):
        self.w, self.first = w, 0

    def __call__(self, *shape):
        count = math.prod(shape)
        self.first += count
        if self.w is None:
            return None
        return self.w[self.first - count:self.first].reshape(*shape)


def _affine(value, matrix, offset):
    value = value @ matrix.transpose(1, 0)
    return value if offset is None else value + offset
