"""What simgrad's trainings must compute, said a second time in numpy.

This file and those that it imports from were written without reading src/ or the tests in C++. They follow the
documents of simgrad (README.md, docs/, `simgrad explain`) where they define an option, and otherwise these
publications:

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
  D. Yin et al., Byzantine-Robust Distributed Learning: Towards Optimal Statistical Rates, 2018 (medians, trimmed
    means); P. Blanchard et al., Machine Learning with Adversaries: Byzantine Tolerant Gradient Descent, 2017 (Krum).
  M. Li et al., Scaling Distributed Machine Learning with the Parameter Server, 2014; S. Zheng et al., Asynchronous
    Stochastic Gradient Descent with Delay Compensation, 2017; W. Zhang et al., Staleness-aware Async-SGD, 2016; F. Niu
    et al., HOGWILD!, 2011; J. Tsitsiklis, D. Bertsekas, M. Athans, Distributed Asynchronous Gradient Optimization
    Algorithms, 1986.
  S. Gupta et al., Deep Learning with Limited Numerical Precision, 2015; D. Alistarh et al., QSGD, 2017; IEEE 754, 2019;
    H. Tang et al., DoubleSqueeze, 2019, and 1-bit Adam, 2021 (codes of sums); S. P. Lloyd, Least squares quantization
    in PCM, 1982.

Some conventions stand in neither. They were found from the results of runs, among forms that are all published or
equal in the mean, so that the oracle cannot tell whether they are right: the order of the parameters in a file; the
epsilon of norms (1e-5), the base (10000) and the pairs of rotary positions, GELU by erf; an expert's capacity rounded
up, first choices in front of second ones; the weight of a row where ranks have unequally many; where stretches of
rows and blocks of parameters end; block_sync's average of gradients while replicas are the same; the step of a
schedule under asynchronous strategies; SlowMo left out of synchronous steps; the order of turns in an undirected
exponential graph (on a hypercube it is not compared); copies of gossip with compression that begin at the start;
which parameters weight decay shrinks where a strategy has two candidates; units of int8 and norms of qsgd rounded up
to single precision; where the chunks of scattered codes end; a rank of async_broadcast that counts the updates which it
has for its learning rate. Which rows a drawn partition gives to whom is not known, but asked (learning_runs.py).

The parts are in autograd.py (gradients), models.py and transformer.py, optimizers.py, codes.py (compression),
recursions.py (one model), averaging.py (local steps), mixing.py (gossip), asynchrony.py, and known.py (the faults that
are asked for). This file shows them under one name, and has their own test; switch_layer.py holds the layer of experts
to PyTorch's numbers. They need nothing but Python and numpy.
"""

import numpy as np

import known
from asynchrony import async_broadcast, asynchronous_easgd, asynchronous_server, hogwild
from autograd import gradient_error
from averaging import block_sync, diloco, easgd, federated_averaging, local_sgd
from mixing import (choco, d2, exponential_turns, gossip, gradient_tracking, matrices_of_turns, mixing_matrix, neighbours,
                    peers_in_turn, sgp)
from models import Clusters, FactorizationMachine, Linear, MatrixFactorization, Perceptron
from optimizers import Optimizer
from recursions import Task, lloyd, scattered, stale_pipeline, stretches, synchronous
from transformer import Transformer

__all__ = ["Clusters", "FactorizationMachine", "Linear", "MatrixFactorization", "Optimizer", "Perceptron", "Task",
           "Transformer", "async_broadcast", "asynchronous_easgd", "asynchronous_server", "block_sync", "choco", "d2",
           "diloco", "easgd", "exponential_turns", "federated_averaging", "gossip", "gradient_tracking", "hogwild",
           "lloyd", "local_sgd", "matrices_of_turns", "mixing_matrix", "neighbours", "peers_in_turn", "scattered", "self_test",
           "sgp", "stale_pipeline", "stretches", "synchronous"]


def gradient_test():
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


def clipped():
    return Optimizer(clip=0.5).move(np.zeros(2), np.ones(2))


def counted_after_forgetting():
    optimizer = Optimizer("adam")
    for gradient in (1.0, 3.0):
        optimizer.move(np.zeros(1), np.array([gradient]))
        optimizer.forget()
    return optimizer.move(np.zeros(1), np.ones(1))


def evaluated_with_experts():
    tokens = np.random.default_rng(2).integers(0, 5, (4, 7))
    model = Transformer({"layers": 1, "hidden": 4, "heads": 2, "experts": 2, "top_k": 1, "capacity_factor": 0.25},
                        tokens[:, :-1], tokens[:, 1:], 5)
    return model.value(np.random.default_rng(3).normal(size=model.count()), np.arange(4))


def compressed_by_one_worker():
    model = Linear("least_squares", np.eye(3), np.ones(3))
    task = Task(model, np.zeros(3), stretches(3, 1), Optimizer)
    return list(synchronous(task, 1, {"kind": "top_k", "k": 1}))[-1]


def broadcast_by_adam():
    model = Linear("least_squares", np.eye(2), np.ones(2))
    task = Task(model, np.zeros(2), stretches(2, 2), lambda: Optimizer("adam"))
    events = [(what, rank) for rank in (0, 1) for what in ("read", "move", "update")]
    return list(async_broadcast(task, [*events[:3], ("add", 1, 0, 0), *events[3:]]))[-1]


def fault_test():
    """Holds each fault that can be asked for to what it changes, in whatever module; the texts of what is wrong."""
    wrong, the_set, before = [], known.FAULTS, set(known.FAULTS)
    for word, result in {"capacity": evaluated_with_experts, "clip_norm": clipped, "count": counted_after_forgetting,
                         "one_worker": compressed_by_one_worker, "broadcast_count": broadcast_by_adam}.items():
        known.suppose()
        without = result()
        known.suppose({word})
        if np.array_equal(without, result()):
            wrong.append(f"the fault {word} changes nothing when it is asked for")
        known.suppose()
        if not np.array_equal(without, result()):
            wrong.append(f"the fault {word} stays when it is no longer asked for")
    known.suppose(before)
    if known.FAULTS is not the_set:
        wrong.append("there is more than one set of faults")
    return wrong


def self_test():
    """The texts of all that is wrong with the oracle itself."""
    return gradient_test() + fault_test()


if __name__ == "__main__":
    problems = self_test()
    print("\n".join(problems) or "all gradients agree with central differences, and all faults that are asked for show")
    raise SystemExit(1 if problems else 0)
