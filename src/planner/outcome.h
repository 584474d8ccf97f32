/// The outcome of a simulation, as far as a plan needs it.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "experiment/plan/plan.h"
#include "record/record.h"

namespace simgrad::planner {

/// A moment of a training.
struct Moment {
  double samples = 0.0;
  double time_s = 0.0;
  std::optional<double> loss = {};  ///< null in a run of times alone
};

struct Outcome {
  record::Status status = record::Status::stopped;
  std::string error = {};
  double time_s = 0.0;  ///< simulated
  std::int64_t steps = 0;
  double samples = 0.0;
  std::optional<double> usd = {};
  std::optional<double> energy_j = {};
  std::int64_t workers = 0;
  std::vector<Moment> curve = {};  ///< from step 0 on; long ones are thinned
  double real_s = 0.0;             ///< the simulation's own time

  bool reached() const { return status == record::Status::reached; }
  bool failed() const { return status == record::Status::failed; }
};

/// The outcome without its real time.
Outcome outcome_of(const experiment::RunPlan& run, const record::Record& record);

nlohmann::ordered_json to_json(const Outcome& outcome);
/// Errors: as nlohmann::json throws for another document.
Outcome outcome_from_json(const nlohmann::ordered_json& json);

}  // namespace simgrad::planner
