"""What simgrad's trainings must compute, said a second time in numpy.

This file was written without reading src/ or the tests in C++. It follows the documents of simgrad (README.md, docs/,
`simgrad explain`) where they define an option, and otherwise these publications:

  H. Robbins, S. Monro, A Stochastic Approximation Method, 1951 (gradient descent on samples).
  B. T. Polyak, Some methods of speeding up the convergence of iteration methods, 1964 (momentum).
  I. Sutskever et al., On the importance of initialization and momentum in deep learning, 2013 (Nesterov's momentum).
  J. Duchi, E. Hazan, Y. Singer, Adaptive Subgradient Methods, 2011 (adagrad).
  T. Tieleman, G. Hinton, Neural Networks for Machine Learning, lecture 6.5, 2012 (rmsprop).
  D. P. Kingma, J. Ba, Adam: A Method for Stochastic Optimization, 2015.
  I. Loshchilov, F. Hutter, Decoupled Weight Decay Regularization, 2019 (adamw).
  Y. You et al., Large Batch Optimization for Deep Learning, 2020 (lamb).
  C. M. Bishop, Pattern Recognition and Machine Learning, 2006 (linear, logistic and softmax regression).
  L. Bottou, Y. Bengio, Convergence Properties of the K-Means Algorithms, 1995; S. Rendle, Factorization Machines, 2010;
    Y. Koren, R. Bell, C. Volinsky, Matrix Factorization Techniques for Recommender Systems, 2009; R. Caruana, Multitask
    Learning, 1997.
  A. Vaswani et al., Attention Is All You Need, 2017; A. Radford et al., Language Models are Unsupervised Multitask
    Learners, 2019 (the transformer, with norms in front of its parts).
  D. Hendrycks, K. Gimpel, Gaussian Error Linear Units, 2016; N. Shazeer, GLU Variants Improve Transformer, 2020.
  J. L. Ba, J. R. Kiros, G. Hinton, Layer Normalization, 2016; B. Zhang, R. Sennrich, Root Mean Square Layer
    Normalization, 2019; J. Su et al., RoFormer, 2021 (rotary positions).
  J. Ainslie et al., GQA: Training Generalized Multi-Query Transformer Models, 2023 (grouped keys and values).
  D. Lepikhin et al., GShard, 2020; W. Fedus, B. Zoph, N. Shazeer, Switch Transformers, 2021 (experts).
  S. U. Stich, Local SGD Converges Fast and Communicates Little, 2019; T. Lin et al., Don't Use Large Mini-Batches, Use
    Local SGD, 2020 (post-local); J. Wang et al., SlowMo, 2020.
  A. Douillard et al., DiLoCo, 2023; B. McMahan et al., Communication-Efficient Learning of Deep Networks from
    Decentralized Data, 2017; T. Li et al., Federated Optimization in Heterogeneous Networks, 2020 (FedProx).
  X. Lian et al., Can Decentralized Algorithms Outperform Centralized Algorithms?, 2017 (D-PSGD); L. Xiao, S. Boyd, Fast
    linear iterations for distributed averaging, 2004 (mixing); H. Tang et al., D2, 2018; A. Nedic, A. Olshevsky,
    W. Shi, Achieving Geometric Convergence for Distributed Optimization, 2017 (gradient tracking).
  S. U. Stich, J.-B. Cordonnier, M. Jaggi, Sparsified SGD with Memory, 2018; S. P. Karimireddy et al., Error Feedback
    Fixes SignSGD, 2019; J. Bernstein et al., signSGD, 2018; A. Koloskova, S. Stich, M. Jaggi, Decentralized Stochastic
    Optimization and Gossip Algorithms with Compressed Communication, 2019.
  D. Narayanan et al., PipeDream, 2019; D. Narayanan et al., Memory-Efficient Pipeline-Parallel DNN Training, 2021.
  M. Assran et al., Stochastic Gradient Push for Distributed Deep Learning, 2019.
  S. Zhang, A. Choromanska, Y. LeCun, Deep learning with Elastic Averaging SGD, 2015.
  M. Li et al., Scaling Distributed Machine Learning with the Parameter Server, 2014; S. Zheng et al., Asynchronous
    Stochastic Gradient Descent with Delay Compensation, 2017; W. Zhang et al., Staleness-aware Async-SGD, 2016.

Some conventions stand in neither. They were found from the results of runs, among forms that are all published or
equal in the mean, so that the oracle cannot tell whether they are right: the order of the parameters in a file; the
epsilon of norms (1e-5), the base (10000) and the pairs of rotary positions, GELU by erf; an expert's capacity rounded
up, first choices in front of second ones; the weight of a row where ranks have unequally many; where stretches of
rows and blocks of parameters end; block_sync's average of gradients while replicas are the same; the step of a
schedule under asynchronous strategies; SlowMo left out of synchronous steps; the order of turns in an undirected
exponential graph; copies of gossip with compression that begin at the start; which parameters weight decay shrinks
where a strategy has two candidates.

It needs nothing but Python and numpy.
"""

