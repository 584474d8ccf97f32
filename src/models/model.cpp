/// Shared by all models: the options, the penalty, the checks of shapes.
#include "models/model.h"

#include <algorithm>

#include "base/errors.h"
#include "models/task_model.h"
#include "values/rounding.h"

namespace simgrad::models {

std::size_t class_number(double y, std::size_t classes) {
  base::check(y >= 0.0 && y < static_cast<double>(classes), "a target is a class number");
  return static_cast<std::size_t>(y);
}

Layer with_tokens(const Layer& layer, double tokens) {
  base::check(layer.expert_tokens > 0.0, "the layer is one of experts");
  const double factor = tokens / layer.expert_tokens;
  Layer scaled = layer;
  scaled.expert_tokens = tokens;
  scaled.expert_elementwise *= factor;
  scaled.elementwise += scaled.expert_elementwise - layer.expert_elementwise;
  scaled.forward_flops *= factor;
  scaled.backward_flops *= factor;
  for (Product& product : scaled.products) product.m *= factor;
  return scaled;
}

void Model::describe(base::Describer& d) {
  d.flag("bias", bias, "a constant feature, added as the last column; its weight is penalised like the others");
  d.number("l2", l2, "the weight of the penalty l2/2 |w|^2 on all parameters", base::Bounds::at_least(0.0));
}

std::string_view Model::metric(const Problem& problem) const { return problem.classes > 0 ? "accuracy" : "r2"; }

std::string Model::refusal(const Problem&) const { return {}; }

std::int64_t Model::sample_bytes(const Problem& problem) const {
  return problem.nonzeros > 0.0 ? static_cast<std::int64_t>(12.0 * problem.nonzeros) : 8 * problem.features;
}

double Model::gradient_flops(const Problem& problem, std::int64_t rows) const {
  double flops = 0.0;
  for (const Layer& layer : layers(problem)) flops += layer.forward_flops + layer.backward_flops;
  return flops * static_cast<double>(rows);
}

void Model::initial_values(const Problem&, std::uint64_t, std::span<double> w) const {
  std::fill(w.begin(), w.end(), 0.0);
}

void Model::gradient_in(values::Format format, const Problem& problem, const Samples& rows, std::span<const double> w,
                        double scale, double penalty_scale, std::span<double> gradient) const {
  std::vector<double> at(w.size());
  values::round_numbers(format, w, at);
  this->gradient(problem, rows, at, scale, penalty_scale, gradient);
  values::round_numbers(format, gradient, gradient);
}

Score Model::score_in(values::Format format, const Problem& problem, const Samples& rows,
                      std::span<const double> w) const {
  std::vector<double> at(w.size());
  values::round_numbers(format, w, at);
  return score(problem, rows, at);
}

std::int64_t Model::prediction_size(const Problem& problem) const {
  switch (predicts()) {
    case Predicts::cluster:
      return 2;
    case Predicts::tokens:
      return problem.features * predicted_tokens(problem);
    default:
      return std::max(problem.classes, 1);
  }
}

void Model::predict(const Problem&, const Samples&, std::span<const double>, std::span<double>) const {
  base::check(false, "a model that is timed alone predicts nothing");
}

void Model::predict_in(values::Format format, const Problem& problem, const Samples& rows, std::span<const double> w,
                       std::span<double> predictions) const {
  std::vector<double> at(w.size());
  values::round_numbers(format, w, at);
  predict(problem, rows, at, predictions);
}

double Model::tokens_a_sample(const Problem& problem) const {
  return problem.vocabulary > 0 ? static_cast<double>(problem.features) : 0.0;
}

double Model::penalty(std::span<const double> w) const {
  if (l2 == 0.0) return 0.0;  // also where |w|^2 overflows: 0 times infinity is not a number
  double squares = 0.0;
  for (const double w_j : w) squares += w_j * w_j;
  return 0.5 * l2 * squares;
}

double TaskModel::task_gradient_flops(const Problem& problem, std::int64_t rows, const Tasks& tasks) const {
  double a_row = 0.0;
  for (const Layer& layer : task_layers(problem, tasks)) a_row += layer.forward_flops + layer.backward_flops;
  return a_row * static_cast<double>(rows);
}

void Model::check_shapes(const Problem& problem, const Samples& rows, std::span<const double> w) const {
  base::check(rows.columns == problem.features, "the rows have the problem's features");
  base::check(static_cast<std::int64_t>(w.size()) == parameters(problem), "w has the model's parameters");
}

void Model::begin_gradient(std::span<const double> w, double penalty_scale, std::span<double> gradient) const {
  base::check(gradient.size() == w.size(), "the gradient has the shape of w");
  const double factor = penalty_scale * l2;
  for (std::size_t j = 0; j < w.size(); ++j) gradient[j] = factor == 0.0 ? 0.0 : factor * w[j];
}

}  // namespace simgrad::models
