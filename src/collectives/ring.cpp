#include "collectives/ring.h"

#include <vector>

#include "cluster/recording/work_scope.h"
#include "collectives/ring_walk.h"

namespace simgrad::collectives {

using values::Combination;
using values::Tensor;

namespace {

/// Once around to combine, once around to hand out, or one of the two. Member r ends its reduce-scatter with chunk
/// r + 1 - shift, having sent chunk r - shift first.
class RingSchedule : public JointSchedule {
 public:
  enum class Part { both, reduce_scatter, all_gather };
  RingSchedule(Split split, Part part)
      : JointSchedule(std::move(split)), part_(part), P_(this->split().chunks()), shift_(part == Part::both ? 0 : 1) {}

  std::string_view name() const override {
    return part_ == Part::both ? "ring" : part_ == Part::reduce_scatter ? "ring reduce_scatter" : "ring all_gather";
  }
  int rounds() const override { return (part_ == Part::both ? 2 : 1) * (P_ - 1); }
  Exchange exchange(int round, int r) const override {
    const bool reduce = part_ != Part::all_gather && round < P_ - 1;
    const int s = round % std::max(1, P_ - 1);
    const int sent = reduce ? r - s - shift_ : r + 1 - s - shift_;
    return {.target = wrapped(r + 1),
            .sent = chunk(sent),
            .source = wrapped(r - 1),
            .received = chunk(sent - 1),
            .reduce = reduce};
  }
  Stretch brings(int member) const override { return part_ == Part::all_gather ? chunk(member) : split().whole(); }
  Stretch keeps(int member) const override { return part_ == Part::reduce_scatter ? chunk(member) : split().whole(); }

  std::vector<Tensor> results(std::vector<Tensor> brought, Combination how) const override {
    if (part_ == Part::all_gather) return std::vector(brought.size(), values::concatenate(brought));
    // Chunk c is first sent by member c + shift, and combined with the next one's at each hop.
    const Tensor all = values::combine_around(how, brought, split().starts(), shift_);
    if (part_ == Part::both) return std::vector(brought.size(), all);
    std::vector<Tensor> chunks;
    for (int r = 0; r < P_; ++r) chunks.push_back(values::slice(all, chunk(r).first, chunk(r).count));
    return chunks;
  }

  std::vector<cluster::MemberTiming> timings(const cluster::AlphaBetaGamma& costs, std::span<const double> arrivals,
                                             double until) const override {
    if (until < cluster::CollectiveTiming::uncut) return JointSchedule::timings(costs, arrivals, until);
    RingWalk walk(split(), costs, arrivals);
    if (part_ != Part::all_gather) walk.around(-shift_, true);
    if (part_ != Part::reduce_scatter) walk.around(1 - shift_, false);
    return walk.timings();
  }

  cluster::SentByPair loads(const cluster::AlphaBetaGamma& costs, std::span<const double> arrivals,
                            double until) const override {
    if (until < cluster::CollectiveTiming::uncut) return JointSchedule::loads(costs, arrivals, until);
    cluster::SentByPair loads;
    for (int r = 0; r < P_; ++r) {
      std::int64_t bytes = 0;  // every chunk but the one that it receives last
      if (part_ != Part::all_gather) bytes += split().bytes(split().whole()) - split().bytes(chunk(r + 1 - shift_));
      if (part_ != Part::reduce_scatter) bytes += split().bytes(split().whole()) - split().bytes(chunk(r + 2 - shift_));
      loads[{r, wrapped(r + 1)}] = {bytes, rounds()};
    }
    return loads;
  }

 private:
  int wrapped(int i) const { return (i % P_ + P_) % P_; }
  Stretch chunk(int k) const { return split().chunk(wrapped(k)); }

  Part part_;
  int P_;
  int shift_;
};

/// An all-gather of which only the sum is kept, so that nobody holds all the vectors one behind the other.
class GatheredSum final : public RingSchedule {
 public:
  GatheredSum(const Extent& x, int P) : RingSchedule(Split({x.length * P, x.wire}, P), Part::all_gather), P_(P) {}

  std::vector<Tensor> results(std::vector<Tensor> brought, Combination) const override {
    const std::size_t P = brought.size();
    return std::vector(P, values::decoded(values::sum(std::move(brought))));
  }
  Tensor by_messages(const cluster::Communicator& comm, Tensor x, Combination) const override {
    std::vector<Tensor> all(static_cast<std::size_t>(P_));
    for (int round = 0; round < P_; ++round) {
      const int member = (comm.rank() - round + P_) % P_;  // whose it is
      if (round > 0) x = comm.exchange(x, (comm.rank() + 1) % P_, (comm.rank() + P_ - 1) % P_).tensor;
      all[static_cast<std::size_t>(member)] = x;
    }
    return values::decoded(values::sum(std::move(all)));
  }

 private:
  int P_;
};

Tensor ring(const cluster::Communicator& comm, const Split& split, RingSchedule::Part part, const Tensor& x,
            Combination how) {
  return run_collective(
      comm, [&] { return std::make_shared<RingSchedule>(split, part); }, x, how);
}

}  // namespace

std::shared_ptr<const JointSchedule> Ring::schedule(const Extent& x, int P) const {
  return std::make_shared<RingSchedule>(Split(x, P), RingSchedule::Part::both);
}

Tensor reduce_scatter(const cluster::Communicator& comm, const Tensor& x, Reduction reduction) {
  const cluster::WorkScope work_scope(comm, record::Work::reduce_scatter);
  const Split split(Extent(x), comm.size());
  return finish(comm, reduction, ring(comm, split, RingSchedule::Part::reduce_scatter, x, combination(reduction)));
}

Tensor all_gather(const cluster::Communicator& comm, const Tensor& x, std::span<const std::int64_t> lengths) {
  const cluster::WorkScope work_scope(comm, record::Work::all_gather);
  return ring(comm, Split(lengths, x.wire_format()), RingSchedule::Part::all_gather, x, Combination::add);
}

Tensor gathered_sum(const cluster::Communicator& comm, const Tensor& x) {
  const cluster::WorkScope work_scope(comm, record::Work::all_gather);
  const Extent extent(x);
  return run_collective(
      comm, [&] { return std::make_shared<GatheredSum>(extent, comm.size()); }, x);
}

Tensor all_gather(const cluster::Communicator& comm, const Tensor& x, std::int64_t length) {
  const cluster::WorkScope work_scope(comm, record::Work::all_gather);
  return ring(comm, Split({length, x.wire_format()}, comm.size()), RingSchedule::Part::all_gather, x, Combination::add);
}

}  // namespace simgrad::collectives