import json
import math

import numpy as np

# Words for faults that the program is known to have, and that the oracle is asked to have too, so that what else is
# wrong in a scenario with one of them shows all the same. Empty: what the publications say.
FAULTS = set()


# ---------------------------------------------------------------------------------------------------------------------
# Reverse-mode differentiation.


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


def silu(x):
    return x * exp(-softplus(-x))


def gelu(x, form):
    """x Phi(x), or its approximation by tanh; Hendrycks and Gimpel give both, and GPT-2 has the second."""
    if form == "erf":
        return x * (erf(x * (1 / math.sqrt(2))) + 1) * 0.5
    return x * (tanh((x + x * x * x * 0.044715) * math.sqrt(2 / math.pi)) + 1) * 0.5


# ---------------------------------------------------------------------------------------------------------------------
# Models. Each has loss(w, rows): the mean of its rows' losses as a node, for a flat vector w.


class Model:
    l2 = 0.0

    def value(self, w, rows):
        """The loss that an evaluation shows."""
        return float(self.penalised(Node(w), rows).value)

    def penalised(self, w, rows):
        result = self.loss(w, rows)
        return result + (w * w).sum() * (self.l2 / 2) if self.l2 else result

    def gradient(self, w, rows):
        w = Node(w)
        return self.penalised(w, rows).gradients(w)[0]


class Linear(Model):
    """Least squares, logistic and softmax regression on rows of x, with their targets y."""

    def __init__(self, kind, x, y, classes=0, bias=False, l2=0.0):
        self.kind, self.y, self.classes, self.l2 = kind, y, classes, l2
        self.x = np.hstack([x, np.ones((len(x), 1))]) if bias else x

    def loss(self, w, rows):
        x, y = self.x[rows], self.y[rows]
        if self.kind == "least_squares":
            return square(node(x) @ w.reshape(-1, 1) - y.reshape(-1, 1)).mean() * 0.5
        if self.kind == "logistic_regression":
            margin = (node(x) @ w.reshape(-1, 1)) * np.where(y == 1, 1.0, -1.0).reshape(-1, 1)
            return softplus(-margin).mean()
        scores = node(x) @ w.reshape(self.classes, -1).transpose(1, 0)
        return cross_entropy(scores, y)


def square(x):
    return x * x


def cross_entropy(scores, targets):
    """The mean of -log softmax(scores)[target] over all rows of scores."""
    flat = scores.reshape(-1, scores.shape[-1])
    chosen = flat[np.arange(flat.shape[0]), np.asarray(targets).reshape(-1)]
    return (log_sum_exp(flat).sum(axis=-1) - chosen).mean()


class Perceptron(Model):
    """Dense layers; each layer of w is its matrix, row by row, and then the biases of its outputs."""

    def __init__(self, x, y, outputs, hidden, activation="relu", bias=True, l2=0.0, classes=True):
        self.x, self.y, self.bias, self.l2, self.classes = x, y, bias, l2, classes
        self.sizes = [x.shape[1], *hidden, outputs]
        self.activation = relu if activation == "relu" else tanh

    def loss(self, w, rows):
        value, first = node(self.x[rows]), 0
        for layer, (fan_in, fan_out) in enumerate(zip(self.sizes, self.sizes[1:])):
            if layer:
                value = self.activation(value)
            matrix = w[first:first + fan_in * fan_out].reshape(fan_out, fan_in)
            first += fan_in * fan_out
            value = value @ matrix.transpose(1, 0)
            if self.bias:
                value = value + w[first:first + fan_out]
                first += fan_out
        if self.classes == "tasks":
            each = np.where(np.arange(self.sizes[-1])[None, :] == self.y[rows][:, None], 1.0, -1.0)
            return softplus(-(value * each)).sum(axis=1).mean()
        if self.classes:
            return cross_entropy(value, self.y[rows])
        return square(value - self.y[rows].reshape(-1, 1)).mean() * 0.5


