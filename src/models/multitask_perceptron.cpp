#include "models/multitask_perceptron.h"

#include <algorithm>
#include <cmath>

#include "models/dense_layers.h"

namespace simgrad::models {

namespace {

/// The logistic loss: log(1 + exp(-z)) for a row of the task's class, log(1 + exp(z)) for any other.
double logistic_loss(double z, bool own) {
  return std::max(z, 0.0) - (own ? z : 0.0) + std::log1p(std::exp(-std::abs(z)));
}

double sigmoid(double z) { return z >= 0.0 ? 1.0 / (1.0 + std::exp(-z)) : std::exp(z) / (1.0 + std::exp(z)); }

/// Calls `visit` with each row's outputs and its class.
template <class Visit>
void each_row(const Samples& rows, const OutputBlock& block, Visit visit) {
  const std::size_t width = block.outputs.size() / static_cast<std::size_t>(block.rows);
  for (std::int64_t i = 0; i < block.rows; ++i)
    visit(block.outputs.subspan(static_cast<std::size_t>(i) * width, width),
          static_cast<std::size_t>(rows.targets[rows.row(block.first + i)]));
}

}  // namespace

void MultitaskPerceptron::describe(base::Describer& d) { describe_hidden_layers(d, hidden, activation); }

Perceptron MultitaskPerceptron::network() const {
  Perceptron network;
  network.hidden = hidden;
  network.activation = activation;
  return network;
}

std::string MultitaskPerceptron::refusal(const Problem& problem) const { return network().refusal(problem); }

void MultitaskPerceptron::gradient(const Problem& problem, const Samples& rows, std::span<const double> w, double scale,
                                   double penalty_scale, std::span<double> gradient) const {
  begin_gradient(w, penalty_scale, gradient);
  add_task_gradient(problem, rows, {0, tasks(problem)}, w, scale, gradient);
}

void MultitaskPerceptron::task_gradient(const Problem& problem, const Samples& rows, const Tasks& tasks,
                                        std::span<const double> w, double scale, std::span<double> gradient) const {
  begin_gradient(w, 0.0, gradient);
  add_task_gradient(problem, rows, tasks, w, scale, gradient);
}

void MultitaskPerceptron::add_task_gradient(const Problem& problem, const Samples& rows, const Tasks& tasks,
                                            std::span<const double> w, double scale, std::span<double> gradient) const {
  check_shapes(problem, rows, w);
  const DenseShape shape{network().widths(problem), true, activation};
  pass_backward(shape, rows, w, gradient, [&](const OutputBlock& block) {
    each_row(rows, block, [&](std::span<double> z, std::size_t own) {
      for (std::size_t t = 0; t < z.size(); ++t) {
        const bool asked =
            static_cast<std::int64_t>(t) >= tasks.first && static_cast<std::int64_t>(t) < tasks.first + tasks.count;
        z[t] = asked ? scale * (sigmoid(z[t]) - (t == own ? 1.0 : 0.0)) : 0.0;
      }
    });
  });
}

Score MultitaskPerceptron::score(const Problem& problem, const Samples& rows, std::span<const double> w) const {
  check_shapes(problem, rows, w);
  Score sum;
  const DenseShape shape{network().widths(problem), true, activation};
  pass_forward(shape, rows, w, [&](const OutputBlock& block) {
    each_row(rows, block, [&](std::span<double> z, std::size_t own) {
      for (std::size_t t = 0; t < z.size(); ++t) sum.loss += logistic_loss(z[t], t == own);
      sum.metric += static_cast<std::size_t>(std::ranges::max_element(z) - z.begin()) == own ? 1.0 : 0.0;
    });
  });
  return sum;
}

std::vector<Layer> MultitaskPerceptron::task_layers(const Problem& problem, const Tasks& asked) const {
  std::vector<Layer> all = layers(problem);
  Layer& last = all.back();
  const double share = static_cast<double>(asked.count) / static_cast<double>(tasks(problem));
  last.forward_flops *= share;
  last.backward_flops *= share;
  last.rows = asked.count;
  last.count = asked.count * (last.columns + 1);
  for (Product& product : last.products) product.n *= share;
  return all;
}

ParameterRange MultitaskPerceptron::shared(const Problem& problem) const { return {0, layers(problem).back().first}; }

std::vector<ParameterRange> MultitaskPerceptron::own(const Problem& problem, const Tasks& asked) const {
  const std::int64_t units = static_cast<std::int64_t>(hidden.back());
  const std::int64_t weights = shared(problem).count;
  const std::int64_t biases = weights + units * tasks(problem);
  return {{weights + units * asked.first, units * asked.count}, {biases + asked.first, asked.count}};
}

void MultitaskPerceptron::predict(const Problem& problem, const Samples& rows, std::span<const double> w,
                                  std::span<double> predictions) const {
  check_shapes(problem, rows, w);
  const DenseShape shape{network().widths(problem), true, activation};
  std::size_t next = 0;
  pass_forward(shape, rows, w, [&](const OutputBlock& block) {
    for (const double z : block.outputs) predictions[next++] = sigmoid(z);
  });
}

}  // namespace simgrad::models
