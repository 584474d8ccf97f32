#include "collectives/ring.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "base/by_rank.h"
#include "cluster/ranks/block_work_scope.h"
#include "cluster/ranks/local_groups.h"
#include "cluster/ranks/ring_orders.h"
#include "cluster/recording/work_scope.h"
#include "collectives/computed_only.h"
#include "collectives/lengths.h"
#include "collectives/measured.h"
#include "collectives/ring_walk.h"
#include "collectives/rings.h"
#include "collectives/rings_in_rounds.h"
#include "collectives/sliced_ring.h"

namespace simgrad::collectives {

using cluster::Measured;
using values::Combination;
using values::Tensor;

namespace {

/// Once around the ring: in round s member r sends chunk r + first - s to its right.
class Around : public JointSchedule {
 public:
  Around(Split split, int first) : JointSchedule(std::move(split)), P_(this->split().chunks()), first_(first) {}

  int rounds() const final { return P_ - 1; }
  Exchange exchange(int round, int r) const final {
    return {.target = wrapped(r + 1),
            .sent = chunk(r + first_ - round),
            .source = wrapped(r - 1),
            .received = chunk(r + first_ - round - 1),
            .reduce = reduces()};
  }
  void walk(RingWalk& walk) const { walk.around(first_, reduces()); }

  std::vector<cluster::MemberTiming> timings(const cluster::AlphaBetaGamma& costs, std::span<const double> arrivals,
                                             const cluster::Until& until) const override {
    if (!costs.only_rounds()) return JointSchedule::timings(costs, arrivals, until);
    RingWalk around(split(), costs, arrivals, until);
    walk(around);
    return around.timings();
  }
  cluster::SentByPair sent(const cluster::AlphaBetaGamma& costs, std::span<const double> arrivals,
                           double until) const override {
    if (until < cluster::CollectiveTiming::uncut || costs.deaths) return JointSchedule::sent(costs, arrivals, until);
    cluster::SentByPair sent;
    std::int64_t all = 0;  // each chunk of a code takes whole bytes
    for (int k = 0; k < P_; ++k) all += split().bytes(chunk(k));
    // A member sends all chunks but the one that it receives last.
    for (int r = 0; r < P_; ++r) sent[{r, wrapped(r + 1)}] = {all - split().bytes(chunk(r + first_ + 1)), rounds()};
    return sent;
  }

 protected:
  virtual bool reduces() const = 0;
  int P() const { return P_; }
  Stretch chunk(int k) const { return split().chunk(wrapped(k)); }
  int wrapped(int i) const { return (i % P_ + P_) % P_; }

 private:
  int P_;
  int first_;
};

/// Member r is left with chunk r + kept, combined.
class RingReduceScatter final : public Around {
 public:
  explicit RingReduceScatter(Split split, int kept = 0) : Around(std::move(split), kept - 1), kept_(kept) {}

  std::string_view name() const override { return "ring reduce_scatter"; }
  Stretch keeps(int member) const override { return chunk(member + kept_); }
  /// Everything, combined. Each chunk is combined with the next member's at every hop, from its first sender on.
  Tensor total(const std::vector<Tensor>& brought, Combination how) const {
    return values::combine_around(how, brought, split().starts(), 1 - kept_);
  }
  std::vector<Tensor> results(std::vector<Tensor> brought, Combination how) const override {
    const Tensor all = total(brought, how);
    Stretches stretches;
    std::vector<Tensor> chunks;
    chunks.reserve(brought.size());
    for (int r = 0; r < P(); ++r) chunks.push_back(stretches.take(all, keeps(r)));
    return chunks;
  }

 protected:
  bool reduces() const override { return true; }

 private:
  int kept_;
};

/// Member r brings chunk r + brought, and all are left with all chunks.
class RingAllGather : public Around {
 public:
  explicit RingAllGather(Split split, int brought = 0) : Around(std::move(split), brought), brought_(brought) {}

  std::string_view name() const override { return "ring all_gather"; }
  Stretch brings(int member) const override { return chunk(member + brought_); }
  std::int64_t largest_input() const override { return split().bytes(split().largest()); }
  std::vector<Tensor> results(std::vector<Tensor> brought, Combination) const override {
    std::rotate(brought.begin(), brought.end() - brought_, brought.end());  // into the order of the chunks
    const Tensor all = values::concatenate(brought);
    return std::vector(brought.size(), all);
  }

 protected:
  bool reduces() const override { return false; }

 private:
  int brought_;
};

/// The allreduce: one after the other, without a barrier between them. Its sum is never cut into chunks.
class Sequence final : public JointSchedule {
 public:
  Sequence(RingReduceScatter first, RingAllGather second, std::string_view name)
      : JointSchedule(first.split()), name_(name), first_(std::move(first)), second_(std::move(second)) {}

