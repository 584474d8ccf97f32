/// A wide-and-deep model that is cut: its keys are dealt to expert ranks.
#include <fmt/format.h>

#include <algorithm>

#include "base/errors.h"
#include "models/dense_layers.h"
#include "models/wide_and_deep.h"
#include "values/rounding.h"

namespace simgrad::models {

namespace {

constexpr double no_key = -1.0;  ///< in place of a key that another rank has

/// The ranges of keys of all ranks.
struct KeyRanges {
  std::int64_t keys = 0;
  int ranks = 1;

  std::int64_t first(int rank) const { return keys * rank / ranks; }
  std::int64_t count(int rank) const { return first(rank + 1) - first(rank); }
  int owner(std::int64_t key) const { return static_cast<int>(((key + 1) * ranks - 1) / keys); }
};

/// The places of a sample: F on each rank. A place has `width` numbers.
struct FieldPlaces {
  KeyRanges ranges;
  std::int64_t fields = 0, width = 0;

  std::int64_t own(std::int64_t key, std::int64_t field) const { return ranges.owner(key) * fields + field; }
  double on_all_ranks() const { return static_cast<double>(ranges.ranks * fields); }
  /// The numbers that go from the table to the deep part: embeddings, and the wide score.
  std::int64_t exit() const { return fields * (width - 1) + 1; }
};

/// Visits each entry of the samples: visit(sample, field, key, value).
template <class Visit>
void for_each_entry(const Samples& rows, Visit visit) {
  std::int64_t i = 0;
  for_each_sparse_row(rows, [&](const SparseRow& row) {
    for (std::int64_t f = 0; f < row.count; ++f)
      visit(i, f, static_cast<std::int64_t>(row.keys[f]), row.values ? row.values[f] : 1.0);
    ++i;
  });
}

std::vector<double> rounded_parameters(const StepInputs& inputs) {
  std::vector<double> w(inputs.w.size());
  values::round_numbers(inputs.format, inputs.w, w);
  return w;
}

/// The numbers of each entry's key within its rank.  result: (rows, ranks, F).
void send_keys(const FieldPlaces& places, const Samples& rows, std::span<double> result) {
  std::ranges::fill(result, no_key);
  for_each_entry(rows, [&](std::int64_t i, std::int64_t f, std::int64_t key, double) {
    base::check(f < places.fields, "a row has one entry a field");
    const std::int64_t first = places.ranges.first(places.ranges.owner(key));
    result[static_cast<std::size_t>(i * places.ranges.ranks * places.fields + places.own(key, f))] =
        static_cast<double>(key - first);
  });
}

/// keys: (ranks x rows, F).  result: (ranks x rows, F, width), zeros where there is no key.
void look_up(const FieldPlaces& places, std::span<const double> keys, std::span<const double> table,
             std::span<double> result) {
  const auto width = static_cast<std::size_t>(places.width);
  std::ranges::fill(result, 0.0);
  for (std::size_t j = 0; j < keys.size(); ++j)
    if (keys[j] != no_key)
      std::ranges::copy(table.subspan(static_cast<std::size_t>(keys[j]) * width, width),
                        result.subspan(j * width).begin());
}

/// looked_up: (rows, ranks, F, width).  result: (rows, F k + 1).
void combine(const FieldPlaces& places, const Samples& rows, std::span<const double> looked_up,
             std::span<double> result) {
  const std::int64_t k = places.width - 1, of_sample = places.ranges.ranks * places.fields;
  std::ranges::fill(result, 0.0);
  for_each_entry(rows, [&](std::int64_t i, std::int64_t f, std::int64_t key, double value) {
    const double* const from = looked_up.data() + (i * of_sample + places.own(key, f)) * places.width;
    double* const to = result.data() + i * places.exit();
    for (std::int64_t j = 0; j < k; ++j) to[f * k + j] = from[1 + j] * value;
    to[places.exit() - 1] += from[0] * value;
  });
}

/// d_out: (rows, F k + 1).  result: (rows, ranks, F, width).
void send_derivatives(const FieldPlaces& places, const Samples& rows, std::span<const double> d_out,
                      std::span<double> result) {
  const std::int64_t k = places.width - 1, of_sample = places.ranges.ranks * places.fields;
  std::ranges::fill(result, 0.0);
  for_each_entry(rows, [&](std::int64_t i, std::int64_t f, std::int64_t key, double value) {
    const double* const from = d_out.data() + i * places.exit();
    double* const to = result.data() + (i * of_sample + places.own(key, f)) * places.width;
    for (std::int64_t j = 0; j < k; ++j) to[1 + j] = from[f * k + j] * value;
    to[0] = from[places.exit() - 1] * value;
  });
}

/// Adds the derivatives of every place to its key's.  keys: (ranks x rows, F).  d: (ranks x rows, F, width).
void add_derivatives(const FieldPlaces& places, std::span<const double> keys, std::span<const double> d,
                     std::span<double> gradient) {
  const auto width = static_cast<std::size_t>(places.width);
  for (std::size_t j = 0; j < keys.size(); ++j) {
    if (keys[j] == no_key) continue;
    double* const g = gradient.data() + static_cast<std::size_t>(keys[j]) * width;
    for (std::size_t n = 0; n < width; ++n) g[n] += d[j * width + n];
  }
}

}  // namespace

std::string WideAndDeep::refusal(const Problem& problem, const Shares& shares) const {
  if (shares.tensor > 1)
    return "wide_and_deep's dense layers are not shared among ranks; set tensor = 1, and divide its keys by expert";
  if (shares.context > 1) return "wide_and_deep's samples have no sequence that could be divided; set context = 1";
  if (shares.sequence_parallel)
    return "wide_and_deep's samples have no sequence that could be divided; set sequence_parallel = false";
  if (shares.expert > problem.features)
    return fmt::format("{} keys do not suffice for expert = {} ranks; set expert to {} or less", problem.features,
                       shares.expert, problem.features);
  return {};
}

std::vector<Layer> WideAndDeep::layers(const Problem& problem, const Chunk& chunk) const {
  std::vector<Layer> all = SparseModel::layers(problem);
  const std::int64_t elsewhere =
      all.front().count - KeyRanges{problem.features, chunk.expert}.count(chunk.expert_rank) * width();
  all.front().count -= elsewhere;
  for (std::size_t l = 1; l < all.size(); ++l) all[l].first -= elsewhere;
  return all;
}

std::vector<Segment> WideAndDeep::segments(const Problem& problem, const Chunk& chunk) const {
  using enum Step::Then;
  const FieldPlaces places{{problem.features, chunk.expert}, shape(problem).widths.front() / embedding, width()};
  const std::vector<Layer> all = layers(problem, chunk);
  const double keys = places.on_all_ranks(), numbers = keys * static_cast<double>(places.width);
  Segment table{.layers = 1, .count = all.front().count, .exit = static_cast<double>(places.exit())};
  table.forward = {{.then = all_to_all, .among = Among::expert, .numbers = keys, .layers = 0, .kept = true},
                   {.then = all_to_all_back, .among = Among::expert, .numbers = numbers},
                   {.numbers = table.exit}};
  table.backward = {{.then = all_to_all, .among = Among::expert, .numbers = numbers, .layers = 0}, {.gradients = true}};
  Segment deep{.first_layer = 1, .layers = all.size() - 1, .first = table.count, .count = dense_parameters(problem)};
  deep.entrance = table.exit;
  deep.backward = {{.numbers = deep.entrance, .gradients = true}};
  return {std::move(table), std::move(deep)};
}

std::vector<ParameterStretch> WideAndDeep::parameters_of(const Problem& problem, const Chunk& chunk) const {
  const KeyRanges ranges{problem.features, chunk.expert};
  JoinedStretches stretches;
  stretches.add(ranges.first(chunk.expert_rank) * width(), ranges.count(chunk.expert_rank) * width());
  stretches.add(problem.features * width(), dense_parameters(problem));
  return stretches.all;
}

std::vector<ParameterStretch> WideAndDeep::replicated(const Problem& problem, const Chunk& chunk, Among among) const {
  const std::int64_t table = layers(problem, chunk).front().count, dense = dense_parameters(problem);
  if (among == Among::expert) return {{table, dense}};
  return {{0, table + dense}};
}

void WideAndDeep::run(const Problem& problem, const Chunk& chunk, std::size_t segment, bool backward, std::size_t step,
                      const StepInputs& inputs, std::span<double> result) const {
  if (segment == 1) return deep_backward(problem, chunk, inputs, result);
  const FieldPlaces places{{problem.features, chunk.expert}, shape(problem).widths.front() / embedding, width()};
  if (!backward) {
    if (step == 0) return send_keys(places, inputs.rows, result);
    if (step == 1) return look_up(places, inputs.made[0], rounded_parameters(inputs), result);
    return combine(places, inputs.rows, inputs.made[1], result);
  }
  if (step == 0) return send_derivatives(places, inputs.rows, inputs.d_out, result);
  begin_gradient(rounded_parameters(inputs), inputs.penalty_scale, result);
  add_derivatives(places, inputs.kept[0], inputs.made[0], result);
  values::round_numbers(inputs.format, result, result);
}

void WideAndDeep::deep_backward(const Problem& problem, const Chunk& chunk, const StepInputs& inputs,
                                std::span<double> result) const {
  const DenseShape deep = shape(problem);
  const std::int64_t columns = deep.widths.front(), rows = inputs.rows.count;
  std::vector<double> x;
  for (auto from = inputs.in.begin(); from < inputs.in.end(); from += columns + 1)
    x.insert(x.end(), from, from + columns);
  const std::vector<double> w = rounded_parameters(inputs);
  const auto below = static_cast<std::size_t>(rows * (columns + 1));
  base::check(result.size() == below + w.size(), "a step's result has the step's numbers");
  const std::span<double> gradient = result.subspan(below);
  begin_gradient(w, chunk.expert_rank == 0 ? inputs.penalty_scale : 0.0, gradient);
  pass_backward(
      deep, {.features = x.data(), .targets = inputs.rows.targets, .columns = columns, .count = rows}, w, gradient,
      [&](const OutputBlock& block) {
        for (std::int64_t i = 0; i < block.rows; ++i) {
          const std::int64_t sample = block.first + i, score = (sample + 1) * (columns + 1) - 1;
          double& z = block.outputs[static_cast<std::size_t>(i)];
          const double target = inputs.rows.targets[inputs.rows.row(sample)];
          z = inputs.scale * logistic_slope(z + inputs.in[static_cast<std::size_t>(score)], target);
          result[static_cast<std::size_t>(score)] = z;
        }
      },
      [&](const OutputBlock& block) {
        for (std::int64_t i = 0; i < block.rows; ++i)
          std::copy_n(block.outputs.data() + i * columns, columns, result.data() + (block.first + i) * (columns + 1));
      });
  values::round_numbers(inputs.format, gradient, gradient);
}

}  // namespace simgrad::models
