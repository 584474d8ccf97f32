/// Learning's evaluations.
#include <algorithm>
#include <array>
#include <numeric>

#include "training/learning/learning.h"
#include "training/learning/samples.h"

namespace simgrad::training {

using values::Tensor;

namespace {

/// An evaluation is cut into this many rows a piece, whatever the threads, so that its sums have one order.
constexpr std::int64_t rows_a_piece = 2048;

}  // namespace

RowSet Learning::evaluation_rows(double elapsed_s) const {
  if (setup_.evaluate_on == EvaluationSet::next) return batches_.next(elapsed_s);
  return {0, evaluation_set().rows, {}};
}

std::vector<Tensor> Learning::dispatch_scores(const Tensor& w, RowSet rows) const {
  std::vector<Tensor> pieces;
  const std::int64_t end = rows.first + rows.count;
  const std::array inputs{w};
  for (std::int64_t first = rows.first; first < end; first += rows_a_piece) {
    const std::int64_t count = std::min(rows_a_piece, end - first);
    const std::array key{static_cast<std::uint64_t>(first), static_cast<std::uint64_t>(count)};
    const double flops = setup_.model->gradient_flops(setup_.problem, count) / 2.0;
    const values::Operation operation{.name = "score", .key = key, .seconds = flops / flops_per_real_second};
    const auto numbers = static_cast<std::int64_t>(2 + 2 * setup_.problem.sources.size());
    pieces.push_back(dispatcher_.dispatch(
        operation, numbers, inputs,
        [data = setup_.data, on = setup_.evaluate_on, model = setup_.model, problem = setup_.problem, first, count,
         format = travels_as(setup_.precision),
         effort = effort_](std::span<const std::span<const double>> in, std::span<double> out) {
          const Stopwatch watch(effort->evaluations_ns);
          models::Samples samples = samples_of(on == EvaluationSet::test ? data->test : data->train);
          samples.first = first;
          samples.count = count;
          const models::Score score = format == values::Format::float64
                                          ? model->score(problem, samples, in[0])
                                          : model->score_in(format, problem, samples, in[0]);
          out[0] = score.loss;
          out[1] = score.metric;
          std::ranges::copy(score.of_sources, out.begin() + 2);
        }));
  }
  return pieces;
}

Score Learning::score(const Tensor& w, double elapsed_s) const {
  if (!setup_.data) return {};
  if (!setup_.trajectory) return computed_score(w, elapsed_s);
  const auto compute = [&] { return computed_score(w, elapsed_s); };
  return setup_.trajectory->score(w.lineage(), w.timing_only() ? nullptr : std::function<Score()>(compute),
                                  [this](const Score& known) { return is_of_this_training(known); });
}

bool Learning::is_of_this_training(const Score& score) const {
  const std::string_view name = setup_.model->metric(setup_.problem);
  const auto share = [](const std::optional<double>& x) { return !x || !(*x < 0.0 || *x > 1.0); };  // or no number
  return score.loss && score.metric.has_value() == !name.empty() && (name != "accuracy" || share(score.metric)) &&
         score.of_sources.size() == 2 * setup_.problem.sources.size() &&
         score.dropped_share.has_value() == score.expert_imbalance.has_value() && share(score.dropped_share);
}

Score Learning::computed_score(const Tensor& w, double elapsed_s) const {
  double loss = 0.0;
  double metric = 0.0;
  const RowSet evaluated = evaluation_rows(elapsed_s);
  std::vector<double> of_sources(2 * setup_.problem.sources.size());
  for (const Tensor& piece : dispatch_scores(w, evaluated)) {
    loss += piece.value()[0];
    metric += piece.value()[1];
    for (std::size_t i = 0; i < of_sources.size(); ++i) of_sources[i] += piece.value()[2 + i];
  }
  const auto rows = static_cast<double>(evaluated.count);
  Score score{loss / rows + setup_.model->penalty(w.value()), {}};
  const std::string_view name = setup_.model->metric(setup_.problem);
  if (name == "accuracy") score.metric = metric / rows;
  const double deviation = target_deviation_ * (rows / static_cast<double>(evaluation_set().rows));
  if (name == "r2") score.metric = deviation > 0.0 ? 1.0 - metric / deviation : 0.0;
  count_choices(w, evaluated, score);
  score.of_sources = means_of_sources(std::move(of_sources), evaluated.count);
  return score;
}

/// The means of the sources' losses and metrics.  sums: over the rows of so many samples.
std::vector<double> Learning::means_of_sources(std::vector<double> sums, std::int64_t samples) const {
  for (std::size_t s = 0; s < setup_.problem.sources.size(); ++s) {
    const models::SourceShape& source = setup_.problem.sources[s];
    const auto rows = static_cast<double>(samples * source.rows);
    double &loss = sums[2 * s], &metric = sums[2 * s + 1];
    loss /= rows;
    if (source.classes > 0) {
      metric /= rows;
      continue;
    }
    const double deviation =
        source_deviations_[s] * static_cast<double>(samples) / static_cast<double>(evaluation_set().rows);
    metric = deviation > 0.0 ? 1.0 - metric / deviation : 0.0;
  }
  return sums;
}

/// The choices of experts by the tokens of those rows, over all layers of experts.
void Learning::count_choices(const Tensor& w, RowSet rows, Score& score) const {
  const Stopwatch watch(effort_->evaluations_ns);
  models::Samples samples = samples_of(evaluation_set());
  samples.first = rows.first;
  samples.count = rows.count;
  std::int64_t all = 0, dropped = 0;
  double imbalance = 0.0;
  for (const models::ExpertLoad& load :
       setup_.model->expert_loads(setup_.problem, samples, w.value(), travels_as(setup_.precision))) {
    const std::int64_t choices = std::accumulate(load.chosen.begin(), load.chosen.end(), std::int64_t{0});
    const double even = static_cast<double>(choices) / static_cast<double>(load.chosen.size());
    all += choices;
    dropped += load.dropped;
    imbalance = std::max(imbalance, static_cast<double>(std::ranges::max(load.chosen)) / even);
  }
  if (all == 0) return;
  score.dropped_share = static_cast<double>(dropped) / static_cast<double>(all);
  score.expert_imbalance = imbalance;
}

}  // namespace simgrad::training
