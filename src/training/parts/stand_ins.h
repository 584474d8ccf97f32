/// Ranks of a mesh that one of them can stand for, because their times, messages and memory are the same.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "cluster/stand_ins.h"
#include "training/parts/mesh.h"

namespace simgrad::cluster {
class World;
}

namespace simgrad::training {

/// The sums of gradients: the dimensions that they go along, how ranks meet in them, and their rings at once (Traits).
struct MeetingPoints {
  std::vector<Dimension> along;
  cluster::Meets meets = cluster::Meets::freely;
  std::optional<std::int64_t> rings = {};
};

/// One rank of each stage stands for the others: those that share its products, and those that have its part, unless
/// sums go along context or expert, too. Only where all ranks that meet in sums do alike, where those that share
/// products meet in rings, and where all hosts are alike. Returns nothing if messages of two ranks that would be
/// represented can be on one link, or take longer on their routes than on those of the ranks that stand for them.
std::unique_ptr<const cluster::StandIns> stand_ins_of(const Mesh& mesh, const cluster::World& world,
                                                      const MeetingPoints& sums);

}  // namespace simgrad::training
