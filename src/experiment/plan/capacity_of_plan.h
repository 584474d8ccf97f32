/// The parts of [capacity] that `simgrad plan` takes: failures, detection, restart, checkpoints and spares.
#pragma once

#include "experiment/plan/capacity_section.h"

namespace simgrad::experiment {

/// Whether a plan of an amount of training has failures or checkpoints by this section, which then needs no jobs.
inline bool disturbs_plans(const CapacitySection& capacity) {
  return capacity.failures->happens() || capacity.checkpoint_every;
}

/// Whether there are jobs, for `simgrad capacity`.
inline bool has_work(const CapacitySection& capacity) {
  return !capacity.jobs.empty() || !capacity.arrivals.empty() || capacity.training.hosts;
}

}  // namespace simgrad::experiment
