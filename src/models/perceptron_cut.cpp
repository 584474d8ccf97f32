/// A perceptron that is cut: between layers, and inside of them by units.
#include <fmt/format.h>

#include <algorithm>

#include "base/errors.h"
#include "models/dense_layers.h"
#include "models/perceptron.h"
#include "values/rounding.h"

namespace simgrad::models {

/// A layer as one rank has it: `out` of its outputs, which are the rows of its matrix, and `in` of its inputs.
struct Perceptron::LayerShare {
  std::int64_t inputs = 0, outputs = 0;  ///< the whole layer's
  std::int64_t first_in = 0, in = 0;
  std::int64_t first_out = 0, out = 0;
  bool is_first = false, is_last = false;
  bool opens_pair = false, closes_pair = false;

  bool is_whole() const { return in == inputs && out == outputs; }
};

namespace {

using LayerShare = Perceptron::LayerShare;

/// Whether tensor ranks divide so many outputs.
bool divides(std::int64_t outputs, const Chunk& chunk) {
  return chunk.tensor_weights.empty() ? outputs % chunk.tensor == 0 : outputs >= chunk.tensor;
}

/// Whether each of the chunk's layers is the first of a pair. Of all ways to make pairs this is the one with the least
/// traffic: a gathering of n numbers sends n, a sum 2 n.
std::vector<bool> pairs_of(const std::vector<std::int64_t>& widths, const Chunk& chunk) {
  const auto first = static_cast<std::size_t>(chunk.first_unit), end = static_cast<std::size_t>(chunk.end_unit);
  std::vector<bool> opens(end - first, false);
  if (chunk.tensor == 1) return opens;
  std::vector<double> least(end - first + 1, 0.0);  // from this layer on
  for (std::size_t l = end; l-- > first;) {
    const std::size_t at = l - first;
    const double back = l == 0 ? 0.0 : 2.0 * static_cast<double>(widths[l]);
    const bool shared = divides(widths[l + 1], chunk);
    least[at] = least[at + 1] + (shared ? static_cast<double>(widths[l + 1]) + back : 0.0);
    if (l + 1 == end || !shared) continue;
    const double as_pair = least[at + 2] + 2.0 * static_cast<double>(widths[l + 2]) + back;
    opens[at] = as_pair <= least[at];
    if (opens[at]) least[at] = as_pair;
  }
  for (std::size_t at = 0; at + 1 < opens.size(); ++at)
    if (opens[at]) opens[++at] = false;
  return opens;
}

/// The chunk's layers.
std::vector<LayerShare> shares_of(const std::vector<std::int64_t>& widths, const Chunk& chunk) {
  const std::vector<bool> opens = pairs_of(widths, chunk);
  std::vector<LayerShare> all;
  for (auto l = static_cast<std::size_t>(chunk.first_unit); std::cmp_less(l, chunk.end_unit); ++l) {
    LayerShare share{.inputs = widths[l], .outputs = widths[l + 1], .in = widths[l], .out = widths[l + 1]};
    share.is_first = l == 0;
    share.is_last = l + 2 == widths.size();
    share.closes_pair = !all.empty() && all.back().opens_pair;
    share.opens_pair = opens[all.size()];
    if (share.closes_pair) {
      share.first_in = all.back().first_out;
      share.in = all.back().out;
    } else if (divides(share.outputs, chunk)) {
      const ParameterStretch own = tensor_share(chunk, share.outputs);
      share.first_out = own.first;
      share.out = own.count;
    }
    all.push_back(share);
  }
  return all;
}

/// The numbers of a layer's outputs that the tensor ranks have; empty: all have as many.
std::vector<double> parts_of_ranks(const LayerShare& share, const Chunk& chunk) {
  std::vector<double> parts;
  for (int rank = 0; rank < chunk.tensor && !chunk.tensor_weights.empty(); ++rank)
    parts.push_back(static_cast<double>(tensor_share(chunk, share.outputs, rank).count));
  return parts;
}

/// The layers of a segment: one, or a pair.
std::span<const LayerShare> of_segment(const std::vector<LayerShare>& all, std::size_t segment) {
  std::size_t at = 0;
  for (; segment > 0; --segment) at += all[at].opens_pair ? 2 : 1;
  return std::span(all).subspan(at, all[at].opens_pair ? 2 : 1);
}

/// The rank's columns of a matrix of all outputs.
std::vector<double> own_columns(const LayerShare& share, std::span<const double> all) {
  std::vector<double> own;
  for (auto row = all.begin(); row < all.end(); row += share.outputs)
    own.insert(own.end(), row + share.first_out, row + share.first_out + share.out);
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

/// The sum of all ranks' products, and the biases behind the matrix in w.
std::vector<double> with_biases(std::span<const double> sum, const DenseLayerShape& shape, std::span<const double> w) {
  std::vector<double> z(sum.begin(), sum.end());
  if (!shape.bias) return z;
  const std::span<const double> biases = w.last(static_cast<std::size_t>(shape.outputs));
  for (std::size_t i = 0; i < z.size(); ++i) z[i] += biases[i % biases.size()];
  return z;
}

std::vector<double> parameters_in_format(const StepInputs& inputs) {
  std::vector<double> w(inputs.w.size());
  values::round_numbers(inputs.format, inputs.w, w);
  return w;
}

}  // namespace

std::string Perceptron::refusal(const Problem&, const Shares& shares) const {
  if (shares.context > 1) return "a perceptron's samples have no sequence that could be divided; set context = 1";
  if (shares.expert > 1) return "a perceptron has no experts that could be divided; set expert = 1";
  if (shares.sequence_parallel)
    return "a perceptron's samples have no sequence that could be divided; set sequence_parallel = false";
  for (const double width : hidden) {
    const auto units = static_cast<std::int64_t>(width);
    if (shares.by_weights && units < shares.tensor)
      return fmt::format("a hidden layer of {} units has none for some of tensor = {} ranks; expected {} units or more",
                         units, shares.tensor, shares.tensor);
    if (!shares.by_weights && units % shares.tensor != 0)
      return fmt::format("a hidden layer of {} units does not divide among tensor = {} ranks; give it {} units", units,
                         shares.tensor, (units + shares.tensor - 1) / shares.tensor * shares.tensor);
  }
  return {};
}

std::vector<SharedUnits> Perceptron::tensor_units(const Problem& problem, const Chunk& chunk) const {
  std::int64_t units = 0;
  for (const LayerShare& share : shares_of(widths(problem), chunk))
    if (!share.closes_pair && divides(share.outputs, chunk)) units += share.out;
  return {{"units", units}};
}

std::vector<Layer> Perceptron::layers(const Problem& problem, const Chunk& chunk) const {
  std::vector<Layer> all;
  std::int64_t first = 0;
  for (const LayerShare& share : shares_of(widths(problem), chunk)) {
    const auto in = static_cast<double>(share.in), out = static_cast<double>(share.out);
    Layer layer{.first = first, .count = share.out * (share.in + (bias ? 1 : 0))};
    layer.forward_flops = 2.0 * in * out;
    layer.backward_flops = share.is_first ? layer.forward_flops : 2.0 * layer.forward_flops;
    layer.rows = share.out;
    layer.columns = share.in;
    layer.unit = static_cast<std::int64_t>(all.size());
    layer.products = {{.m = 1.0, .n = out, .k = in}};
    layer.kept.numbers = layer.entrance = in;  // the backward pass needs what came in
    first += layer.count;
    all.push_back(std::move(layer));
  }
  return all;
}

std::vector<Segment> Perceptron::segments(const Problem& problem, const Chunk& chunk) const {
  using enum Step::Then;
  const std::vector<LayerShare> shares = shares_of(widths(problem), chunk);
  const std::vector<Layer> all = layers(problem, chunk);
  std::vector<Segment> made;
  for (std::size_t l = 0; l < all.size(); l += made.back().layers) {
    const std::span<const LayerShare> segment_shares = of_segment(shares, made.size());
    const LayerShare &first = segment_shares.front(), &last = segment_shares.back();
    Segment& segment = made.emplace_back();
    segment.first_layer = l;
    segment.layers = segment_shares.size();
    segment.first = all[l].first;
    for (std::size_t k = 0; k < segment_shares.size(); ++k) segment.count += all[l + k].count;
    segment.entrance = first.is_first ? 0.0 : static_cast<double>(first.inputs);
    segment.exit = last.is_last ? 0.0 : static_cast<double>(last.outputs);
    const bool pair = segment_shares.size() == 2, shared = pair || !first.is_whole();
    Step products{.then = !shared ? nothing : pair ? sum : gather, .numbers = static_cast<double>(last.out)};
    if (products.then == gather) products.parts = parts_of_ranks(last, chunk);
    if (last.is_last) products.layers = 0;  // the forward pass has computed them
    (last.is_last ? segment.backward : segment.forward).push_back(products);
    if (pair && !last.is_last) segment.forward.push_back({.numbers = segment.exit});
    segment.backward.push_back(
        {.then = shared && !first.is_first ? sum : nothing, .numbers = segment.entrance, .gradients = true});
  }
  return made;
}

std::vector<ParameterStretch> Perceptron::parameters_of(const Problem& problem, const Chunk& chunk) const {
  const std::vector<LayerShare> shares = shares_of(widths(problem), chunk);
  const std::vector<Layer> all = layers(problem);
  JoinedStretches stretches;
  for (std::size_t l = 0; l < shares.size(); ++l) {
    const LayerShare& share = shares[l];
    const std::int64_t first = all[static_cast<std::size_t>(chunk.first_unit) + l].first;
    for (std::int64_t row = share.first_out; row < share.first_out + share.out; ++row)
      stretches.add(first + row * share.inputs + share.first_in, share.in);
    if (bias) stretches.add(first + share.outputs * share.inputs + share.first_out, share.out);
  }
  return stretches.all;
}

std::vector<ParameterStretch> Perceptron::replicated(const Problem& problem, const Chunk& chunk, Among among) const {
  const std::vector<LayerShare> shares = shares_of(widths(problem), chunk);
  const std::vector<Layer> all = layers(problem, chunk);
  JoinedStretches stretches;
  for (std::size_t l = 0; l < all.size(); ++l) {
    const std::int64_t biases = bias ? shares[l].out : 0;
    if (among != Among::tensor || shares[l].is_whole())
      stretches.add(all[l].first, all[l].count);
    else if (shares[l].closes_pair)
      stretches.add(all[l].first + all[l].count - biases, biases);
  }
  return stretches.all;
}

void Perceptron::run(const Problem& problem, const Chunk& chunk, std::size_t segment, bool backward, std::size_t step,
                     const StepInputs& inputs, std::span<double> result) const {
  const std::vector<LayerShare> shares = shares_of(widths(problem), chunk);
  const std::span<const LayerShare> segment_shares = of_segment(shares, segment);
  if (segment_shares.size() == 2)
    run_pair(problem, segment_shares[0], segment_shares[1], backward, step, inputs, result);
  else
    run_layer(problem, segment_shares[0], backward, step, inputs, result);
}

void Perceptron::run_layer(const Problem& problem, const LayerShare& share, bool backward, std::size_t step,
                           const StepInputs& inputs, std::span<double> result) const {
  const DenseLayerShape shape{share.in, share.out, bias};
  const std::int64_t rows = inputs.rows.count;
  const std::vector<double> w = parameters_in_format(inputs), x = inputs_of(share, inputs);
  if (!backward || (share.is_last && step == 0)) {
    dense_forward(shape, rows, w, x, result);
    if (!share.is_last) activate(activation, result);
    return;
  }
  std::vector<double> dz;
  if (share.is_last) {
    std::vector<double> z(inputs.made[0].begin(), inputs.made[0].end());
    derive_loss(problem, inputs.rows, inputs.scale, {z, 0, rows});
    dz = own_columns(share, z);
  } else {
    dz = own_columns(share, inputs.d_out);
  }
  const std::size_t below = share.is_first ? 0 : x.size();
  base::check(result.size() == below + w.size(), "a step's result has the step's numbers");
  const std::span<double> gradient = result.subspan(below), dx = result.first(below);
  begin_gradient(w, inputs.penalty_scale, gradient);
  dense_backward(shape, rows, w, x, dz, gradient, dx);
  if (!share.is_first) derive_activation(activation, x, dx);
  values::round_numbers(inputs.format, gradient, gradient);
}

void Perceptron::run_pair(const Problem& problem, const LayerShare& lower, const LayerShare& upper, bool backward,
                          std::size_t step, const StepInputs& inputs, std::span<double> result) const {
  const DenseLayerShape low{lower.in, lower.out, bias}, high{upper.in, upper.out, bias};
  const std::int64_t rows = inputs.rows.count;
  const std::vector<double> w = parameters_in_format(inputs), x = inputs_of(lower, inputs);
  const std::span<const double> w_low = std::span(w).first(static_cast<std::size_t>(low.parameters()));
  const std::span<const double> w_high = std::span(w).subspan(w_low.size());
  std::vector<double> z;  // of the upper layer; then a, or the loss's derivatives by z
  if (step == 1) z = with_biases(inputs.made[0], high, w_high);
  if (step == 1 && !backward) {
    activate(activation, z);
    std::ranges::copy(z, result.begin());
    return;
  }
  std::vector<double> a(static_cast<std::size_t>(rows * lower.out));
  dense_forward(low, rows, w_low, x, a);
  activate(activation, a);
  if (step == 0 && (!backward || upper.is_last)) {
    dense_forward({upper.in, upper.out, false}, rows, w_high, a, result);
    return;
  }
  if (upper.is_last)
    derive_loss(problem, inputs.rows, inputs.scale, {z, 0, rows});
  else
    z.assign(inputs.d_out.begin(), inputs.d_out.end());
  const std::size_t below = lower.is_first ? 0 : x.size();
  base::check(result.size() == below + w.size(), "a step's result has the step's numbers");
  const std::span<double> gradient = result.subspan(below), dx = result.first(below);
  begin_gradient(w, inputs.penalty_scale, gradient);
  std::vector<double> da(a.size());
  dense_backward(high, rows, w_high, a, z, gradient.subspan(w_low.size()), da);
  derive_activation(activation, a, da);
  dense_backward(low, rows, w_low, x, da, gradient.first(w_low.size()), dx);
  if (!lower.is_first) derive_activation(activation, x, dx);
  values::round_numbers(inputs.format, gradient, gradient);
}

}  // namespace simgrad::models
