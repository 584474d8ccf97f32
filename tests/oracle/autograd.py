"""Reverse-mode differentiation in numpy: values that remember how they were made, and functions of them.

Written without reading src/. `gradient_error` holds a model's gradient to central differences; learning.py does so with
every model.
"""

import math

import numpy as np


def _fold(gradient, shape):
    """Sums a gradient over the axes along which a value of this shape was broadcast."""
    while gradient.ndim > len(shape):
        gradient = gradient.sum(axis=0)
    for axis, size in enumerate(shape):
        if size == 1 and gradient.shape[axis] != 1:
            gradient = gradient.sum(axis=axis, keepdims=True)
    return gradient


class Node:
    """A value, and how the gradient of a result reaches the values that it was made of."""

    __array_priority__ = 1000

    def __init__(self, value, inputs=(), backward=None):
        self.value = np.asarray(value, dtype=float)
        self.inputs = inputs
        self.backward = backward

    @property
    def shape(self):
        return self.value.shape

    def __add__(self, other):
        other = node(other)
        return Node(self.value + other.value, (self, other), lambda g: (g, g))

    def __neg__(self):
        return Node(-self.value, (self,), lambda g: (-g,))

    def __sub__(self, other):
        return self + (-node(other))

    def __rsub__(self, other):
        return node(other) - self

    def __mul__(self, other):
        other = node(other)
        return Node(self.value * other.value, (self, other), lambda g: (g * other.value, g * self.value))

    __radd__ = __add__
    __rmul__ = __mul__

    def __truediv__(self, other):
        other = node(other)
        result = self.value / other.value
        return Node(result, (self, other), lambda g: (g / other.value, -g * result / other.value))

    def __rtruediv__(self, other):
        return node(other) / self

    def __matmul__(self, other):
        other = node(other)
        a, b = self.value, other.value
        return Node(a @ b, (self, other), lambda g: (g @ np.swapaxes(b, -1, -2), np.swapaxes(a, -1, -2) @ g))

    def __getitem__(self, index):
        def backward(g):
            full = np.zeros_like(self.value)
            np.add.at(full, index, g)
            return (full,)
        return Node(self.value[index], (self,), backward)

    def reshape(self, *shape):
        return Node(self.value.reshape(*shape), (self,), lambda g: (g.reshape(self.shape),))

    def transpose(self, *axes):
        return Node(self.value.transpose(axes), (self,), lambda g: (g.transpose(np.argsort(axes)),))

    def sum(self, axis=None, keepdims=False):
        def backward(g):
            if axis is not None and not keepdims:
                g = np.expand_dims(g, axis)
            return (np.broadcast_to(g, self.shape),)
        return Node(self.value.sum(axis=axis, keepdims=keepdims), (self,), backward)

    def mean(self, axis=None, keepdims=False):
        total = self.sum(axis, keepdims)
        return total * (total.value.size / self.value.size)

    def gradients(self, *wanted):
        """The gradients of this value, a single number, with respect to the nodes that are wanted."""
        order, seen, stack = [], set(), [(self, False)]
        while stack:
            item, done = stack.pop()
            if done:
                order.append(item)
            elif id(item) not in seen:
                seen.add(id(item))
                stack.append((item, True))
                stack.extend((i, False) for i in item.inputs)
        found = {id(self): np.ones_like(self.value)}
        for item in reversed(order):
            if item.backward is None or id(item) not in found:
                continue
            for source, gradient in zip(item.inputs, item.backward(found[id(item)])):
                gradient = _fold(np.asarray(gradient), source.shape)
                found[id(source)] = found[id(source)] + gradient if id(source) in found else gradient
        return [found.get(id(w), np.zeros_like(w.value)) for w in wanted]


def node(value):
    return value if isinstance(value, Node) else Node(value)


def exp(x):
    result = np.exp(x.value)
    return Node(result, (x,), lambda g: (g * result,))


def log(x):
    return Node(np.log(x.value), (x,), lambda g: (g / x.value,))


def sqrt(x):
    result = np.sqrt(x.value)
    return Node(result, (x,), lambda g: (g / (2 * result),))


def square(x):
    return x * x


def tanh(x):
    result = np.tanh(x.value)
    return Node(result, (x,), lambda g: (g * (1 - result ** 2),))


def relu(x):
    return Node(np.maximum(x.value, 0), (x,), lambda g: (g * (x.value > 0),))


def erf(x):
    result = np.vectorize(math.erf, otypes=[float])(x.value)
    return Node(result, (x,), lambda g: (g * 2 / math.sqrt(math.pi) * np.exp(-x.value ** 2),))


def softplus(x):
    """log(1 + exp(x)), without overflow."""
    share = np.where(x.value >= 0, 1 / (1 + np.exp(-np.abs(x.value))), 1 - 1 / (1 + np.exp(-np.abs(x.value))))
    return Node(np.logaddexp(0, x.value), (x,), lambda g: (g * share,))


def concatenate(nodes, axis):
    ends = np.cumsum([n.shape[axis] for n in nodes])[:-1]
    return Node(np.concatenate([n.value for n in nodes], axis=axis), tuple(nodes),
                lambda g: tuple(np.split(g, ends, axis=axis)))


def log_sum_exp(x):
    """Along the last axis, which stays with one entry."""
    top = x.value.max(axis=-1, keepdims=True)
    return log(exp(x - top).sum(axis=-1, keepdims=True)) + top


def softmax(x):
    return exp(x - log_sum_exp(x))


def cross_entropy(scores, targets):
    """The mean of -log softmax(scores)[target] over all rows of scores."""
    flat = scores.reshape(-1, scores.shape[-1])
    chosen = flat[np.arange(flat.shape[0]), np.asarray(targets).reshape(-1)]
    return (log_sum_exp(flat).sum(axis=-1) - chosen).mean()


def silu(x):
    return x * exp(-softplus(-x))


def gelu(x, form):
    """x Phi(x), or its approximation by tanh; Hendrycks and Gimpel give both, and GPT-2 has the second."""
    if form == "erf":
        return x * (erf(x * (1 / math.sqrt(2))) + 1) * 0.5
    return x * (tanh((x + x * x * x * 0.044715) * math.sqrt(2 / math.pi)) + 1) * 0.5


def gradient_error(model, rows, w, random, checks=12, step=1e-5):
    """The largest difference between gradients and central differences, over the gradient's largest number."""
    g, worst = model.gradient(w, rows), 0.0
    directions = [random.normal(size=len(w)) / np.sqrt(len(w)) for _ in range(3)]
    directions += list(np.eye(len(w))[random.choice(len(w), min(checks, len(w)), replace=False)])
    for d in directions:
        up, down = (float(model.penalised(Node(w + s * step * d), rows).value) for s in (1, -1))
        worst = max(worst, abs((up - down) / (2 * step) - g @ d))
    return worst / np.abs(g).max()
