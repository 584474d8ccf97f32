// A run with a value in every field, and the names of its members.
#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "outputs/results.h"

namespace simgrad::outputs {

/// A run in which every field is set and no two numbers are equal.
inline Run full_run() {
  Run run;
  run.id = "0123456789abcdef";
  run.strategy = "parameter_server";
  run.label = "async \"PS\", fast";
  run.options = {{"consistency", "asp"}, {"servers", 1}};
  run.parameters = {{"cluster.workers", 2}, {"cluster.latency", "50us"}};
  run.seed = std::numeric_limits<std::uint64_t>::max();
  run.workers = 2;
  run.speedup_throughput = 1.75;
  run.speedup_time_to_target = 1.5;
  run.efficiency = 0.875;
  run.wall_s = 0.1;
  run.record = {
      .status = record::Status::reached,
      .error = "",
      .simulated_s = 4.0,
      .steps = 5,
      .samples = 600,
      .samples_seen = 500,
      .epochs = 6.5,
      .final_loss = 0.03125,
      .time_to_target_s = 3.5,
      .bytes = 7000,
      .messages = 80,
      .staleness_mean = 0.9,
      .staleness_max = 1.0,
      .spectral_gap = 0.3,
      .crashes = 2,
      .lost_s = 0.125,
      .recovery_s = 0.25,
      .checkpoint_s = 0.0625,
      .goodput = 0.5,
      .staleness_counts = {{0, 3}, {1, 7}},
      .metric_name = "accuracy",
      .network_model = "ideal",
      .notes = {"one", "two, and three"},
      .curve = {{.step = 0, .simulated_s = 0.0, .samples = 0, .loss = 1.0, .metric = {}, .consensus_distance = {}},
                {.step = 5,
                 .simulated_s = 4.0,
                 .samples = 600,
                 .loss = 0.03125,
                 .metric = 0.96875,
                 .consensus_distance = 1e-7}},
      .ranks = {{"worker", 1.0, 2.0, 1.0, 0.0, 10, 11},
                {"worker", 2.0, 1.0, 0.5, 0.5, 12, 13},
                {"server", 0.0, 3.0, 1.0, 0.0, 14, 15, "gpu"}},
      .hosts = {{"gpu", 3, 1.0, 0.5, false, true, 2.5, 100.0, {}}},
      .links = {{"up-0", 7000, 0.25, "nic"}},
      .wires = {{"up-0", "host-0", "switch-0"}},
      .collectives = {{"ring", 2, 80, 5, 0.25, 0.5, 0.125, 0.75, 0.25}},
      .stored_bytes = 640};
  run.bill.cost_usd = 0.5;
  run.bill.co2e_g = 2.0;
  return run;
}

inline std::vector<std::string> keys(const nlohmann::ordered_json& object) {
  std::vector<std::string> names;
  for (const auto& [key, value] : object.items()) names.push_back(key);
  return names;
}

}  // namespace simgrad::outputs
