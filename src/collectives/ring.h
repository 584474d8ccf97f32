/// Around a ring: every member sends to its right and receives from its left, in every round.
///
/// Source: P. Patarasuk, X. Yuan, "Bandwidth optimal all-reduce algorithms for clusters of workstations", JPDC 69,
/// 2009. Cost: reduce-scatter (P-1) alpha + (P-1)/P M beta + (P-1)/P M gamma; all-gather the same without gamma;
/// allreduce both. 2(P-1)/P M bytes sent a rank. Where P does not divide M the longest chunk in flight counts, in each
/// round.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "collectives/reduction.h"
#include "collectives/timed_schedule.h"

namespace simgrad::collectives {

/// The rings at once, each with a part of the vector; none: as many as hosts have NICs that their members can use.
using Rings = std::optional<std::int64_t>;

/// Describes the option.
void describe_rings(base::Describer& d, Rings& rings);

/// With slices = 1 in rounds: every member waits for its neighbours in each. Else see sliced_ring.h.
struct Ring : ScheduledAllreduce {
  static constexpr base::About about{
      .kind = "ring",
      .summary = "reduce-scatter, then all-gather, around a ring: least bytes, but a latency that grows with P",
      .cost =
          "2(P-1) alpha + 2(P-1)/P M beta + (P-1)/P M gamma; 2(P-1)/P M bytes sent a rank; in slices of c bytes: the "
          "alpha + c beta of the 2(P-1) hops of a chunk, or the slowest hop's bytes where they take longer",
      .source = "P. Patarasuk, X. Yuan, Bandwidth optimal all-reduce algorithms for clusters of workstations, 2009"};

  std::int64_t slices = 1;
  Rings rings;
  std::string_view called = about.kind;  ///< its name in results

  void describe(base::Describer& d) override;
  std::string refusal(const cluster::Options& cluster) const override;
  cluster::Meets meets() const override { return cluster::Meets::in_rings; }
  std::optional<std::int64_t> rings_at_once() const override { return rings; }
  /// The schedule of one ring.
  std::shared_ptr<const JointSchedule> schedule(const Extent& x, int P) const override;
  std::shared_ptr<const cluster::CollectiveTiming> timing(const cluster::Communicator& comm, const Extent& x,
                                                          values::Combination how) const override;
  /// With several rings see rings_in_rounds.h, and in slices rings.h.
  values::Tensor combine(const cluster::Communicator& comm, values::Tensor x, values::Combination how) const override;
  /// The number of rings among these members. In slices several are computed alone, and where they may not be there is
  /// one unless more are asked for.
  int rings_among(const cluster::Communicator& comm) const;
};

// Several rings go in rounds by rings_in_rounds.h, no more than the fewest members of a host. Cost: as above, where the
// hops between hosts have the bandwidth of all NICs together.

/// The schedules of reduce_scatter and all_gather below, of one ring.
std::shared_ptr<const JointSchedule> ring_reduce_scatter(const Split& split, std::int64_t slices = 1);
std::shared_ptr<const JointSchedule> ring_all_gather(const Split& split, std::int64_t slices = 1);

/// Chunk r of the members' vectors combined, on member r; chunks as Split cuts them.  x: (d).  Returns (d/P, rounded).
values::Tensor reduce_scatter(const cluster::Communicator& comm, const values::Tensor& x,
                              Reduction reduction = Reduction::sum);

/// Reduces and scatters without the division that a mean ends with.
values::Tensor reduce_scatter(const cluster::Communicator& comm, const values::Tensor& x, values::Combination how);

/// All members' vectors one after the other, on every member.  lengths: of each member's x; all know them.
values::Tensor all_gather(const cluster::Communicator& comm, const values::Tensor& x,
                          std::span<const std::int64_t> lengths, const Rings& rings = {});
/// Where the lengths are those of the P chunks of a vector of that length.
values::Tensor all_gather(const cluster::Communicator& comm, const values::Tensor& x, std::int64_t length);
/// Where they are those of the P chunks of that vector, whose format all members know.
values::Tensor all_gather(const cluster::Communicator& comm, const values::Tensor& x, const Extent& whole);

/// The two halves of Ring apart: gather_shards(sum_shard(x)) is its sum, bit for bit. Member r keeps `ring_shard`,
/// chunk r + 1 of the vector, because an allreduce's ring begins with chunk r on member r.
Stretch ring_shard(std::int64_t length, int P, int member);
/// x: (d).  Returns this member's shard of the sum.  Virtual time: as reduce_scatter.
values::Tensor sum_shard(const cluster::Communicator& comm, const values::Tensor& x, const Rings& rings = {});
/// shard: this member's, of a vector of that length.  Returns the vector.  Virtual time: as all_gather.
values::Tensor gather_shards(const cluster::Communicator& comm, const values::Tensor& shard, std::int64_t length,
                             const Rings& rings = {});

/// The sum of all members' vectors, on every member, where they cannot be added on their way: they go around the ring
/// as they are.  x: (n), weighing the same on all.  Returns (n), added in the order of the members, as float64. Virtual
/// time: (P-1) (alpha + M beta); the additions are the caller's to charge.
values::Tensor gathered_sum(const cluster::Communicator& comm, const values::Tensor& x);

}  // namespace simgrad::collectives
