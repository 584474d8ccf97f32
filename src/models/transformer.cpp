#include "models/transformer.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/random.h"
#include "models/transformer_cut.h"
#include "models/transformer_pass.h"
#include "models/transformer_places.h"
#include "values/rounding.h"

namespace simgrad::models {

namespace {

constexpr double initial_deviation = 0.02;

}  // namespace

void Transformer::describe(base::Describer& d) {
  describe_shape(d, options);
  d.number("l2", l2, "the weight of the penalty l2/2 |w|^2 on all parameters", base::Bounds::at_least(0.0));
}

std::optional<Problem> Transformer::own_problem() const {
  return Problem{.features = options.sequence, .vocabulary = options.vocabulary.value_or(0)};
}

std::string Transformer::refusal(const Problem& problem) const {
  if (problem.vocabulary == 0 && !options.vocabulary)
    return "the transformer's vocabulary is unknown, for no text is read; give vocabulary";
  if (options.vocabulary && *options.vocabulary < problem.vocabulary)
    return fmt::format(
        "vocabulary = {}, but the text has {} different tokens, of which some would have no embedding; give at least "
        "as many, or leave vocabulary out",
        *options.vocabulary, problem.vocabulary);
  if (problem.vocabulary > 0 && problem.features != options.sequence)
    return fmt::format("sequence = {}, but the rows of the data have {} tokens; expected as many", options.sequence,
                       problem.features);
  return models::refusal(options.shape(problem.vocabulary));
}

std::int64_t Transformer::parameters(const Problem& problem) const {
  return models::parameters(options.shape(problem.vocabulary));
}

std::vector<Layer> Transformer::layers(const Problem& problem) const {
  return models::layers(options.shape(problem.vocabulary));
}

void Transformer::initial_values(const Problem& problem, std::uint64_t seed, std::span<double> w) const {
  std::fill(w.begin(), w.end(), 0.0);
  const TransformerPlaces places(options.shape(problem.vocabulary));
  std::uint64_t number = 0;
  const auto draw = [&](std::int64_t first, std::int64_t count, double deviation) {
    base::Stream stream({.seed = seed, .purpose = base::Purpose::initial_values, .step = number++});
    for (double& w_j : w.subspan(static_cast<std::size_t>(first), static_cast<std::size_t>(count)))
      w_j = deviation * stream.normal();
  };
  const auto draw_matrix = [&](const LinearPlace& place, double deviation) {
    draw(place.matrix, place.outputs * place.inputs, deviation);
  };
  const auto set_gains = [&](const NormPlace& place) {
    std::ranges::fill(w.subspan(static_cast<std::size_t>(place.gains), static_cast<std::size_t>(options.hidden)), 1.0);
  };
  const double onto_residual = initial_deviation / std::sqrt(2.0 * static_cast<double>(options.layers));
  draw(places.embedding, places.head.outputs * places.head.inputs, initial_deviation);
  if (places.positions != nowhere) draw(places.positions, options.sequence * options.hidden, initial_deviation);
  for (const BlockPlaces& block : places.blocks) {
    draw_matrix(block.attention_in, initial_deviation);
    draw_matrix(block.attention_out, onto_residual);
    if (block.experts_in.empty()) {
      draw_matrix(block.feed_forward_in, initial_deviation);
      draw_matrix(block.feed_forward_out, onto_residual);
    } else {
      draw_matrix(block.router, initial_deviation);
      for (const LinearPlace& expert : block.experts_in) draw_matrix(expert, initial_deviation);
      for (const LinearPlace& expert : block.experts_out) draw_matrix(expert, onto_residual);
    }
    set_gains(block.attention_norm);
    set_gains(block.feed_forward_norm);
  }
  if (!options.tied) draw_matrix(places.head, initial_deviation);
  set_gains(places.last_norm);
}

void Transformer::gradient(const Problem& problem, const Samples& rows, std::span<const double> w, double scale,
                           double penalty_scale, std::span<double> gradient) const {
  gradient_in(values::Format::float64, problem, rows, w, scale, penalty_scale, gradient);
}

Score Transformer::score(const Problem& problem, const Samples& rows, std::span<const double> w) const {
  return score_in(values::Format::float64, problem, rows, w);
}

void Transformer::gradient_in(values::Format format, const Problem& problem, const Samples& rows,
                              std::span<const double> w, double scale, double penalty_scale,
                              std::span<double> gradient) const {
  check_shapes(problem, rows, w);
  begin_gradient(w, penalty_scale, gradient);
  add_transformer_gradient(options.shape(problem.vocabulary), rows, w, scale, format, gradient);
  values::round_numbers(format, gradient, gradient);
}

Score Transformer::score_in(values::Format format, const Problem& problem, const Samples& rows,
                            std::span<const double> w) const {
  check_shapes(problem, rows, w);
  return transformer_score(options.shape(problem.vocabulary), rows, w, format);
}

std::int64_t Transformer::predicted_tokens(const Problem& problem) const {
  return options.shape(problem.vocabulary).vocabulary;
}

void Transformer::predict(const Problem& problem, const Samples& rows, std::span<const double> w,
                          std::span<double> predictions) const {
  predict_in(values::Format::float64, problem, rows, w, predictions);
}

void Transformer::predict_in(values::Format format, const Problem& problem, const Samples& rows,
                             std::span<const double> w, std::span<double> predictions) const {
  check_shapes(problem, rows, w);
  transformer_predict(options.shape(problem.vocabulary), rows, w, format, predictions);
}

std::vector<ExpertLoad> Transformer::expert_loads(const Problem& problem, const Samples& rows,
                                                  std::span<const double> w, values::Format format) const {
  check_shapes(problem, rows, w);
  return transformer_expert_loads(options.shape(problem.vocabulary), rows, w, format);
}

std::string Transformer::refusal(const Problem& problem, const Shares& shares) const {
  return cut_refusal(options.shape(problem.vocabulary), shares);
}

std::vector<Layer> Transformer::layers(const Problem& problem, const Chunk& chunk) const {
  return models::layers(options.shape(problem.vocabulary), chunk);
}

std::string Transformer::padding_note(const Problem& problem, std::int64_t tensor) const {
  return models::padding_note(options.shape(problem.vocabulary), tensor);
}

std::vector<SharedUnits> Transformer::tensor_units(const Problem& problem, const Chunk& chunk) const {
  const TransformerShare share = share_of(options.shape(problem.vocabulary), chunk);
  return {{"heads", share.heads}, {"columns", share.feed_forward.count}, {"tokens", share.vocabulary.count}};
}

std::vector<Segment> Transformer::segments(const Problem& problem, const Chunk& chunk) const {
  return models::segments(options.shape(problem.vocabulary), chunk);
}

std::vector<ParameterStretch> Transformer::parameters_of(const Problem& problem, const Chunk& chunk) const {
  return models::parameters_of(options.shape(problem.vocabulary), chunk);
}

std::vector<ParameterStretch> Transformer::replicated(const Problem& problem, const Chunk& chunk, Among among) const {
  return models::replicated(options.shape(problem.vocabulary), chunk, among);
}

std::vector<ParameterStretch> Transformer::partial(const Problem& problem, const Chunk& chunk, Among among) const {
  if (among == Among::tensor && !chunk.sequence_parallel) return {};
  return replicated(problem, chunk, among);  // each rank sums over its own tokens
}

ParameterStretch Transformer::tied(const Problem& problem, const Chunk& chunk) const {
  return models::tied(options.shape(problem.vocabulary), chunk);
}

void Transformer::run(const Problem& problem, const Chunk& chunk, std::size_t segment, bool backward, std::size_t step,
                      const StepInputs& inputs, std::span<double> result) const {
  run_cut_step(options.shape(problem.vocabulary), l2, chunk, segment, backward, step, inputs, result);
}

}  // namespace simgrad::models