class Clusters(Model):
    """k-means by gradients (Bottou and Bengio, 1995): w is centre after centre."""

    def __init__(self, x, clusters):
        self.x, self.clusters = x, clusters

    def loss(self, w, rows):
        x, centres = self.x[rows], w.reshape(self.clusters, -1)
        nearest = ((x[:, None, :] - centres.value[None]) ** 2).sum(axis=2).argmin(axis=1)
        return square(centres[nearest] - x).sum(axis=1).mean() * 0.5


class FactorizationMachine(Model):
    """Rendle, 2010: for each feature its weight and its factors, and then the constant."""

    def __init__(self, x, y, factors, l2=0.0):
        self.x, self.sign, self.factors, self.l2 = x, np.where(y == 1, 1.0, -1.0), factors, l2

    def loss(self, w, rows):
        x, features = self.x[rows], self.x.shape[1]
        table = w[:features * (self.factors + 1)].reshape(features, self.factors + 1)
        pairs = square(node(x) @ table[:, 1:]) - node(x ** 2) @ square(table[:, 1:])
        score = node(x) @ table[:, :1] + pairs.sum(axis=1, keepdims=True) * 0.5 + w[-1:]
        return softplus(-(score * self.sign[rows].reshape(-1, 1))).mean()


class MatrixFactorization(Model):
    """Koren, Bell, Volinsky, 2009: the users' vectors, the items', and then the constants of both."""

    def __init__(self, users, items, ratings, factors, bias=False, l2=0.0):
        self.users, self.items, self.ratings, self.factors = users, items, ratings, factors
        self.bias, self.l2 = bias, l2
        self.sizes = users.max() + 1, items.max() + 1

    def loss(self, w, rows):
        user, item = self.users[rows], self.items[rows] + self.sizes[0]
        count = sum(self.sizes) * self.factors
        table, constants = w[:count].reshape(-1, self.factors), w[count:]
        guess = (table[user] * table[item]).sum(axis=1)
        if self.bias:
            guess = guess + constants[user] + constants[item]
        return square(guess - self.ratings[rows]).mean() * 0.5


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
        loss = self._forward(_Reader(Node(w)), rows, "capacity" not in FAULTS, False)
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
                    result, penalty = self._route(normed, router, inward, inward_bias, outward, outward_bias, capacity)
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

    def _route(self, value, router, inward, inward_bias, outward, outward_bias, capacity):
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


# ---------------------------------------------------------------------------------------------------------------------
# What the program leaves.


def read_model(path):
    """The head and the parameters of models/ID.model (`simgrad explain models`)."""
    with open(path, "rb") as file:
        head = json.loads(file.readline())
        return head, np.frombuffer(file.read(8 * head["count"]), dtype="<f8").copy()


# ---------------------------------------------------------------------------------------------------------------------
# Optimizers.


class Optimizer:
    """move(w, g) is the change that the next update makes to w with the gradient g."""

    defaults = {"momentum": 0.9, "decay": 0.99, "beta1": 0.9, "beta2": 0.999, "weight_decay": None, "epsilon": None}

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
        if "count" not in FAULTS:
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
        return rate * (k + 1) / self.warmup if k < self.warmup else rate

    def move(self, w, g, at=None, divisor=1.0):
        """`at`: the number of the update for the schedule, where it is not the count of this optimizer's own ones."""
        rate = self.rate_of(self.updates if at is None else at) / divisor
        self.updates += 1
        self.bias_updates += 1
        o = self.o
        if self.clip is not None:
            norm = np.sqrt(g @ g)
            if norm > self.clip:
                g = g * (self.clip / (norm + 1e-6 if "clip_norm" in FAULTS else norm))
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


# ---------------------------------------------------------------------------------------------------------------------
# Strategies. Each is a generator of the parameters that are evaluated: at the start, and after each step.


