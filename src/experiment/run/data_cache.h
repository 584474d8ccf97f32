/// The data of runs: loaded once for runs that share them, and checked before anything is simulated.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
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
  /// run_memory_bytes: the limit of a run, if it has one.  threads: that make large data.
  explicit DataCache(std::optional<double> run_memory_bytes = {}, int threads = 1)
      : run_memory_bytes_(run_memory_bytes), threads_(threads) {}

  /// Errors: ScenarioError, EnvironmentError; OverRunMemory, and at once where it has been thrown for these data.
  const Data& get(const RunPlan& run);

 private:
  std::optional<double> run_memory_bytes_;
  int threads_;
  std::map<std::string, std::string> over_memory_;  ///< by the key of the data: the error
  std::string key_;
  Data data_;
  bool loaded_ = false;
};

/// Loads every file, and makes every kind of data, once before the first run starts, so that their faults come first.
/// Data beyond the memory of a run are left to it: it fails.
/// tell: called for each remark about the data; may be empty.  Errors: ScenarioError, EnvironmentError.
void check_data(const std::vector<const RunPlan*>& runs, DataCache& data_cache, const Tell& tell);

/// The size of the data's files; nothing if there are none, or one has no size.
std::optional<std::uintmax_t> file_bytes(const Settings& settings);

}  // namespace simgrad::experiment
