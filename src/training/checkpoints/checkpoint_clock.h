/// When states are written to stable storage.
///
/// Source: J. W. Young, "A first order approximation to the optimum checkpoint interval", Communications of the ACM 17,
/// 1974; J. T. Daly, "A higher order estimate of the optimum checkpoint interval for restart dumps", Future Generation
/// Computer Systems 22, 2006.
#pragma once

#include <cstdint>
#include <optional>
#include <set>

namespace simgrad::training {

/// Seconds of work between two checkpoints.  mtbf_s: of the whole job.  cost_s: of writing one.
double young_interval_s(double mtbf_s, double cost_s);
double daly_interval_s(double mtbf_s, double cost_s);

/// Chooses the steps whose states are written. The first rank to arrive at a step decides for all.
class CheckpointClock {
 public:
  /// every_steps: 0: not by steps.  every_s: none: not by time.
  CheckpointClock(std::int64_t every_steps, std::optional<double> every_s)
      : every_steps_(every_steps), every_s_(every_s) {}

  bool due(std::int64_t step, double now, double cost_s);
  /// All ranks start again from this step.
  void restart(std::int64_t step, double now);

 private:
  std::int64_t every_steps_;
  std::optional<double> every_s_;
  double last_s_ = 0.0;
  std::int64_t decided_ = 0;
  std::set<std::int64_t> chosen_;
};

}  // namespace simgrad::training
