/// The scenario's section [plan]: the goal of `simgrad plan` and its limits. `run` checks them and does not use them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/describe.h"
#include "base/registry.h"
#include "experiment/plan/objective.h"

namespace simgrad::experiment {

/// The most hosts of one class that may be rented.
struct HostLimit : base::Described {
  std::string host_class;
  std::int64_t most = 0;

  void describe(base::Describer& d) override;
};

struct Goal : base::Described {
  base::Slot<Objective> objective{objectives(), "cheapest"};
  std::optional<double> tokens;         ///< the training that is asked for where there is no target loss
  std::optional<std::int64_t> samples;  ///< likewise
  std::optional<double> deadline_s;     ///< of simulated time
  std::optional<std::string> budget;    ///< "100$"
  std::optional<double> power_w;        ///< mean power of the training
  std::optional<double> memory_bytes;   ///< of a device
  std::vector<HostLimit> hosts;
  std::int64_t seeds = 5;  ///< at most, of the candidates that are close
  double confidence = 0.95;
  double real_s = 60.0;  ///< the command's own time
  /// The search space, for listings: a key and its values. The scenario's document has it as axes.
  std::vector<std::pair<std::string, std::string>> space;

  std::optional<double> budget_usd() const;
  void describe(base::Describer& d) override;
};

}  // namespace simgrad::experiment
