/// Simulations beside an experiment's own runs, of which only the time and the samples are kept.
#pragma once

#include <cstddef>
#include <functional>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "experiment/plan/plan.h"
#include "experiment/run/data_cache.h"
#include "experiment/run/trial_store.h"
#include "record/record.h"

namespace simgrad::experiment {

/// The work around simulations in children.
struct Simulations {
  /// Called in the child: what the parent needs of the record.
  std::function<nlohmann::ordered_json(const RunPlan& run, const record::Record& record)> answer;
  /// Called in the parent, in the order in which runs end.  real_s: the real time of the simulation.
  std::function<void(std::size_t run, const nlohmann::ordered_json& answer, double real_s)> take;
  /// Called in the parent for a run whose process has died or whose data cannot be read any more.
  std::function<void(std::size_t run, const std::string& fault)> failed;
  /// Asked between events. If not, runs under way are given up.
  std::function<bool()> goes_on;
};

/// Simulates runs in children, `jobs` at a time, started in their order. A run whose collectives meet on a link is
/// simulated again message by message.
void simulate_each(const std::vector<const RunPlan*>& runs, DataCache& data_cache, int jobs, int threads,
                   const Simulations& does);

/// Simulates in children, some at a time, what the store does not have, and adds it. Returns an outcome a run: nothing
/// where a trial failed, or where its data cannot be read any more. Returns no outcomes at all after an interrupt.
std::vector<std::optional<Observed>> trial_outcomes(const std::vector<const RunPlan*>& runs, TrialStore& store,
                                                    DataCache& data_cache, int jobs, int threads);

}  // namespace simgrad::experiment
