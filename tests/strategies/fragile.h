// Small trainings on a slow network, whose workers crash.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "strategies/programs.h"

namespace simgrad::tests {

using cluster::Crash;
using cluster::Recovery;

constexpr std::int64_t steps = 20;
constexpr std::int64_t kept_every = 4;
constexpr double detection_s = 0.01;
constexpr double repair_s = 0.05;
constexpr double slow_B = 1e5;     // so slow a network that a message of 64 bytes takes 0.64 ms
constexpr double t_c = 12 * 1e-4;  // 12 rows a rank at 100,000 flops each
constexpr double parts_d = 8;      // parameters

inline Trial fragile(training::Program program) {
  Trial trial{.program = std::move(program), .workers = 4, .rows = 48, .features = 8};
  trial.flops_a_row = 1e5;
  trial.cluster.host_spec.bandwidth_bytes_per_s = slow_B;
  trial.training.checkpoint_every_steps = kept_every;
  trial.stop.steps = steps;
  trial.cluster.failures.detection_s = detection_s;
  return trial;
}

inline Crash crash(int rank, double at_s, std::optional<double> repair = repair_s) {
  Crash one;
  one.rank = rank;
  one.at_s = at_s;
  one.repair_s = repair;
  return one;
}

inline Trial with_crashes(Trial trial, std::vector<Crash> crashes, Recovery recovery = Recovery::restart) {
  trial.cluster.failures.crashes = std::move(crashes);
  trial.cluster.failures.recovery = recovery;
  return trial;
}

constexpr double M = 8 * parts_d;
constexpr double transfer_s = alpha + 4 * M / slow_B;                  // all four workers' to or from the server
constexpr double star_s = t_c + 2 * transfer_s + 6 * parts_d / speed;  // adding four, and 2 d for the update
constexpr double hop_s = alpha + M / 4 / slow_B;
constexpr double ring_s = t_c + 6 * hop_s + 3 * parts_d / 4 / speed + 2 * parts_d / speed;
constexpr double gossip_s = t_c + alpha + 2 * M / slow_B + 5 * parts_d / speed + 2 * parts_d / speed;

/// A synchronous strategy, how long its step takes, and when in a step all four are communicating.
struct Synchronous {
  std::string name;
  training::Program program;
  double step_s;
  double communicating_s;
};

inline std::vector<Synchronous> synchronous() {
  return {{"bsp, in a push", parameter_server(Consistency::bsp), star_s, transfer_s + t_c + 0.5 * transfer_s},
          {"mapreduce, in the reduce", mapreduce(), star_s, transfer_s + t_c + 0.5 * transfer_s},
          {"allreduce, in the third exchange", ring_allreduce(), ring_s, t_c + 2.5 * hop_s},
          {"allreduce, in the fifth exchange", ring_allreduce(), ring_s, t_c + 4.5 * hop_s},
          {"gossip, among neighbours", gossip("ring", GossipUpdate::combine_then_adapt), gossip_s,
           t_c + 0.5 * (alpha + 2 * M / slow_B)}};
}

/// A gossiping rank that is not beside the lost one may compute one gradient more before it notices, at each crash.
inline void check_samples(const record::Record& record, const std::string& name, std::int64_t expected,
                          int crashes = 1) {
  const std::int64_t ahead = record.samples - expected;
  CHECK((ahead == 0 || (name.starts_with("gossip") && ahead % 12 == 0 && ahead > 0 && ahead <= 12 * crashes)));
}

inline void check_sound(const record::Record& record) {
  CHECK(record.error.empty());
  CHECK(record.status == record::Status::stopped);
}

}  // namespace simgrad::tests