  std::string_view name() const override { return name_; }
  int rounds() const override { return first_.rounds() + second_.rounds(); }
  Exchange exchange(int round, int r) const override {
    return round < first_.rounds() ? first_.exchange(round, r) : second_.exchange(round - first_.rounds(), r);
  }
  std::vector<Tensor> results(std::vector<Tensor> brought, Combination how) const override {
    return std::vector(brought.size(), first_.total(brought, how));
  }
  std::vector<cluster::MemberTiming> timings(const cluster::AlphaBetaGamma& costs, std::span<const double> arrivals,
                                             const cluster::Until& until) const override {
    if (!costs.only_rounds()) return JointSchedule::timings(costs, arrivals, until);
    RingWalk walk(split(), costs, arrivals, until);
    first_.walk(walk);
    second_.walk(walk);
    return walk.timings();
  }
  cluster::SentByPair sent(const cluster::AlphaBetaGamma& costs, std::span<const double> arrivals,
                           double until) const override {
    if (until < cluster::CollectiveTiming::uncut || costs.deaths) return JointSchedule::sent(costs, arrivals, until);
    cluster::SentByPair both = first_.sent(costs, arrivals, until);
    for (const auto& [ends, sent] : second_.sent(costs, arrivals, until)) both[ends] += sent;
    return both;
  }

 private:
  std::string_view name_;
  RingReduceScatter first_;
  RingAllGather second_;
};

/// An all-gather of which only the sum is kept, so that nobody holds all the vectors one behind the other.
class GatheredSum final : public RingAllGather {
 public:
  GatheredSum(const Extent& x, int P) : RingAllGather(Split({x.length * P, x.wire}, P)) {}

