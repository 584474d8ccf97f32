/// The finished runs of a plan, as they stand in the results: with their bills, and compared with other runs.
#pragma once

#include <cstddef>
#include <string>
#include <unordered_map>
#include <vector>

#include "experiment/plan/plan.h"
#include "outputs/results.h"

namespace simgrad::experiment {

/// The run before it is simulated: its names, options and seed.
outputs::Run described(const RunPlan& plan);

/// Sets the speed-ups of a run against its baseline. A run that failed has none, nor has one whose baseline failed.
void compare_with_baseline(outputs::Run& run, const record::Record& baseline);

/// Sets how much longer a job takes beside the others than by itself: to the target, or else to its end.
void compare_with_alone(outputs::Run& run, const record::Record& by_itself);

/// Records of finished work, from which the runs of a plan follow; one piece of work may stand for several runs.
class FinishedRuns {
 public:
  explicit FinishedRuns(const Plan& plan);

  std::size_t size() const { return done_.size(); }

  /// Adds a finished piece of work. Returns the plan's runs that are final now: they are finished, and so are the runs
  /// that they are compared with.
  std::vector<const RunPlan*> add(const std::string& work, outputs::Run run);

  /// True if the run is finished; its comparisons may be still to come.
  bool contains(const RunPlan& plan) const { return done_.contains(plan.work); }
  /// The record of a piece of work that failed; null if it did not, or is not finished.
  const outputs::Run* failed(const RunPlan& plan) const;
  /// A finished run, compared as far as is possible.
  outputs::Run run(const RunPlan& plan) const;
  /// The runs of those plans that are finished, in their order.
  std::vector<outputs::Run> runs(const std::vector<RunPlan>& plans) const;

 private:
  const record::Record* record_of(const std::string& work) const;

  std::unordered_map<std::string, outputs::Run> done_;                    ///< by work
  std::unordered_map<std::string, std::string> work_of_baseline_;         ///< by the baseline's id
  std::unordered_map<std::string, std::vector<const RunPlan*>> waiting_;  ///< by work: the plan's runs that need it
  std::unordered_map<const RunPlan*, int> missing_;                       ///< how many pieces of work a run still needs
};

/// The results of a plan as far as its runs are finished: complete if all are. Without counterfactuals.
outputs::Results results_of(const Plan& plan, const FinishedRuns& finished);

}  // namespace simgrad::experiment
