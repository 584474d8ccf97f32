/// The rules by which a training stops: steps, samples, epochs, the target loss, simulated time. The first one decides.
#pragma once

#include <cstdint>
#include <optional>

#include "training/options.h"

namespace simgrad::training {

class StopRules {
 public:
  /// rows: of the training set.  lockstep_batch: a step's samples where every step has as many. Then samples and epochs
  /// are a number of steps.
  StopRules(const StopOptions& options, std::int64_t rows, std::optional<std::int64_t> lockstep_batch);

  /// A new generation, which may be before the step that had the last sample.
  void restart() { last_by_samples_.reset(); }
  /// Once the samples suffice, the step is the last.
  void count(std::int64_t step, std::int64_t samples);
  /// The step with which the training ends at the latest, where a rule on steps, or on samples in lockstep, says so.
  std::optional<std::int64_t> step_limit() const { return step_limit_; }
  /// Whether steps, samples or epochs end the training with that step.
  bool last_step(std::int64_t step) const;
  bool reached_target(double loss) const { return options_.loss && loss <= *options_.loss; }
  std::optional<double> time_s() const { return options_.time_s; }
  /// Progress towards the nearest limit, 0 .. 1.
  double share_done(std::int64_t step, std::int64_t samples, double elapsed_s) const;

 private:
  StopOptions options_;
  std::optional<std::int64_t> step_limit_;
  std::optional<std::int64_t> sample_limit_;
  std::optional<std::int64_t> last_by_samples_;  ///< the step that reached it
};

}  // namespace simgrad::training
