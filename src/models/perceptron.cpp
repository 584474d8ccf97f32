#include "models/perceptron.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "base/errors.h"
#include "base/random.h"
#include "models/dense_layers.h"

namespace simgrad::models {

namespace {

constexpr std::array activations{base::Choice{"relu", "max(z, 0), from He's initial values"},
                                 base::Choice{"tanh", "tanh(z), from Glorot's initial values"}};
constexpr std::array tasks{
    base::Choice{"auto", "the task of the data source; a file may hold either, so give one of the other two"},
    base::Choice{"regression", "one output, half the squared error"},
    base::Choice{"classification", "one output a class, the cross-entropy of their softmax"}};

/// The target of a block's sample i.
double target(const Samples& rows, const OutputBlock& block, std::int64_t i) {
  return rows.targets[rows.row(block.first + i)];
}

std::span<double> outputs_of(const OutputBlock& block, std::int64_t i) {
  const std::size_t width = block.outputs.size() / static_cast<std::size_t>(block.rows);
  return block.outputs.subspan(static_cast<std::size_t>(i) * width, width);
}

/// Replaces each z_c by exp(z_c - z_max). Returns their sum, which lies between 1 and the number of classes.
double exponentials(std::span<double> z) {
  const double z_max = *std::max_element(z.begin(), z.end());
  double sum = 0.0;
  for (double& z_c : z) sum += z_c = std::exp(z_c - z_max);
  return sum;
}

/// Replaces the outputs by p_c - [c = y], times scale.
void cross_entropy_slopes(std::span<double> z, double y, double scale) {
  const double factor = scale / exponentials(z);
  for (double& z_c : z) z_c *= factor;
  z[class_number(y, z.size())] -= scale;
}

Score cross_entropy(std::span<double> z, double y) {
  const std::size_t own = class_number(y, z.size());
  const auto best = static_cast<std::size_t>(std::max_element(z.begin(), z.end()) - z.begin());
  const double behind = z[best] - z[own];
  return {.loss = behind + std::log(exponentials(z)), .metric = best == own ? 1.0 : 0.0};
}

}  // namespace

void describe_hidden_layers(base::Describer& d, std::vector<double>& hidden, Activation& activation,
                            std::string_view without) {
  constexpr base::Bounds units{.least = 1.0, .most = 1e6};
  d.numbers("hidden", hidden, "units of each hidden layer, from the inputs on: [256, 64]", units);
  d.choice("activation", activation, activations, "the activation of hidden units");
  if (hidden.empty()) d.refuse("hidden", without);
  if (std::ranges::any_of(hidden, [](double width) { return width != std::floor(width); }))
    d.refuse("hidden", "units are counted: expected whole numbers, as in hidden = [256, 64]");
}

void Perceptron::describe(base::Describer& d) {
  describe_hidden_layers(d, hidden, activation);
  d.choice("task", outputs, tasks, "the kind of prediction");
  d.flag("bias", bias, "a constant feature for every unit and output; penalised like the weights");
  d.number("l2", l2, "the weight of the penalty l2/2 |w|^2 on all parameters", base::Bounds::at_least(0.0));
}

Predicts Perceptron::predicts() const {
  if (outputs == Outputs::as_the_data) return Predicts::number_or_class;
  return outputs == Outputs::number ? Predicts::number : Predicts::classes;
}

std::string Perceptron::refusal(const Problem& problem) const {
  if (problem.classes == 1) return "perceptron needs two classes or more, but the data have 1";
  return {};
}

std::vector<std::int64_t> Perceptron::widths(const Problem& problem) const {
  std::vector<std::int64_t> all{problem.features};
  for (const double width : hidden) all.push_back(static_cast<std::int64_t>(width));
  all.push_back(std::max(problem.classes, 1));
  return all;
}

std::vector<Layer> Perceptron::layers(const Problem& problem) const {
  return layers(problem, {.first_unit = 0, .end_unit = static_cast<std::int64_t>(hidden.size()) + 1});
}

std::int64_t Perceptron::parameters(const Problem& problem) const {
  const Layer last = layers(problem).back();
  return last.first + last.count;
}

void Perceptron::initial_values(const Problem& problem, std::uint64_t seed, std::span<double> w) const {
  std::fill(w.begin(), w.end(), 0.0);
  const std::vector<std::int64_t> width = widths(problem);
  const std::vector<Layer> all = layers(problem);
  for (std::size_t l = 0; l < all.size(); ++l) {
    base::Stream stream({.seed = seed, .purpose = base::Purpose::initial_values, .step = l});
    const auto in = static_cast<double>(width[l]), out = static_cast<double>(width[l + 1]);
    const double he = std::sqrt(2.0 / in), glorot = std::sqrt(6.0 / (in + out));
    for (double& w_j :
         w.subspan(static_cast<std::size_t>(all[l].first), static_cast<std::size_t>(width[l] * width[l + 1])))
      w_j = activation == Activation::relu ? he * stream.normal() : glorot * (2.0 * stream.uniform() - 1.0);
  }
}

void Perceptron::gradient(const Problem& problem, const Samples& rows, std::span<const double> w, double scale,
                          double penalty_scale, std::span<double> gradient) const {
  check_shapes(problem, rows, w);
  begin_gradient(w, penalty_scale, gradient);
  const DenseShape shape{widths(problem), bias, activation};
  pass_backward(shape, rows, w, gradient, [&](const OutputBlock& block) { derive_loss(problem, rows, scale, block); });
}

void Perceptron::derive_loss(const Problem& problem, const Samples& rows, double scale,
                             const OutputBlock& block) const {
  for (std::int64_t i = 0; i < block.rows; ++i) {
    const std::span<double> z = outputs_of(block, i);
    const double y = target(rows, block, i);
    if (problem.classes > 0)
      cross_entropy_slopes(z, y, scale);
    else
      z[0] = scale * (z[0] - y);
  }
}

Score Perceptron::score(const Problem& problem, const Samples& rows, std::span<const double> w) const {
  check_shapes(problem, rows, w);
  Score sum;
  const DenseShape shape{widths(problem), bias, activation};
  pass_forward(shape, rows, w, [&](const OutputBlock& block) {
    for (std::int64_t i = 0; i < block.rows; ++i) {
      const std::span<double> z = outputs_of(block, i);
      const double y = target(rows, block, i);
      const double residual = z[0] - y;
      const Score one = problem.classes > 0 ? cross_entropy(z, y)
                                            : Score{.loss = 0.5 * residual * residual, .metric = residual * residual};
      sum.loss += one.loss;
      sum.metric += one.metric;
    }
  });
  return sum;
}

void Perceptron::predict(const Problem& problem, const Samples& rows, std::span<const double> w,
                         std::span<double> predictions) const {
  check_shapes(problem, rows, w);
  const DenseShape shape{widths(problem), bias, activation};
  std::size_t next = 0;
  pass_forward(shape, rows, w, [&](const OutputBlock& block) {
    for (std::int64_t i = 0; i < block.rows; ++i) {
      const std::span<double> z = outputs_of(block, i);
      const double sum = problem.classes > 0 ? exponentials(z) : 1.0;
      for (const double z_c : z) predictions[next++] = z_c / sum;
    }
  });
}

}  // namespace simgrad::models