class Task:
    """A model, the rows of each rank, and an optimizer for each replica.

    batches[step][rank], if given, are the rows of a rank's gradients, in the order in which it computes them; else all
    of its rows are in each.
    """

    def __init__(self, model, start, shards, optimizer, batches=None):
        self.model, self.start, self.shards, self.optimizer = model, start, shards, optimizer
        self.ranks, self.batches = len(shards), batches
        self.begun = [0] * self.ranks

    def _next(self, rank):
        self.begun[rank] += 1
        return self.batches[self.begun[rank] - 1] if self.batches is not None else self.shards

    def of_rank(self, rank, w):
        """A replica's gradient: each row weighs as much as in the mean over all rows of the step, so that the replicas'
        mean gradient is that of the mean loss, also where ranks have unequally many rows."""
        share, mean = self.share_and_mean(rank, w)
        return self.ranks * share * mean

    def share_and_mean(self, rank, w):
        """A rank's share of the rows of a step, and the gradient of the mean loss of its rows."""
        rows = self._next(rank)
        if not len(rows[rank]):
            return 0.0, np.zeros_like(w)
        return len(rows[rank]) / sum(map(len, rows)), self.model.gradient(w, rows[rank])

    def of_rank_alone(self, rank, w):
        return self.share_and_mean(rank, w)[1]

    def of_all(self, w):
        return self.model.gradient(w, np.concatenate(self._next(0)))


