/// The data of runs: loaded once for runs that share them, and checked before anything is simulated.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "experiment/plan/plan.h"
#include "experiment/run/simulate.h"

namespace simgrad::experiment {

/// Told a remark.
using Tell = std::function<void(const std::string& text)>;

/// The data of the present run. Runs are in an order that changes them seldom.
class DataCache {
 public:
  /// Errors: ScenarioError, EnvironmentError.
  const Data& get(const RunPlan& run);

 private:
  std::string key_;
  Data data_;
  bool loaded_ = false;
};

/// Loads every file, and makes every kind of data, once before the first run starts, so that their faults come first.
/// tell: called for each remark about the data; may be empty.  Errors: ScenarioError, EnvironmentError.
void check_data(const std::vector<const RunPlan*>& runs, DataCache& data_cache, const Tell& tell);

/// The size of the data's files; nothing if there are none, or one has no size.
std::optional<std::uintmax_t> file_bytes(const Settings& settings);

}  // namespace simgrad::experiment
