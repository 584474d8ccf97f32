/// The numbers of a training that are known: scores of states, by the lineage of their parameters.
///
/// Runs of one training problem that differ in their timing alone have the same states. So the first of them computes
/// the scores, and others simulate their timeline without any numbers and find them here. A lineage is a hash of all
/// that a state follows from, so that a score can never be that of another state; a state that is not known ends the
/// run, which is then done with its numbers.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "values/lineage.h"

namespace simgrad::training {

/// The result of one evaluation.
struct Score {
  std::optional<double> loss;  ///< null in a timing-only run
  std::optional<double> metric;
  std::optional<double> dropped_share = {}, expert_imbalance = {};  ///< record::Evaluation has them
  std::vector<double> of_sources = {};  ///< of a mixture, source by source: loss and metric, as record::SourceScore
};

class Trajectory {
 public:
  /// Returns the score of the state, or computes and keeps it. Without `compute` an unknown one is an error, and
  /// lacking() from then on.  fits: whether a score is one of this training; one from a file that is not counts as
  /// unknown.  Errors: std::runtime_error.
  Score score(
      const values::Lineage& state, const std::function<Score()>& compute,
      const std::function<bool(const Score& score)>& fits = [](const Score&) { return true; });
  /// The distance between replicas, looked up or computed in the same way.
  double distance(const values::Lineage& replicas, const std::function<double()>& compute);

  bool empty() const { return scores_.empty() && distances_.empty(); }
  /// Whether a number was asked for that is neither known nor can be computed.
  bool lacking() const { return lacking_; }
  /// Whether a known number was left out because it is none of this training.
  bool misfits() const { return misfits_; }

  /// The numbers that were computed here, a line each; doubles read back to the same bits.
  std::string computed() const;
  /// All numbers, as lines.
  std::string text() const;
  /// Adds numbers from such lines. Returns whether all of them are well-formed.
  bool add(std::string_view lines);

 private:
  template <class Number>
  struct Known {
    Number number;
    bool computed = false;  ///< here
  };
  template <class Number>
  using All = std::map<values::Lineage, Known<Number>>;

  template <class Number>
  Number found(All<Number>& all, const values::Lineage& lineage, const std::function<Number()>& compute,
               const std::function<bool(const Number& number)>& fits);
  std::string lines(bool computed_only) const;
  bool add_line(std::string_view line);

  All<Score> scores_;
  All<double> distances_;
  bool lacking_ = false;
  bool misfits_ = false;
};

}  // namespace simgrad::training
