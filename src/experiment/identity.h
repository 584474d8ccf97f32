/// What makes two runs the same.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "experiment/plan.h"

namespace simgrad::experiment {

/// Changes whenever a release changes the results of a scenario.
constexpr int results_number = 3;

/// The run of strategy `index` of a grid point under a seed, its id filled in.
RunPlan plan_run(const std::shared_ptr<const Settings>& settings, std::size_t index,
                 const nlohmann::ordered_json& parameters, std::uint64_t seed);

/// The run of a job of a grid point, beside all the others or by itself.
RunPlan plan_job(const std::shared_ptr<const Settings>& settings, const std::vector<JobPlan>& together, std::size_t job,
                 bool by_itself, const nlohmann::ordered_json& parameters, std::uint64_t seed);

/// Its baseline: the same training by one worker at nominal speed, without network, failures or slow ranks.
RunPlan plan_baseline(const RunPlan& run);

}  // namespace simgrad::experiment
