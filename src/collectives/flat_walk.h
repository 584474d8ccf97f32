/// The times of messages among all members, each of which is posted when its sender and its receiver have come.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "cluster/computed/collective_timing.h"

namespace simgrad::collectives {

/// The bytes from one member to another.
using BytesBetween = std::function<std::int64_t(int source, int target)>;

/// A message starts when both its ends have come, takes its route's latency, and then as long as its fair share of the
/// links lets it. Cost: where all routes are alike and all messages equally long, P log P. Else P^2, and for each of
/// the instants at which messages begin or end, the kinds of messages: those that begin together, are equally long and
/// share links with messages of the same kinds are of one kind, and have one rate.
class FlatWalk {
 public:
  FlatWalk(const cluster::AlphaBetaGamma& costs, std::span<const double> arrivals, const BytesBetween& bytes);

  double start_s(int source, int target) const;
  /// Infinite: it never starts.
  double end_s(int source, int target) const;

 private:
  bool all_alike(const BytesBetween& bytes) const;
  void share_one_link_each(double bytes);
  void share_links(const BytesBetween& bytes);

  const cluster::AlphaBetaGamma& costs_;
  std::span<const double> arrivals_;
  std::vector<int> place_;            ///< by member: in the order of arrival
  std::vector<double> end_by_place_;  ///< of messages whose later end comes at that place
  std::vector<double> end_s_;         ///< by source and target, where messages differ
};

}  // namespace simgrad::collectives
