/// The scenario's sections [training], [stop] and [evaluate].
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/describe.h"
#include "base/registry.h"
#include "training/learning/input.h"
#include "training/learning/learning_rate_schedule.h"
#include "training/learning/units.h"
#include "training/optimizers/optimizer.h"
#include "training/partitions/partition.h"
#include "training/precision.h"

namespace simgrad::training {

/// The growth of the learning rate with a batch that grows with the workers.
enum class RateScaling { none, linear, sqrt };

/// A run that does not fit into its devices' memory.
enum class MemoryCheck {
  refuse,  ///< before it starts
  ignore
};

struct Options : base::Described {
  std::optional<std::int64_t> batch_size;             ///< over all workers; none: all rows ("full")
  std::optional<std::int64_t> batch_size_per_worker;  ///< instead of batch_size
  base::Slot<Optimizer> optimizer{optimizers(), "sgd"};
  double learning_rate = 0.1;
  RateScaling learning_rate_scaling = RateScaling::none;
  base::Slot<LearningRateSchedule> schedule{learning_rate_schedules(), "constant"};
  std::int64_t warmup_steps = 0;
  std::optional<double> clip_norm;  ///< none: gradients are not clipped
  base::Slot<Partition> partition{partitions(), "iid"};
  double desynchronise = 0.05;  ///< spread of gradients' times under asynchronous strategies; 0: equal, in phase
  bool numbers = true;
  Recompute recompute = Recompute::none;
  MemoryCheck memory = MemoryCheck::refuse;
  Precision precision = Precision::float64;
  Wire wire = Wire::as_precision;
  GradientPrecision gradient_precision = GradientPrecision::framework;
  InputOptions input;
  std::int64_t checkpoint_every_steps = 0;      ///< 0: not by steps
  std::optional<std::string> checkpoint_every;  ///< by time: seconds, or "young" or "daly"
  bool checkpoint_async = false;                ///< storage is written while the training goes on

  void describe(base::Describer& d) override;

  values::Format travels_as() const { return training::travels_as(precision, wire); }
  NumberBytes number_bytes() const { return training::number_bytes(precision, wire, gradient_precision); }

  /// Seconds of work between two checkpoints, where they go by time.  mtbf_s: of the whole job; cost_s: of one.
  std::optional<double> checkpoint_interval_s(std::optional<double> mtbf_s, double cost_s) const;
  bool checkpoints_by_rule() const { return checkpoint_every == "young" || checkpoint_every == "daly"; }
  bool checkpoints() const { return checkpoint_every_steps > 0 || checkpoint_every; }

  /// The learning rate for steps of so many samples, before schedule and warm-up. `linear`: P times that of one
  /// worker, `sqrt`: sqrt(P) times, P = batch / batch_size_per_worker.
  /// Source: P. Goyal et al., Accurate, Large Minibatch SGD: Training ImageNet in 1 Hour, 2017; for sqrt
  /// A. Krizhevsky, One weird trick for parallelizing convolutional neural networks, 2014.
  double scaled_learning_rate(std::int64_t batch) const;
  /// The factor of the learning rate for an update after `rounds` rounds: the schedule's times the warm-up's, which is
  /// (k + 1) / warmup_steps in step k and 1 from step warmup_steps - 1 on.
  double rate_factor(double rounds) const;
};

/// The first rule to hold stops the training.
struct StopOptions : base::Described {
  std::optional<double> loss;  ///< the target
  std::optional<double> epochs;
  std::optional<std::int64_t> samples;
  std::optional<double> tokens;
  std::optional<std::int64_t> steps;
  std::optional<double> time_s;

  /// The limit of samples that `samples` and `tokens` say together, where samples have so many tokens.
  std::optional<std::int64_t> samples_of(double tokens_a_sample) const;
  void describe(base::Describer& d) override;
};

enum class EvaluationSet {
  train,
  test,
  next  ///< where rows come in during the training: the next ones
};

struct EvaluateOptions : base::Described {
  std::optional<std::int64_t> every_steps;  ///< 1 in a scenario that gives neither
  std::optional<double> every_s;
  EvaluationSet on = EvaluationSet::train;

  void describe(base::Describer& d) override;
};

}  // namespace simgrad::training
