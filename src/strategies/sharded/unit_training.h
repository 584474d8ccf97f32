/// Training by units whose parameters are sharded: fsdp, and stage 3 of zero.
#pragma once

#include <functional>

#include "cluster/ranks/communicator.h"
#include "strategies/sharded/unit_options.h"

namespace simgrad::strategies {

void train_by_units(Worker& worker, const UnitOptions& options);

/// The parameters, gathered piece by piece.  shard: this member's.
Tensor gathered(const cluster::Communicator& comm, const Pieces& pieces, const Tensor& shard,
                const collectives::Rings& rings);

/// Traits of a strategy whose workers report shards of these pieces.
Traits sharded_traits(int members, std::function<std::vector<Stretch>(const training::Learning&)> pieces);

}  // namespace simgrad::strategies
