// The perceptron against PyTorch, its shapes and costs counted by hand, its initial values against their moments.
#include "models/perceptron.h"

#include <cmath>
#include <numeric>

#include "catch.h"
#include "models/sample_data.h"

namespace perceptron_test {

using namespace simgrad::models;
using namespace simgrad::models::test;

namespace {

Perceptron network(std::vector<double> hidden, Activation activation, double l2 = 0.0) {
  Perceptron model;
  model.hidden = std::move(hidden);
  model.activation = activation;
  model.l2 = l2;
  return model;
}

/// ((5 j) mod 9 - 4) / 8 + offset: with an offset no sum of them is zero, where relu has no slope.
std::vector<double> parameters_of(std::int64_t length, double offset) {
  std::vector<double> w = sample_parameters(length);
  for (double& w_j : w) w_j += offset;
  return w;
}

std::vector<double> start(const Perceptron& model, const Problem& problem, std::uint64_t seed) {
  std::vector<double> w(static_cast<std::size_t>(model.parameters(problem)), 9.0);
  model.initial_values(problem, seed, w);
  return w;
}

double variance(std::span<const double> w) {
  double squares = 0.0;
  for (const double w_j : w) squares += w_j * w_j;
  return squares / static_cast<double>(w.size());
}

// Recorded from PyTorch 1.13.1 (float64; torch.nn.Linear layers, vector_to_parameters, autograd), on 100 rows of 5
// features: mean loss with l2 = 0.1, the metric's sum, and of the gradient of that loss the sum, the norm, the sum of
// j g_j with j from 1, the first and the last.
struct Recorded {
  std::vector<double> hidden;
  Activation activation;
  int classes;
  double offset;
  double loss, metric, sum, norm, weighted, first, last;
};
const Recorded recorded[] = {{{6, 4},
                              Activation::tanh,
                              0,
                              0.0,
                              1.2530181884541387,
                              178.25988769082775,
                              0.4455542834383086,
                              1.3106074127367606,
                              37.201373658612056,
                              -0.031925753766376734,
                              0.8920097053429761},
                             {{6, 4},
                              Activation::tanh,
                              3,
                              0.0,
                              1.7456979542251143,
                              0,
                              0.7205629895961445,
                              0.9419057338866942,
                              41.48113689815136,
                              -0.0685669990119577,
                              -0.05900849615594296},
                             {{6, 4},
                              Activation::relu,
                              0,
                              0.03,
                              1.267260757450329,
                              180.71240149006576,
                              1.7591867781651607,
                              1.321826994067208,
                              129.8457269375216,
                              -0.07559154125551171,
                              0.901288310625},
                             {{8},
                              Activation::relu,
                              4,
                              0.03,
                              1.8732699862044697,
                              27,
                              0.17629250730529786,
                              0.47245375312738724,
                              8.581361401678492,
                              -0.08505400941120683,
                              0.032469472482837276}};

}  // namespace

TEST_CASE("loss, metric and gradient of perceptrons are PyTorch's") {
  for (const Recorded& r : recorded) {
    CAPTURE(r.classes, r.hidden.size());
    const Data data = sample_data(100, 5, r.classes);
    const Perceptron model = network(r.hidden, r.activation, 0.1);
    const std::vector<double> w = parameters_of(model.parameters(data.problem), r.offset);
    const Score score = model.score(data.problem, data.all(), w);
    CHECK(score.loss / 100 + model.penalty(w) == Approx(r.loss).epsilon(1e-12));
    CHECK(score.metric == Approx(r.metric).epsilon(1e-12));
    const auto g = gradient(model, data.problem, data.all(), w, 0.01, 1.0);
    double weighted = 0.0;
    for (std::size_t j = 0; j < g.size(); ++j) weighted += static_cast<double>(j + 1) * g[j];
    CHECK(std::accumulate(g.begin(), g.end(), 0.0) == Approx(r.sum).epsilon(1e-11));
    CHECK(std::sqrt(variance(g) * static_cast<double>(g.size())) == Approx(r.norm).epsilon(1e-12));
    CHECK(weighted == Approx(r.weighted).epsilon(1e-11));
    CHECK(g.front() == Approx(r.first).epsilon(1e-11));
    CHECK(g.back() == Approx(r.last).epsilon(1e-11));
  }
}

TEST_CASE("a perceptron's layers are counted by hand: weights, then biases, 2 flops a weight and product") {
  const Problem problem{.features = 5, .classes = 3};
  const Perceptron model = network({6, 4}, Activation::relu);
  // 5 x 6 + 6, 6 x 4 + 4, 4 x 3 + 3
  CHECK(model.parameters(problem) == 36 + 28 + 15);
  const std::vector<Layer> layers = model.layers(problem);
  REQUIRE(layers.size() == 3);
  CHECK(layers[1].first == 36);
  CHECK(layers[1].count == 28);
  CHECK(layers[2].first == 64);
  CHECK(layers[0].forward_flops == 2 * 30);
  CHECK(layers[0].backward_flops == 2 * 30);  // the features need no gradient
  CHECK(layers[1].backward_flops == 4 * 24);
  CHECK(layers[2].backward_flops == 4 * 12);
  CHECK(model.gradient_flops(problem, 10) == 10 * (4 * 30 + 6 * 24 + 6 * 12));

  Perceptron plain = network({6, 4}, Activation::relu);
  plain.bias = false;
  CHECK(plain.parameters(problem) == 30 + 24 + 12);
  CHECK_FALSE(plain.constant_feature());
  CHECK_FALSE(model.constant_feature());
}

TEST_CASE("a perceptron without biases is one whose biases are zero") {
  const Data data = sample_data(70, 5, 0);
  Perceptron plain = network({3}, Activation::tanh);
  plain.bias = false;
  const std::vector<double> w = parameters_of(5 * 3 + 3, 0.0);
  std::vector<double> with(w.begin(), w.begin() + 15);
  with.insert(with.end(), 3, 0.0);
  with.insert(with.end(), w.begin() + 15, w.end());
  with.push_back(0.0);
  const Perceptron biased = network({3}, Activation::tanh);
  CHECK(plain.score(data.problem, data.all(), w).loss == biased.score(data.problem, data.all(), with).loss);
  const auto g = gradient(plain, data.problem, data.all(), w, 1.0, 0.0);
  const auto g_biased = gradient(biased, data.problem, data.all(), with, 1.0, 0.0);
  for (std::size_t j = 0; j < 15; ++j) CHECK(g[j] == g_biased[j]);
  for (std::size_t j = 0; j < 3; ++j) CHECK(g[15 + j] == g_biased[18 + j]);
}

TEST_CASE("initial weights have He's variance 2 / in for relu and Glorot's 2 / (in + out) for tanh, biases are zero") {
  const Problem problem{.features = 200, .classes = 0};
  const auto weights = [](const std::vector<double>& w) { return std::span(w).subspan(0, 200 * 300); };
  const std::vector<double> relu = start(network({300}, Activation::relu), problem, 1);
  const std::vector<double> tanh = start(network({300}, Activation::tanh), problem, 1);
  // The variance of 60000 draws has a standard error of sqrt(2 / 60000) = 0.6 %, of uniform ones of 0.4 %.
  CHECK(variance(weights(relu)) == Approx(2.0 / 200).epsilon(0.02));
  CHECK(variance(weights(tanh)) == Approx(2.0 / 500).epsilon(0.02));
  for (const double w : weights(tanh)) CHECK(std::abs(w) <= std::sqrt(6.0 / 500));
  for (const auto& w : {relu, tanh}) {
    for (std::size_t j = 60000; j < 60300; ++j) CHECK(w[j] == 0.0);
    CHECK(w.back() == 0.0);
  }
  CHECK(start(network({300}, Activation::relu), problem, 1) == relu);
  CHECK(start(network({300}, Activation::relu), problem, 2) != relu);
}

TEST_CASE("a perceptron predicts what it is told to, else what the data have, and needs two classes") {
  Perceptron model;
  CHECK(model.predicts() == Predicts::number_or_class);
  model.outputs = Perceptron::Outputs::number;
  CHECK(model.predicts() == Predicts::number);
  model.outputs = Perceptron::Outputs::classes;
  CHECK(model.predicts() == Predicts::classes);
  CHECK(model.metric({.features = 2, .classes = 3}) == "accuracy");
  CHECK(model.metric({.features = 2, .classes = 0}) == "r2");
  CHECK(model.refusal({.features = 2, .classes = 0}).empty());
  CHECK(model.refusal({.features = 2, .classes = 1}) == "perceptron needs two classes or more, but the data have 1");
}

}  // namespace perceptron_test
