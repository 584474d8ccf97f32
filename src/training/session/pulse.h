/// Signs of life of a run, for a process that watches it.
#pragma once

#include <cstdint>

namespace simgrad::training {

/// Written by the run as it goes on, in memory that both processes share. Each field is one write.
struct Pulse {
  double share = 0.0;            ///< of the run that is done, 0 .. 1
  double simulated_s = 0.0;      ///< at the latest step
  double processor_s = 0.0;      ///< processor time of the run's process until then
  double gradients_s = 0.0;      ///< real time of gradients, summed over threads
  double evaluations_s = 0.0;    ///< real time of evaluations of the loss, likewise
  std::int64_t evaluations = 0;  ///< rows of the curve
  std::int64_t gradients = 0;    ///< computed, not only simulated
};

}  // namespace simgrad::training