def stretches(rows, ranks):
    """Rows in their order, as many for each rank, to within one: stretch r ends at floor((r + 1) rows / ranks)."""
    ends = [rank * rows // ranks for rank in range(ranks + 1)]
    return [np.arange(a, b) for a, b in zip(ends, ends[1:])]


def synchronous(task, steps, code=None):
    """One gradient of all rows a step: single, allreduce, mapreduce, servers with bsp, zero, fsdp, byteps and so on.

    With a code every rank sends the code of its part of the gradient, and remembers what the code leaves out
    (error_feedback): S. U. Stich, J.-B. Cordonnier, M. Jaggi, Sparsified SGD with Memory, 2018; S. P. Karimireddy et
    al., Error Feedback Fixes SignSGD, 2019; majority: J. Bernstein et al., signSGD, 2018.
    """
    w, optimizer = task.start, task.optimizer()
    left = [0.0] * task.ranks
    if "one_worker" in FAULTS and task.ranks == 1:
        code = None
    yield w
    for _ in range(steps):
        if code is None:
            gradient = task.of_all(w)
        else:
            gradient = 0.0
            for rank in range(task.ranks):
                share, mean = task.share_and_mean(rank, w)
                sent = encode(share * mean + left[rank], code)
                if code.get("error_feedback"):
                    left[rank] = share * mean + left[rank] - sent
                gradient = gradient + sent
            if code.get("scale") == "majority":
                gradient = np.sign(gradient)
        w = w + optimizer.move(w, gradient)
        yield w


def encode(vector, code):
    """The numbers that a receiver has; what travels of a number is in single precision."""
    if code["kind"] == "sign":
        size = 1.0 if code.get("scale") == "majority" else float(np.float32(np.abs(vector).mean()))
        return size * np.where(vector < 0, -1.0, 1.0)
    result = np.zeros_like(vector)
    largest = np.argsort(-np.abs(vector), kind="stable")[:code["k"]]
    result[largest] = vector[largest].astype(np.float32)
    return result


def stale_pipeline(task, steps, schedule, stages, layers):
    """Pipelines without an end of the step, whose stages work on older weights; stages: the layers of each.

    PipeDream (Narayanan et al., 2019, section 3.3, weight stashing), for n stages with the rate v:
    w(t + 1) = w(t) - v f'(w_1(t - n + 1), ..., w_n(t)).
   
    PipeDream-2BW (Narayanan et al., 2021): w(t + 1) = w(t) - v f'(w(t - 1)).
    """
    optimizer = task.optimizer()
    history = [task.start]
    yield task.start
    for _ in range(steps):
        seen = history[-2:][0].copy()
        if schedule == "pipedream":
            at = 0
            for stage, count in enumerate(stages):
                old = history[max(0, len(history) - len(stages) + stage)]
                for first, numbers in layers[at:at + count]:
                    seen[first:first + numbers] = old[first:first + numbers]
                at += count
        w = history[-1]
        history.append(w + optimizer.move(w, task.of_all(seen)))
        yield history[-1]


def local_sgd(task, steps, local_steps=8, synchronous_steps=0, slow_momentum=0.0, slow_rate=1.0,
              optimizer_memory="keep"):
    """Stich, 2019; post-local: Lin et al., 2020; SlowMo: Wang et al., 2020, Algorithm 1."""
    replicas = [task.start] * task.ranks
    optimizers = [task.optimizer() for _ in replicas]
    anchor, slow, since = task.start, 0.0, 0
    yield task.start
    for step in range(steps):
        rate = optimizers[0].rate_of(step)
        replicas = [w + o.move(w, task.of_rank(r, w)) for r, (w, o) in enumerate(zip(replicas, optimizers))]
        since += 1
        mean = sum(replicas) / task.ranks
        if step < synchronous_steps or since == local_steps or step + 1 == steps and local_steps == "all":
            if step >= synchronous_steps and (slow_momentum or slow_rate != 1.0):
                slow = slow_momentum * slow + (anchor - mean) / rate
                mean = anchor - slow_rate * rate * slow
            replicas, anchor, since = [mean] * task.ranks, mean, 0
            for o in optimizers:
                if optimizer_memory == "reset":
                    o.forget()
            if optimizer_memory == "average":
                first, second = (sum(getattr(o, v) for o in optimizers) / task.ranks for v in ("first", "second"))
                for o in optimizers:
                    o.first, o.second = first, second
        yield mean


def diloco(task, steps, local_steps=8, outer_rate=0.7, outer_momentum=0.9):
    """Douillard et al., 2023, Algorithm 1, with Nesterov's momentum as Sutskever et al. write it."""
    replicas = [task.start] * task.ranks
    optimizers = [task.optimizer() for _ in replicas]
    outer, momentum = task.start, 0.0
    yield task.start
    for step in range(steps):
        replicas = [w + o.move(w, task.of_rank(r, w)) for r, (w, o) in enumerate(zip(replicas, optimizers))]
        mean = sum(replicas) / task.ranks
        if (step + 1) % local_steps == 0:
            change = outer - mean
            momentum = outer_momentum * momentum + change
            mean = outer = outer - outer_rate * (change + outer_momentum * momentum)
            replicas = [outer] * task.ranks
        yield mean


def federated_averaging(task, rounds, local_steps=5, proximal=0.0):
    """McMahan et al., 2017, with every worker in every round; clients keep nothing from round to round.

    FedProx: Li et al., 2020.
    """
    w = task.start
    optimizers = [task.optimizer() for _ in range(task.ranks)]
    sizes = [len(s) for s in task.shards]
    yield w
    for number in range(rounds):
        replicas = [w] * task.ranks
        for rank, optimizer in enumerate(optimizers):
            optimizer.forget()
            for local in range(local_steps):
                own = replicas[rank]
                gradient = task.of_rank_alone(rank, own) + proximal * (own - w)
                replicas[rank] = own + optimizer.move(own, gradient, at=number * local_steps + local)
        w = sum(n * replica for n, replica in zip(sizes, replicas)) / sum(sizes)
        yield w


def block_sync(task, steps, blocks=4, blocks_a_step=1, periods=None, layers=()):
    """Local steps, and averages of the blocks that are due (round robin, or each in every period-th step).

    As long as a block was due in every step its replicas are the same, with the optimizer's vectors, and its
    gradients are averaged, as by an allreduce.
    """
    d = len(task.start)
    pieces = list(layers) if blocks == "layers" else [(p[0], len(p)) for p in stretches(d, blocks) if len(p)]
    replicas = [task.start] * task.ranks
    optimizers = [task.optimizer() for _ in replicas]
    alike = set(range(len(pieces)))
    yield task.start
    for step in range(steps):
        if periods:
            due = {b for b, period in enumerate(periods) if (step + 1) % period == 0}
        else:
            due = {(step * blocks_a_step + i) % len(pieces) for i in range(min(blocks_a_step, len(pieces)))}
        gradients = [task.of_rank(r, w).copy() for r, w in enumerate(replicas)]
        for first, count in (pieces[b] for b in due & alike):
            shared = sum(g[first:first + count] for g in gradients) / task.ranks
            for g in gradients:
                g[first:first + count] = shared
        replicas = [w + o.move(w, g) for w, o, g in zip(replicas, optimizers, gradients)]
        mean = sum(replicas) / task.ranks
        for first, count in (pieces[b] for b in due):
            for w in replicas:
                w[first:first + count] = mean[first:first + count]
        alike &= due
        yield mean


def easgd(task, exchanges, period=10, moving_rate=0.9):
    """Zhang, Choromanska, LeCun, 2015, synchronous: equations 2 and 3 every `period` local steps,
    with the gradients in front of the elastic forces; all replicas' exchange is one step."""
    centre, alpha = task.start, moving_rate / task.ranks
    replicas = [task.start] * task.ranks
    optimizers = [task.optimizer() for _ in replicas]
    yield centre
    for _ in range(exchanges):
        for _ in range(period):
            replicas = [w + o.move(w, task.of_rank(r, w)) for r, (w, o) in enumerate(zip(replicas, optimizers))]
        forces = [alpha * (w - centre) for w in replicas]
        replicas = [w - f for w, f in zip(replicas, forces)]
        centre = centre + sum(forces)
        yield centre


# Graphs and mixing matrices.


def neighbours(graph, ranks, rows=None):
    """The ranks to whom each rank is joined."""
    joined = [set() for _ in range(ranks)]

    def join(a, b):
        if a != b:
            joined[a].add(b)
            joined[b].add(a)

    if rows is None:
        rows = max(r for r in range(1, int(math.isqrt(ranks)) + 1) if ranks % r == 0)
    columns = ranks // rows
    for a in range(ranks):
        if graph == "ring" or graph == "path" and a + 1 < ranks:
            join(a, (a + 1) % ranks)
        if graph == "complete":
            for b in range(ranks):
                join(a, b)
        if graph == "star":
            join(a, 0)
        if graph == "hypercube":
            for bit in range(ranks.bit_length() - 1):
                join(a, a ^ (1 << bit))
        if graph == "exponential":
            for hop in range((ranks - 1).bit_length()):
                join(a, (a + (1 << hop)) % ranks)
        if graph in ("grid_2d", "torus_2d"):
            row, column = divmod(a, columns)
            if graph == "torus_2d" or column + 1 < columns:
                join(a, row * columns + (column + 1) % columns)
            if graph == "torus_2d" or row + 1 < rows:
                join(a, (row + 1) % rows * columns + column)
    return joined


def mixing_matrix(joined, mixing="metropolis", lazy=False):
    """Xiao and Boyd, 2004: W[i, j] is the weight of j's parameters in i's average."""
    ranks = len(joined)
    w = np.zeros((ranks, ranks))
    most = max(len(n) for n in joined)
    for i in range(ranks):
        for j in joined[i]:
            w[i, j] = 1 / (1 + {"metropolis": max(len(joined[i]), len(joined[j])), "uniform": len(joined[i]),
                                "max_degree": most}[mixing])
        w[i, i] = 1 - w[i].sum()
    return (np.eye(ranks) + w) / 2 if lazy else w


def _mix(w, vectors):
    return list(w @ np.array(vectors))


def gossip(task, steps, matrix, update="combine_then_adapt"):
    """Lian et al., 2017, Algorithm 1; its order of averaging and stepping is `combine_then_adapt`."""
    replicas = [task.start] * task.ranks
    optimizers = [task.optimizer() for _ in replicas]
    yield task.start
    for _ in range(steps):
        gradients = [task.of_rank(r, w) for r, w in enumerate(replicas)]
        if update == "gradient_exchange":
            gradients = _mix(matrix, gradients)
        if update == "combine_then_adapt":
            replicas = _mix(matrix, replicas)
        replicas = [w + o.move(w, g) for o, w, g in zip(optimizers, replicas, gradients)]
        if update == "adapt_then_combine":
            replicas = _mix(matrix, replicas)
        yield sum(replicas) / task.ranks


def choco(task, steps, matrix, code, consensus_step, update="adapt_then_combine"):
    """A. Koloskova, S. Stich, M. Jaggi, Decentralized Stochastic Optimization and Gossip Algorithms with Compressed
    Communication, 2019, Algorithm 2 (a step, and then the average; `combine_then_adapt` has them the other way round).
    All copies begin at the start, which everybody knows."""
    replicas, copies = [task.start] * task.ranks, [task.start] * task.ranks
    optimizers = [task.optimizer() for _ in replicas]
    yield task.start
    for _ in range(steps):
        gradients = [task.of_rank(r, w) for r, w in enumerate(replicas)]
        if update == "adapt_then_combine":
            replicas = [w + o.move(w, g) for o, w, g in zip(optimizers, replicas, gradients)]
        copies = [c + encode(w - c, code) for w, c in zip(replicas, copies)]
        replicas = [w + consensus_step * (m - c) for w, c, m in zip(replicas, copies, _mix(matrix, copies))]
        if update == "combine_then_adapt":
            replicas = [w + o.move(w, g) for o, w, g in zip(optimizers, replicas, gradients)]
        yield sum(replicas) / task.ranks


def d2(task, steps, matrix):
    """Tang et al., 2018, Algorithm 1."""
    replicas = [task.start] * task.ranks
    optimizers = [task.optimizer() for _ in replicas]
    before = None
    yield task.start
    for _ in range(steps):
        moves = [o.move(w, task.of_rank(r, w)) for r, (o, w) in enumerate(zip(optimizers, replicas))]
        if before is None:
            halves = [w + m for w, m in zip(replicas, moves)]
        else:
            halves = [2 * w - v + m - n for w, m, v, n in zip(replicas, moves, *before)]
        before = (replicas, moves)
        replicas = _mix(matrix, halves)
        yield sum(replicas) / task.ranks


def gradient_tracking(task, steps, matrix):
    """Nedic, Olshevsky, Shi, 2017 (DIGing)."""
    replicas = [task.start] * task.ranks
    gradients = [task.of_rank(r, w) for r, w in enumerate(replicas)]
    tracked = gradients
    optimizers = [task.optimizer() for _ in replicas]
    yield task.start
    for _ in range(steps):
        replicas = [w + o.move(w, y) for o, w, y in zip(optimizers, _mix(matrix, replicas), tracked)]
        fresh = [task.of_rank(r, w) for r, w in enumerate(replicas)]
        tracked = [y + g - h for y, g, h in zip(_mix(matrix, tracked), fresh, gradients)]
        gradients = fresh
        yield sum(replicas) / task.ranks


def exponential_turns(ranks, directed):
    """The peers to which each rank of an exponential graph sends in turn.

    directed: those at the distances 1, 2, 4, ..., as Assran et al. have them; else those on both sides of it.
    """
    hops = []
    for hop in (1 << i for i in range((ranks - 1).bit_length())):
        for distance in (hop, ranks - hop)[:1 if directed else 2]:
            if distance not in hops:
                hops.append(distance)
    return [[(rank + hop) % ranks for hop in hops] for rank in range(ranks)]


def sgp(task, steps, outgoing, one_peer=True, overlap=False):
    """Assran et al., 2019, Algorithm 1; overlap: Algorithm 2, a share counts a step later.

    outgoing: the ranks to which each rank sends, in the order of its turns.
    """
    values, weights = [task.start] * task.ranks, np.ones(task.ranks)
    optimizers = [task.optimizer() for _ in values]
    late = ([0.0] * task.ranks, np.zeros(task.ranks))
    yield task.start
    for step in range(steps):
        ratios = [x / w for x, w in zip(values, weights)]
        values = [x + o.move(x, task.of_rank(r, z))
                  for r, (x, z, o) in enumerate(zip(values, ratios, optimizers))]
        kept, sent = [None] * task.ranks, [0.0] * task.ranks
        kept_weight, sent_weight = np.zeros(task.ranks), np.zeros(task.ranks)
        for rank, others in enumerate(outgoing):
            to = [others[step % len(others)]] if one_peer else others
            share = 1 / (1 + len(to))
            kept[rank], kept_weight[rank] = share * values[rank], share * weights[rank]
            for peer in to:
                sent[peer] = sent[peer] + share * values[rank]
                sent_weight[peer] += share * weights[rank]
        come = late if overlap else (sent, sent_weight)
        values = [a + b for a, b in zip(kept, come[0])]
        weights = kept_weight + come[1]
        late = (sent, sent_weight)
        yield sum(x / w for x, w in zip(values, weights)) / task.ranks


# Asynchronous strategies, in an order of events that the run itself gives. The schedule of the learning rate counts as
# many updates as there are ranks as one step.


def asynchronous_server(task, order, versions, gradient="sum", staleness_aware=False, delay_compensation=0.0):
    """Li et al., 2014, with every gradient applied as it comes.

    order: the ranks of the updates; versions[rank]: after how many updates the parameters were, of which the rank
    computed its gradients, one after the other. staleness_aware: Zhang et al., 2016, the rate over the staleness;
    delay_compensation: Zheng et al., 2017, equation 10, of a worker's own mean gradient.
    """
    history, optimizer = [task.start], task.optimizer()
    used = [0] * task.ranks
    yield task.start
    for update, rank in enumerate(order):
        version = versions[rank][used[rank]]
        used[rank] += 1
        w, seen = history[-1], history[version]
        share, g = task.share_and_mean(rank, seen)
        if delay_compensation:
            g = g + delay_compensation * g * g * (w - seen)
        g = g * share * (1 if gradient == "sum" else task.ranks)
        divisor = max(update - version, 1) if staleness_aware else 1
        history.append(w + optimizer.move(w, g, update / task.ranks, divisor))
        yield history[-1]


def asynchronous_easgd(task, order, period=10, moving_rate=0.9):
    """Zhang, Choromanska, LeCun, 2015, Algorithm 1; order: the ranks of the exchanges with the centre."""
    centre, alpha = task.start, moving_rate / task.ranks
    replicas = [task.start] * task.ranks
    optimizers = [task.optimizer() for _ in replicas]
    yield centre
    for rank in order:
        w = replicas[rank]
        for _ in range(period):
            w = w + optimizers[rank].move(w, task.of_rank(rank, w))
        force = alpha * (w - centre)
        replicas[rank], centre = w - force, centre + force
        yield centre


def hogwild(task, events):
    """Niu et al., 2011, on dense models; events: ("read" or "update", rank) in their order."""
    w, optimizer = task.start, task.optimizer()
    seen, updates = {}, 0
    yield w
    for what, rank in events:
        if what == "read":
            seen[rank] = w
        else:
            w = w + optimizer.move(w, task.of_rank(rank, seen[rank]) / task.ranks, updates / task.ranks)
            updates += 1
            yield w


# ---------------------------------------------------------------------------------------------------------------------
# The oracle's own test.


def gradient_error(model, rows, w, random, checks=12, step=1e-5):
    """The largest difference between gradients and central differences, over the gradient's largest number."""
    g, worst = model.gradient(w, rows), 0.0
    directions = [random.normal(size=len(w)) / np.sqrt(len(w)) for _ in range(3)]
    directions += list(np.eye(len(w))[random.choice(len(w), min(checks, len(w)), replace=False)])
    for d in directions:
        up, down = (float(model.penalised(Node(w + s * step * d), rows).value) for s in (1, -1))
        worst = max(worst, abs((up - down) / (2 * step) - g @ d))
    return worst / np.abs(g).max()


def self_test():
    """Holds the gradients of every model to central differences; the texts of what is wrong."""
    random, wrong = np.random.default_rng(1), []
    x, rows = random.normal(size=(9, 3)), np.arange(9)
    number, label = random.normal(size=9), random.integers(0, 3, 9)
    models = [("least squares", Linear("least_squares", x, number, 0, True, 0.1), 4),
              ("logistic", Linear("logistic_regression", x, label % 2, 2, True, 0.1), 4),
              ("softmax", Linear("softmax_regression", x, label, 3, False, 0.1), 9)]
    for activation in ("relu", "tanh"):
        models.append((activation, Perceptron(x, label, 3, [4, 5], activation), 16 + 25 + 18))
        models.append((activation, Perceptron(x, number, 1, [4], activation, False, 0.1, False), 16))
    tokens = random.integers(0, 5, (4, 7))
    for options in ({"gated": True, "tied": False, "norm": "rms_norm", "positions": "rotary", "kv_heads": 1},
                    {"gated": False, "tied": True, "bias": True, "l2": 0.1},
                    {"gated": True, "experts": 4, "top_k": 2, "capacity_factor": 0.75, "auxiliary_loss": 0.3},
                    {"experts": 3, "top_k": 1, "expert_every": 2, "bias": False, "positions": "none"}):
        o = dict({"layers": 2, "hidden": 8, "heads": 2}, **options)
        model = Transformer(o, tokens[:, :-1], tokens[:, 1:], 5)
        models.append((str(options), model, model.count()))
    for name, model, count in models:
        among = np.arange(4) if isinstance(model, Transformer) else rows
        error = gradient_error(model, among, 0.3 * random.normal(size=count), random)
        if not error < 1e-7:
            wrong.append(f"the gradient of {name} differs from central differences by {error:.1e}")
    return wrong


if __name__ == "__main__":
    problems = self_test()
    print("\n".join(problems) or "all gradients agree with central differences")
    raise SystemExit(1 if problems else 0)