  std::vector<Tensor> results(std::vector<Tensor> brought, Combination) const override {
    const std::size_t members = brought.size();
    return std::vector(members, values::decoded(values::sum(std::move(brought))));
  }
  Tensor by_messages(const cluster::Communicator& comm, Tensor x, Combination) const override {
    base::ByRank<Tensor> all(P());
    for (int round = 0; round < P(); ++round) {
      const int member = wrapped(comm.rank() - round);  // the one that has brought it
      if (round > 0) x = comm.exchange(x, wrapped(comm.rank() + 1), wrapped(comm.rank() - 1)).tensor;
      all[member] = x;
    }
    return values::decoded(values::sum(std::move(all).vector()));
  }
};

}  // namespace

void Ring::describe(base::Describer& d) {
  d.integer(
      "slices", slices,
      "the number of slices of each chunk; a rank sends each slice on as soon as it has arrived, as in NCCL, so that a "
      "latency is paid for each hop; 1: the ring works in rounds, each as long as its slowest hop, as in MPI",
      base::Bounds::between(1, 64));
  describe_rings(d, rings);
}

void describe_rings(base::Describer& d, Rings& rings) {
  d.integer("rings", rings,
            "the number of rings at a time; each has a part of the vector and another order of the devices in a host, "
            "so that as many NICs of a host are used; default: the number of a host's NICs; in rounds at most the "
            "number of a host's devices",
            base::Bounds::between(1, 64));
}

std::string Ring::refusal(const cluster::Options& cluster) const {
  const bool several_in_slices = slices > 1 && rings.value_or(1) > 1;
  return several_in_slices ? computed_only_refusal(fmt::format("rings = {}", *rings), cluster) : std::string();
}

int Ring::rings_among(const cluster::Communicator& comm) const {
  const cluster::LocalGroups& groups = comm.local_groups();
  if (slices == 1) return cluster::rings_in_rounds(groups, rings);
  if (rings) return static_cast<int>(*rings);
  return may_be_computed_only(comm) ? cluster::nics_of_hosts(groups) : 1;
}

namespace {

/// The schedule, or that of several rings where there are several NICs.
std::shared_ptr<const JointSchedule> among(const cluster::Communicator& comm, const Rings& rings,
                                           std::shared_ptr<const JointSchedule> one, const RingRounds& rounds) {
  const cluster::LocalGroups& groups = comm.local_groups();
  const int number = cluster::carries_blocks(comm) ? 1 : cluster::rings_in_rounds(groups, rings);
  if (number == 1) return one;
  return in_rings(std::move(one), rounds, cluster::ring_orders(groups, number), groups.group_of);
}

RingRounds reducing(const cluster::Communicator& comm, int kept) {
  return {.reducing = comm.size() - 1, .gathering = 0, .shift = kept};
}
RingRounds gathering(const cluster::Communicator& comm, int brought) {
  return {.reducing = 0, .gathering = comm.size() - 1, .shift = brought};
}
RingRounds both(const cluster::Communicator& comm) {
  return {.reducing = comm.size() - 1, .gathering = comm.size() - 1, .shift = 1};
}

}  // namespace

Tensor Ring::combine(const cluster::Communicator& comm, Tensor x, Combination how) const {
  const Extent extent(x);
  if (comm.size() == 1) return x;
  if (slices == 1)
    return run_collective(
        comm, [&] { return among(comm, rings, schedule(extent, comm.size()), both(comm)); }, std::move(x), how);
  const int number = rings_among(comm);
  if (number == 1) return ScheduledAllreduce::combine(comm, std::move(x), how);
  return run_computed_only(
      comm, fmt::format("rings = {}", number), [&] { return timing(comm, extent, how); }, std::move(x));
}

std::shared_ptr<const cluster::CollectiveTiming> Ring::timing(const cluster::Communicator& comm, const Extent& x,
                                                              Combination how) const {
  if (slices == 1) return timing_of(among(comm, rings, schedule(x, comm.size()), both(comm)), how);
  const int number = rings_among(comm);
  if (number == 1) return ScheduledAllreduce::timing(comm, x, how);
  return timing_of_rings(cluster::ring_orders(comm.local_groups(), number), x, slices, called, how);
}

std::shared_ptr<const JointSchedule> Ring::schedule(const Extent& x, int P) const {
  const Split split(x, P);
  const auto in_rounds = std::make_shared<Sequence>(RingReduceScatter(split, 1), RingAllGather(split, 1), called);
  if (slices == 1) return in_rounds;
  return in_slices(in_rounds, 0, P - 1, slices);
}

std::shared_ptr<const JointSchedule> ring_reduce_scatter(const Split& split, std::int64_t slices) {
  const auto in_rounds = std::make_shared<RingReduceScatter>(split);
  if (slices == 1) return in_rounds;
  return in_slices(in_rounds, -1, split.chunks() - 1, slices);
}

std::shared_ptr<const JointSchedule> ring_all_gather(const Split& split, std::int64_t slices) {
  const auto in_rounds = std::make_shared<RingAllGather>(split);
  if (slices == 1) return in_rounds;
  return in_slices(in_rounds, 0, 0, slices);
}

Tensor reduce_scatter(const cluster::Communicator& comm, const Tensor& vector, Combination how) {
  const Tensor x = comm.on_wire(vector);
  const cluster::WorkScope work_scope(comm, record::Work::reduce_scatter);
  const Split split(Extent(x), comm.size());
  return run_or_take_measured(
      comm, Measured::reduce_scatter, [&] { return among(comm, {}, ring_reduce_scatter(split), reducing(comm, 0)); }, x,
      how);
}

Tensor reduce_scatter(const cluster::Communicator& comm, const Tensor& x, Reduction reduction) {
  const cluster::WorkScope work_scope(comm, record::Work::reduce_scatter);
  return finish(comm, reduction, reduce_scatter(comm, x, combination(reduction)));
}

namespace {

Tensor all_gather(const cluster::Communicator& comm, const Tensor& x, const Split& split, const Rings& rings = {}) {
  const cluster::WorkScope work_scope(comm, record::Work::all_gather);
  return run_or_take_measured(
      comm, Measured::all_gather, [&] { return among(comm, rings, ring_all_gather(split), gathering(comm, 0)); }, x);
}

}  // namespace

Tensor all_gather(const cluster::Communicator& comm, const Tensor& vector, std::span<const std::int64_t> lengths,
                  const Rings& rings) {
  const Tensor x = comm.on_wire(vector);
  return all_gather(comm, x, Split(lengths, x.wire_format()), rings);
}

Tensor all_gather(const cluster::Communicator& comm, const Tensor& vector, std::int64_t length) {
  const Tensor x = comm.on_wire(vector);
  return all_gather(comm, x, Split({length, x.wire_format()}, comm.size()));
}

Tensor all_gather(const cluster::Communicator& comm, const Tensor& x, const Extent& whole) {
  return all_gather(comm, x, Split(whole, comm.size()));
}

Stretch ring_shard(std::int64_t length, int P, int member) { return Split(Extent(length), P).chunk((member + 1) % P); }

Tensor sum_shard(const cluster::Communicator& comm, const Tensor& vector, const Rings& rings) {
  const Tensor x = comm.on_wire(vector);
  const cluster::WorkScope work_scope(comm, record::Work::reduce_scatter);
  const Split split(Extent(x), comm.size());
  return run_or_take_measured(
      comm, Measured::reduce_scatter,
      [&] { return among(comm, rings, std::make_shared<RingReduceScatter>(split, 1), reducing(comm, 1)); }, x);
}

Tensor gather_shards(const cluster::Communicator& comm, const Tensor& own, std::int64_t length, const Rings& rings) {
  const Tensor shard = comm.on_wire(own);
  const cluster::WorkScope work_scope(comm, record::Work::all_gather);
  const Split split({length, shard.wire_format()}, comm.size());
  return run_or_take_measured(
      comm, Measured::all_gather,
      [&] { return among(comm, rings, std::make_shared<RingAllGather>(split, 1), gathering(comm, 1)); }, shard);
}

Tensor gathered_sum(const cluster::Communicator& comm, const Tensor& vector) {
  const Tensor x = comm.on_wire(vector);
  const cluster::WorkScope work_scope(comm, record::Work::all_gather);
  const Extent extent(x);
  return run_or_take_measured(
      comm, Measured::all_gather, [&] { return std::make_shared<GatheredSum>(extent, comm.size()); }, x);
}

}  // namespace simgrad::collectives
