/// The learning curve of a training: when states are evaluated, and their scores.
#pragma once

#include <functional>
#include <vector>

#include "record/record.h"
#include "training/learning/trajectory.h"
#include "training/options.h"
#include "training/session/progress.h"

namespace simgrad::training {

class Learning;

class Curve {
 public:
  /// The parameters of a state, put together from the ranks' parts or replicas.
  struct Whole {
    values::Tensor w;
    std::vector<values::Tensor> replicas = {};  ///< those whose distance to their mean is measured; none: not measured
    values::Tensor mean = {};                   ///< theirs
  };
  using Assemble = std::function<Whole(const std::vector<values::Tensor>& replicas)>;
  Curve(const Learning& learning, const EvaluateOptions& options, Assemble assemble)
      : learning_(learning), options_(options), assemble_(std::move(assemble)) {}

  /// Rows at the scenario's interval. Then the interval doubles, and again after every `rows_per_doubling` rows more:
  /// a year of virtual time at a row per microsecond has 410,000 rows, and not 3e13.
  static constexpr std::size_t dense_rows = 100'000;
  static constexpr std::size_t rows_per_doubling = 10'000;
  /// Returns how many times the scenario's interval lies between the next rows, after so many of them: a power of 2.
  static std::int64_t stride(std::size_t rows);

  /// Whether a step's state is to be evaluated.  last: whether it is the last step.
  bool due(std::int64_t step, bool last) const;
  /// Returns the period of the next evaluation by time, after the evaluation of that period.
  std::int64_t next_period(std::int64_t period) const;
  /// Goes back to an earlier state, which is evaluated again.
  void resume() { resumed_ = true; }
  /// Takes the state that the training has reached; evaluates nothing.
  void reach(Observed state);
  /// To be called after that state has been evaluated, if it was due.
  void pass() { resumed_ = false; }

  /// The last state that is complete.
  const Observed& latest() const { return latest_; }
  bool has_state() const { return !latest_.replicas.empty(); }
  bool evaluated_latest() const { return evaluated_latest_; }
  /// Appends the latest state's scores, and returns the row. Waits for the numbers.
  record::Evaluation& evaluate(double elapsed_s, std::int64_t samples);
  /// Keeps the parameters that are evaluated last, from now on.
  void keep_evaluated() { keeps_evaluated_ = true; }
  /// These parameters, which have the scores of the last row; null if none are kept.
  const values::Tensor& evaluated() const { return evaluated_; }
  /// Score::of_sources of the last row.
  const std::vector<double>& of_sources() const { return of_sources_; }
  std::size_t size() const { return rows_.size(); }
  std::vector<record::Evaluation> take_rows() { return std::move(rows_); }

 private:
  /// The score of these parameters. Between two periods they often stay as they are: then it is the one before.
  Score score_of(const values::Tensor& w, double elapsed_s);

  const Learning& learning_;
  EvaluateOptions options_;
  Assemble assemble_;
  Observed latest_;
  bool evaluated_latest_ = false;
  values::Tensor scored_;  ///< the parameters evaluated last, where evaluations are by time
  Score score_;            ///< theirs
  bool keeps_evaluated_ = false;
  values::Tensor evaluated_;
  std::vector<double> of_sources_;
  bool resumed_ = false;  ///< the next state is the one gone back to
  std::vector<record::Evaluation> rows_;
};

}  // namespace simgrad::training
