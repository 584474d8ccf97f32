/// A perceptron that is cut: between layers, and inside of them by units.
#include <fmt/format.h>

#include <algorithm>

#include "base/errors.h"
#include "models/dense_layers.h"
#include "models/perceptron.h"
#include "values/rounding.h"

namespace simgrad::models {

namespace {

/// A layer as one rank has it.
struct LayerShare {
  std::int64_t inputs = 0, outputs = 0;  ///< the whole layer's
  std::int64_t first = 0, count = 0;     ///< the rank's outputs
  bool is_first = false, is_last = false;

  bool is_shared() const { return count < outputs; }
};

LayerShare share_of(const std::vector<std::int64_t>& widths, std::int64_t layer, const Chunk& chunk) {
  const auto l = static_cast<std::size_t>(layer);
  LayerShare share{.inputs = widths[l], .outputs = widths[l + 1]};
  share.is_first = layer == 0;
  share.is_last = l + 2 == widths.size();
  const bool divides = share.outputs % chunk.tensor == 0;
  share.count = divides ? share.outputs / chunk.tensor : share.outputs;
  share.first = divides ? chunk.tensor_rank * share.count : 0;
  return share;
}

/// The rank's columns of a matrix of all outputs.
std::vector<double> own_columns(const LayerShare& share, std::span<const double> all) {
  std::vector<double> own;
  for (auto row = all.begin(); row < all.end(); row += share.outputs)
    own.insert(own.end(), row + share.first, row + share.first + share.count);
  return own;
}

std::vector<double> inputs_of(const LayerShare& share, const StepInputs& inputs) {
  if (!share.is_first) return {inputs.in.begin(), inputs.in.end()};
  std::vector<double> x;
  for (std::int64_t i = 0; i < inputs.rows.count; ++i) {
    const double* const row = inputs.rows.features + inputs.rows.row(i) * inputs.rows.columns;
    x.insert(x.end(), row, row + inputs.rows.columns);
  }
  return x;
}

}  // namespace

std::string Perceptron::refusal(const Problem&, const Shares& shares) const {
  if (shares.context > 1) return "a perceptron's samples have no sequence that could be divided; set context = 1";
  if (shares.expert > 1) return "a perceptron has no experts that could be divided; set expert = 1";
  if (shares.sequence_parallel)
    return "a perceptron's samples have no sequence that could be divided; set sequence_parallel = false";
  for (const double width : hidden) {
    const auto units = static_cast<std::int64_t>(width);
    if (units % shares.tensor != 0)
      return fmt::format("a hidden layer of {} units does not divide among tensor = {} ranks; give it {} units", units,
                         shares.tensor, (units + shares.tensor - 1) / shares.tensor * shares.tensor);
  }
  return {};
}

std::vector<Layer> Perceptron::layers(const Problem& problem, const Chunk& chunk) const {
  const std::vector<std::int64_t> width = widths(problem);
  std::vector<Layer> all;
  std::int64_t first = 0;
  for (std::int64_t l = chunk.first_unit; l < chunk.end_unit; ++l) {
    const LayerShare share = share_of(width, l, chunk);
    const auto in = static_cast<double>(share.inputs), out = static_cast<double>(share.count);
    Layer& layer = all.emplace_back();
    layer.first = first;
    layer.count = share.inputs * share.count + (bias ? share.count : 0);
    layer.forward_flops = 2.0 * in * out;
    layer.backward_flops = share.is_first ? layer.forward_flops : 2.0 * layer.forward_flops;
    layer.rows = share.count;
    layer.columns = share.inputs;
    layer.unit = l - chunk.first_unit;
    layer.products = {{.m = 1.0, .n = out, .k = in}};
    layer.kept.numbers = layer.entrance = in;  // the backward pass needs what came in
    first += layer.count;
  }
  return all;
}

std::vector<Segment> Perceptron::segments(const Problem& problem, const Chunk& chunk) const {
  using enum Step::Then;
  const std::vector<std::int64_t> width = widths(problem);
  const std::vector<Layer> all = layers(problem, chunk);
  std::vector<Segment> made;
  for (std::size_t l = 0; l < all.size(); ++l) {
    const LayerShare share = share_of(width, chunk.first_unit + static_cast<std::int64_t>(l), chunk);
    const auto in = static_cast<double>(share.inputs), own = static_cast<double>(share.count);
    Segment& segment = made.emplace_back();
    segment.first_layer = l;
    segment.layers = 1;
    segment.first = all[l].first;
    segment.count = all[l].count;
    segment.entrance = share.is_first ? 0.0 : in;
    segment.exit = share.is_last ? 0.0 : static_cast<double>(share.outputs);
    const Step own_outputs{.then = share.is_shared() ? gather : nothing, .numbers = own};
    if (!share.is_last) segment.forward = {own_outputs};
    if (share.is_last) segment.backward = {own_outputs};
    segment.backward.push_back(
        {.then = share.is_shared() && !share.is_first ? sum : nothing, .numbers = segment.entrance, .gradients = true});
  }
  return made;
}

std::vector<ParameterStretch> Perceptron::parameters_of(const Problem& problem, const Chunk& chunk) const {
  const std::vector<std::int64_t> width = widths(problem);
  const std::vector<Layer> all = layers(problem);
  JoinedStretches stretches;
  for (std::int64_t l = chunk.first_unit; l < chunk.end_unit; ++l) {
    const LayerShare share = share_of(width, l, chunk);
    const std::int64_t first = all[static_cast<std::size_t>(l)].first;
    stretches.add(first + share.first * share.inputs, share.count * share.inputs);
    if (bias) stretches.add(first + share.outputs * share.inputs + share.first, share.count);
  }
  return stretches.all;
}

std::vector<ParameterStretch> Perceptron::replicated(const Problem& problem, const Chunk& chunk, Among among) const {
  const std::vector<std::int64_t> width = widths(problem);
  const std::vector<Layer> all = layers(problem, chunk);
  JoinedStretches stretches;
  for (std::size_t l = 0; l < all.size(); ++l)
    if (!share_of(width, chunk.first_unit + static_cast<std::int64_t>(l), chunk).is_shared() || among != Among::tensor)
      stretches.add(all[l].first, all[l].count);
  return stretches.all;
}

void Perceptron::run(const Problem& problem, const Chunk& chunk, std::size_t segment, bool backward, std::size_t step,
                     const StepInputs& inputs, std::span<double> result) const {
  const LayerShare share = share_of(widths(problem), chunk.first_unit + static_cast<std::int64_t>(segment), chunk);
  const DenseLayerShape shape{share.inputs, share.count, bias};
  const std::int64_t rows = inputs.rows.count;
  const std::vector<double> x = inputs_of(share, inputs);
  std::vector<double> w(inputs.w.size());
  values::round_numbers(inputs.format, inputs.w, w);
  const bool makes_outputs = !backward || (share.is_last && step == 0);
  std::vector<double> a(static_cast<std::size_t>(rows * share.count));
  if (makes_outputs || !share.is_last) {
    dense_forward(shape, rows, w, x, a);
    if (!share.is_last) activate(activation, a);
  }
  if (makes_outputs) {
    std::ranges::copy(a, result.begin());
    return;
  }
  std::vector<double> dz;
  if (share.is_last) {
    std::vector<double> z(inputs.made[0].begin(), inputs.made[0].end());
    derive_loss(problem, inputs.rows, inputs.scale, {z, 0, rows});
    dz = own_columns(share, z);
  } else {
    dz = own_columns(share, inputs.d_out);
    derive_activation(activation, a, dz);
  }
  const std::size_t below = share.is_first ? 0 : x.size();
  base::check(result.size() == below + w.size(), "a step's result has the step's numbers");
  const std::span<double> gradient = result.subspan(below);
  begin_gradient(w, inputs.penalty_scale, gradient);
  dense_backward(shape, rows, w, x, dz, gradient, result.first(below));
  values::round_numbers(inputs.format, gradient, gradient);
}

}  // namespace simgrad::models
