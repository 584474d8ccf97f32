/// Ranks of a mesh that one of them can stand for, because their times, messages and memory are the same.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "cluster/stand_ins.h"
#include "training/parts/mesh.h"

namespace simgrad::cluster {
class World;
}

namespace simgrad::training {

/// One rank of each stage stands for the others: those that share its products, and those that have its part.
/// Only where all ranks with one part do alike, where those that share products meet in rings, and where all hosts are
/// alike.  meets, rings: the way of those with one part, and their rings at once (Traits).  Returns nothing if messages
/// of two ranks that would be represented can be on one link, or take longer on their routes than on those of the ranks
/// that stand for them.
std::unique_ptr<const cluster::StandIns> stand_ins_of(const Mesh& mesh, const cluster::World& world,
                                                      cluster::Meets meets, std::optional<std::int64_t> rings);

}  // namespace simgrad::training
