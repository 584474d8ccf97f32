/// The options of training by units whose parameters are sharded.
#pragma once

#include <cstdint>

#include "collectives/ring.h"
#include "strategies/sharded/offload.h"
#include "strategies/sharded/pieces.h"

namespace simgrad::strategies {

struct UnitOptions {
  std::int64_t limit = 2;  ///< units that are gathered at a time; 1: each when it is needed
  bool reshard_after_forward = true;
  int group = 1;  ///< successive workers that share the parameters
  std::int64_t micro_batches = 1;
  bool no_sync = false;
  collectives::Rings rings = {};
  HostMemory host = {};
};

}  // namespace simgrad::strategies
