#include "models/multitask_operators.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "models/dense_layers.h"
#include "values/rounding.h"

namespace simgrad::models {

namespace {

double sigmoid_of(double z) { return z >= 0.0 ? 1.0 / (1.0 + std::exp(-z)) : std::exp(z) / (1.0 + std::exp(z)); }

/// The inputs of a layer: the samples, or the numbers of the layer before.
std::vector<double> entrance_of(const StepInputs& inputs, bool first) {
  if (!first) return {inputs.in.begin(), inputs.in.end()};
  std::vector<double> x;
  for (std::int64_t i = 0; i < inputs.rows.count; ++i) {
    const double* const row = inputs.rows.features + inputs.rows.row(i) * inputs.rows.columns;
    x.insert(x.end(), row, row + inputs.rows.columns);
  }
  return x;
}

}  // namespace

std::vector<Layer> MultitaskOperators::all_layers(const Problem& problem) const {
  std::vector<Layer> all = model_.layers(problem);
  const auto inputs = static_cast<std::int64_t>(model_.hidden.back());
  const std::int64_t behind = all.back().first;
  all.pop_back();
  const auto k = static_cast<double>(inputs);
  for (std::int64_t task = 0; task < model_.tasks(problem); ++task) {
    Layer head{.first = behind + task * (inputs + 1), .count = inputs + 1, .forward_flops = 2.0 * k};
    head.backward_flops = 2.0 * head.forward_flops;
    head.rows = 1;
    head.columns = inputs;
    head.name = fmt::format("task {}", task);
    head.products = {{.m = 1.0, .n = 1.0, .k = k}};
    head.kept.numbers = head.entrance = k;
    all.push_back(std::move(head));
  }
  for (std::size_t l = 0; l < all.size(); ++l) {
    all[l].unit = static_cast<std::int64_t>(l);
    if (all[l].name.empty()) all[l].name = fmt::format("shared layer {}", l);
  }
  return all;
}

std::vector<ModelOperator> MultitaskOperators::operators(const Problem& problem) const {
  std::vector<ModelOperator> all;
  const auto shared = static_cast<std::size_t>(shared_layers());
  for (const Layer& layer : all_layers(problem)) {
    const std::size_t unit = all.size();
    ModelOperator& model_operator = all.emplace_back();
    model_operator.name = layer.name;
    model_operator.first_layer = unit;
    model_operator.layers = 1;
    if (unit > 0) model_operator.inputs = {std::min(unit, shared) - 1};
    if (unit < shared) model_operator.output_numbers = static_cast<double>(layer.rows);
  }
  return all;
}

std::string MultitaskOperators::refusal(const Problem&, const Shares&) const {
  return "the units of a multi-task perceptron are not shared among ranks; set tensor, context and expert to 1";
}

std::vector<Layer> MultitaskOperators::layers(const Problem& problem, const Chunk& chunk) const {
  std::vector<Layer> own;
  std::int64_t next = 0;
  for (const Layer& layer : all_layers(problem)) {
    if (layer.unit < chunk.first_unit || layer.unit >= chunk.end_unit) continue;
    own.push_back(layer);
    own.back().first = next;
    own.back().unit -= chunk.first_unit;
    next += layer.count;
  }
  return own;
}

std::vector<Segment> MultitaskOperators::segments(const Problem& problem, const Chunk& chunk) const {
  std::vector<Segment> made;
  for (const Layer& layer : layers(problem, chunk)) {
    const std::int64_t unit = chunk.first_unit + layer.unit;
    Segment& segment = made.emplace_back();
    segment.first_layer = made.size() - 1;
    segment.layers = 1;
    segment.first = layer.first;
    segment.count = layer.count;
    segment.entrance = unit == 0 ? 0.0 : static_cast<double>(layer.columns);
    if (unit < shared_layers()) {
      segment.exit = static_cast<double>(layer.rows);
      segment.forward = {{.numbers = segment.exit}};
    }
    segment.backward = {{.numbers = segment.entrance, .gradients = true}};
  }
  return made;
}

std::vector<ParameterStretch> MultitaskOperators::parameters_of(const Problem& problem, const Chunk& chunk) const {
  JoinedStretches stretches;
  for (const Layer& layer : all_layers(problem)) {
    if (layer.unit < chunk.first_unit || layer.unit >= chunk.end_unit) continue;
    if (layer.unit < shared_layers()) {
      stretches.add(layer.first, layer.count);
      continue;
    }
    for (const ParameterRange& range : model_.own(problem, {layer.unit - shared_layers(), 1}))
      stretches.add(range.first, range.count);
  }
  return stretches.all;
}

std::vector<ParameterStretch> MultitaskOperators::replicated(const Problem&, const Chunk&, Among) const { return {}; }

void MultitaskOperators::run(const Problem& problem, const Chunk& chunk, std::size_t segment, bool backward,
                             std::size_t, const StepInputs& inputs, std::span<double> result) const {
  const std::int64_t unit = chunk.first_unit + static_cast<std::int64_t>(segment), rows = inputs.rows.count;
  const Layer layer = all_layers(problem)[static_cast<std::size_t>(unit)];
  const DenseLayerShape shape{layer.columns, layer.rows, true};
  std::vector<double> w(inputs.w.size());
  values::round_numbers(inputs.format, inputs.w, w);
  const std::vector<double> x = entrance_of(inputs, unit == 0);
  if (!backward) {
    dense_forward(shape, rows, w, x, result);
    activate(model_.activation, result);
    return;
  }
  std::vector<double> dz(inputs.d_out.begin(), inputs.d_out.end());
  if (unit >= shared_layers()) {
    dz.assign(static_cast<std::size_t>(rows), 0.0);
    dense_forward(shape, rows, w, x, dz);
    const auto task = static_cast<std::size_t>(unit - shared_layers());
    for (std::size_t i = 0; i < dz.size(); ++i) {
      const bool own =
          static_cast<std::size_t>(inputs.rows.targets[inputs.rows.row(static_cast<std::int64_t>(i))]) == task;
      dz[i] = inputs.scale * (sigmoid_of(dz[i]) - (own ? 1.0 : 0.0));
    }
  }
  const std::span<double> dx = result.first(unit == 0 ? 0 : x.size()), gradient = result.subspan(dx.size());
  for (std::size_t j = 0; j < w.size(); ++j) gradient[j] = inputs.penalty_scale * model_.l2 * w[j];
  dense_backward(shape, rows, w, x, dz, gradient, dx);
  if (unit > 0) derive_activation(model_.activation, x, dx);
  values::round_numbers(inputs.format, gradient, gradient);
}

}  // namespace simgrad::models
