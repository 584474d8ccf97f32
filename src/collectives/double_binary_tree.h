/// Double binary tree: one half of the vector along each of two trees, pipelined, so that every link is busy.
///
/// Source: P. Sanders, J. Speck, J. L. Traeff, "Two-tree algorithms for full bandwidth broadcast, reduction and scan",
/// Parallel Computing 35, 2009.
#pragma once

#include "collectives/timed_schedule.h"

namespace simgrad::collectives {

struct DoubleBinaryTree : ScheduledAllreduce {
  static constexpr base::About about{
      .kind = "double_binary_tree",
      .summary = "half of the vector up and down each of two trees in chunks: full bandwidth, logarithmic latency",
      .cost =
          "(h + 4c) (alpha + M beta/2c) for c chunks a half, h rounds of about 4 lg P to fill the trees; long vectors: "
          "2 M beta; with overlap 2 lg P (alpha + 2 M beta/c) + 2 (c-1)/c M beta",
      .source =
          "P. Sanders, J. Speck, J. L. Traeff, Two-tree algorithms for full bandwidth broadcast, reduction and scan, "
          "2009"};

  double chunk_bytes = 256.0 * 1024.0;
  bool overlap = false;
  std::string_view called = about.kind;  ///< its name in results

  void describe(base::Describer& d) override;
  std::string refusal(const cluster::Options& cluster) const override;
  /// The schedule in rounds, all the way up before the way down.
  std::shared_ptr<const JointSchedule> schedule(const Extent& x, int P) const override;
  std::shared_ptr<const cluster::CollectiveTiming> timing(const cluster::Communicator& comm, const Extent& x,
                                                          values::Combination how) const override;
  /// With overlap see trees_at_once.h.
  values::Tensor combine(const cluster::Communicator& comm, values::Tensor x, values::Combination how) const override;
};

}  // namespace simgrad::collectives
