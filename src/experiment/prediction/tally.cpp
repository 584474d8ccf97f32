#include "experiment/prediction/tally.h"

#include <algorithm>
#include <cmath>

namespace simgrad::experiment {

namespace {

/// As many rows as an evaluation of a run takes at a time: its sums have the same order.
constexpr std::int64_t rows_a_piece = 2048;

}  // namespace

void ScoreTally::add(const models::Samples& rows, std::int64_t tokens) {
  const values::Format format = training::travels_as(model_.precision);
  for (std::int64_t first = 0; first < rows.count; first += rows_a_piece) {
    models::Samples piece = rows;
    piece.count = std::min(rows_a_piece, rows.count - first);
    if (piece.indices)
      piece.indices += first;
    else
      piece.first += first;
    const models::Score score = format == values::Format::float64
                                    ? model_.model->score(model_.problem, piece, model_.w)
                                    : model_.model->score_in(format, model_.problem, piece, model_.w);
    sum_.loss += score.loss;
    sum_.metric += score.metric;
    // Source: B. P. Welford, Note on a Method for Calculating Corrected Sums of Squares and Products, 1962.
    for (std::int64_t i = 0; i < piece.count; ++i) {
      const double y = piece.targets[piece.row(i)], away = y - mean_;
      mean_ += away / static_cast<double>(++rows_);
      deviation_ += away * (y - mean_);
    }
  }
  scored_ += rows.count * tokens;
}

void ScoreTally::fill(Predictions& predictions) const {
  if (rows_ == 0) return;
  const auto rows = static_cast<double>(rows_);
  predictions.scored = scored_;
  predictions.loss = sum_.loss / rows + model_.model->penalty(model_.w);
  predictions.metric_name = model_.model->metric(model_.problem);
  const data::Scaling& scaling = model_.encoding.target_scaling;
  predictions.standardised = !scaling.means.empty();
  if (predictions.metric_name == "r2")
    predictions.rmse = std::sqrt(sum_.metric / rows) * (predictions.standardised ? scaling.deviations[0] : 1.0);
  if (predictions.metric_name == "accuracy") predictions.metric = sum_.metric / rows;
  if (predictions.metric_name == "r2") predictions.metric = deviation_ > 0.0 ? 1.0 - sum_.metric / deviation_ : 0.0;
}

}  // namespace simgrad::experiment
