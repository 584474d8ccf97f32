/// Ranks that compute several pieces in a row, equally long ones from one instant on: one actor wakes for all of them.
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <vector>

#include "record/timeline.h"

namespace simgrad::cluster {

class Cluster;
class Ranks;
class Timekeeper;

/// One of several computations in a row.
struct WorkPiece {
  double flops = 0.0;
  record::Work work = record::Work::compute;
};

class EqualWork {
 public:
  using Over = std::function<void(std::size_t piece)>;

  EqualWork(const Cluster& cluster, Ranks& ranks, Timekeeper& timekeeper)
      : cluster_(cluster), ranks_(ranks), timekeeper_(timekeeper) {}

  /// Blocks the rank's main actor until all pieces are computed.  over: called at the end of each, in this actor or in
  /// that of a rank with equal pieces; it does not block.  Only where the speeds of hosts are constant, no rank shares
  /// its core, and no rank is lost.
  void compute(int rank, std::span<const WorkPiece> pieces, const Over& over);

 private:
  struct Member;
  struct Group;
  /// Calls for pieces that take no time, then begins the next one; its number.
  std::size_t begin(Member& member, std::span<const double> seconds, std::size_t piece) const;
  void end(Member& member, std::size_t piece) const;
  /// Goes through the pieces for all members of the group.
  void carry(Group& group, std::span<const double> seconds, std::size_t piece) const;

  const Cluster& cluster_;
  Ranks& ranks_;
  Timekeeper& timekeeper_;
  double now_s_ = -1.0;
  std::map<std::vector<double>, std::shared_ptr<Group>> groups_;  ///< that begin at `now_s_`, by seconds of the pieces
};

}  // namespace simgrad::cluster
