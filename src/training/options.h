/// The scenario's sections [training], [stop] and [evaluate].
#pragma once

#include <cstdint>
#include <optional>

#include "base/describe.h"
#include "base/registry.h"
#include "training/optimizer.h"
#include "training/partition.h"
#include "training/schedule.h"

namespace simgrad::training {

struct Options : base::Described {
  std::optional<std::int64_t> batch_size;             ///< over all workers; none: all rows ("full")
  std::optional<std::int64_t> batch_size_per_worker;  ///< instead of batch_size
  base::Slot<Optimizer> optimizer{optimizers(), "sgd"};
  double learning_rate = 0.1;
  base::Slot<Schedule> schedule{schedules(), "constant"};
  base::Slot<Partition> partition{partitions(), "iid"};
  bool numbers = true;
  std::int64_t checkpoint_every_steps = 0;  ///< 0: only the state at step 0 survives a crash

  void describe(base::Describer& d) override;
};

/// Whichever comes first.
struct StopOptions : base::Described {
  std::optional<double> loss;  ///< the target
  std::optional<double> epochs;
  std::optional<std::int64_t> samples;
  std::optional<std::int64_t> steps;
  std::optional<double> time_s;

  void describe(base::Describer& d) override;
};

enum class EvaluationSet { train, test };

struct EvaluateOptions : base::Described {
  std::optional<std::int64_t> every_steps;  ///< whoever reads a scenario makes it 1, unless every_s is given
  std::optional<double> every_s;
  EvaluationSet on = EvaluationSet::train;

  void describe(base::Describer& d) override;
};

}  // namespace simgrad::training
