"""The models of tables, sparse rows and ratings, from least squares to perceptrons.

Written without reading src/. Each has loss(w, rows): the mean of its rows' losses as a node, for a flat vector w.
"""

import numpy as np

from autograd import Node, cross_entropy, node, relu, softplus, square, tanh


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
