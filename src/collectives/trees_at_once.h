/// Two trees at once, each with half of the vector in chunks, on the way up and on the way down at the same time.
///
/// Source: P. Sanders, J. Speck, J. L. Traeff, "Two-tree algorithms for full bandwidth broadcast, reduction and scan",
/// Parallel Computing 35, 2009; NVIDIA, NCCL (its trees: double binary among hosts, a chain in each host).
/// Cost: a chunk goes up as soon as it has come from all children, and down as soon as it has come from the parent; a
/// link's bandwidth is divided evenly among the hops that are on it. For k chunks of c bytes: the alpha + c beta of the
/// hops from the deepest member to a root and back, and (k-1) c beta of the slowest hop.
#pragma once

#include <memory>
#include <string_view>
#include <vector>

#include "cluster/computed/collective_timing.h"
#include "collectives/split.h"

namespace simgrad::collectives {

/// A tree over a group's members: the parent of each; -1: the root.
using Parents = std::vector<int>;

/// The two trees of NCCL: a chain in each host, from the last member to the first and, in the second tree, from the
/// first one to the last; double binary trees among the ends of the chains.  hosts: the members of each.
std::vector<Parents> trees_of_hosts(const std::vector<std::vector<int>>& hosts);

/// chunk_bytes: the longest chunk.  name: in results.
std::shared_ptr<const cluster::CollectiveTiming> timing_of_trees(std::vector<Parents> trees, const Extent& x,
                                                                 double chunk_bytes, std::string_view name,
                                                                 values::Combination how);

}  // namespace simgrad::collectives
