#include "training/session/curve.h"

#include <algorithm>
#include <utility>

#include "training/learning/learning.h"

namespace simgrad::training {

std::int64_t Curve::stride(std::size_t rows) {
  if (rows < dense_rows) return 1;
  constexpr std::size_t largest = 62;  // of the powers of 2 that fit
  return std::int64_t{1} << std::min(largest, 1 + (rows - dense_rows) / rows_per_doubling);
}

bool Curve::due(std::int64_t step, bool last) const {
  if (step == 0 || resumed_ || last) return true;
  if (!options_.every_steps && options_.every_s) return false;
  const std::int64_t every = options_.every_steps.value_or(1);
  return step % every == 0 && step / every % stride(rows_.size()) == 0;
}

std::int64_t Curve::next_period(std::int64_t period) const {
  const std::int64_t apart = stride(rows_.size());
  return (period / apart + 1) * apart;
}

void Curve::reach(Observed state) {
  latest_ = std::move(state);
  evaluated_latest_ = false;
}

record::Evaluation& Curve::evaluate(double elapsed_s, std::int64_t samples) {
  evaluated_latest_ = true;
  const Whole whole = assemble_(latest_.replicas);
  const Score score = score_of(whole.w, elapsed_s);
  of_sources_ = score.of_sources;
  if (keeps_evaluated_) evaluated_ = whole.w;
  record::Evaluation row{.step = latest_.step,
                         .simulated_s = elapsed_s,
                         .samples = samples,
                         .loss = score.loss,
                         .metric = score.metric,
                         .consensus_distance = {},
                         .dropped_share = score.dropped_share,
                         .expert_imbalance = score.expert_imbalance};
  if (!whole.replicas.empty() && learning_.scores())
    row.consensus_distance = learning_.consensus_distance(whole.replicas, whole.mean);
  return rows_.emplace_back(std::move(row));
}

Score Curve::score_of(const values::Tensor& w, double elapsed_s) {
  if (!options_.every_s || options_.on == EvaluationSet::next) return learning_.score(w, elapsed_s);
  if (!scored_ || scored_.identity() != w.identity()) {
    scored_ = w;
    score_ = learning_.score(w, elapsed_s);
  }
  return score_;
}

}  // namespace simgrad::training
