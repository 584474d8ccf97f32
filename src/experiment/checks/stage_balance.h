/// The stages of a pipeline on unlike devices: units, times of passes and memory, beside stages of equal size.
#pragma once

#include <string>
#include <vector>

#include "experiment/checks/batch_shares.h"
#include "strategies/parallel/on_mesh.h"

namespace simgrad::experiment {

struct StageBalance {
  std::string classes;                      ///< of its hosts: "h100", or "h100 + a100"
  double flops_per_s = 0.0;                 ///< of gradients, of its slowest rank
  std::optional<double> memory_bytes = {};  ///< of its smallest device
  std::int64_t units = 0;
  double passes_s = 0.0;      ///< of its slowest rank over a step's rows of one replica, without hops and waiting
  double needed_bytes = 0.0;  ///< of the rank's memory
};

/// The stages of a cut model's first replica as the scenario deals units to them.  blocks: as many units to each
/// instead.  rows: of the training set.
std::vector<StageBalance> stage_balance(const Settings& settings, const strategies::OnMesh& on_mesh,
                                        const models::Problem& problem, std::int64_t rows, bool blocks);

}  // namespace simgrad::experiment
