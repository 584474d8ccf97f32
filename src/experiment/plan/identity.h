/// The identity of a run: a hash of all that determines its results.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "experiment/plan/plan.h"

namespace simgrad::experiment {

/// Raised by every release that changes the results of a scenario.
constexpr int results_number = 5;

/// The run of strategy `index` at a grid point under a seed, with its id.
RunPlan plan_run(const std::shared_ptr<const Settings>& settings, std::size_t index,
                 const nlohmann::ordered_json& parameters, std::uint64_t seed);

/// The run of a job at a grid point, beside all other jobs or by itself.
RunPlan plan_job(const std::shared_ptr<const Settings>& settings, const std::vector<JobPlan>& together, std::size_t job,
                 bool by_itself, const nlohmann::ordered_json& parameters, std::uint64_t seed);

/// The run's baseline: the training by one worker at nominal speed, without network, failures or slow ranks.
RunPlan plan_baseline(const RunPlan& run);

}  // namespace simgrad::experiment
