/// The best of an experiment's finished runs, for those who watch it.
#pragma once

#include <optional>
#include <string>

#include "experiment/plan/plan.h"
#include "record/record.h"

namespace simgrad::experiment {

/// "allreduce, workers=8, seed 1".
std::string run_name(const RunPlan& run);

/// The run that reached its target first, on its own clock; as long as none has, the one that sees most samples per
/// simulated second. Runs that failed or diverged do not count.
class BestSoFar {
 public:
  void add(const RunPlan& run, const record::Record& record);
  /// "allreduce, workers=8, seed 1: 12.3 s to the target", "...: 1234 samples per simulated second", or empty.
  const std::string& text() const { return text_; }

 private:
  std::optional<double> to_target_s_;
  double samples_per_s_ = 0.0;
  std::string text_;
};

}  // namespace simgrad::experiment
