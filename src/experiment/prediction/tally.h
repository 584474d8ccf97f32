/// The score of predictions whose targets are known, as a run's evaluation adds it up.
#pragma once

#include "experiment/prediction/predict.h"

namespace simgrad::experiment {

class ScoreTally {
 public:
  explicit ScoreTally(const SavedModel& model) : model_(model) {}

  /// Adds the loss of rows, some at a time in their order.  tokens: of a row of text; 1 elsewhere.
  void add(const models::Samples& rows, std::int64_t tokens = 1);
  /// Sets loss and metric of what was added; nothing was: they stay empty.
  void fill(Predictions& predictions) const;

 private:
  const SavedModel& model_;
  std::int64_t rows_ = 0, scored_ = 0;
  models::Score sum_;
  double mean_ = 0.0, deviation_ = 0.0;  ///< of the targets
};

}  // namespace simgrad::experiment
