#include "collectives/sliced_ring.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "cluster/computed/collective_log.h"
#include "cluster/computed/network_routes.h"
#include "cluster/ranks/world.h"
#include "collectives/mortal_slice_walk.h"
#include "collectives/parts.h"
#include "collectives/slice_walk.h"

namespace simgrad::collectives {

using cluster::Communicator;
using cluster::Packet;
using cluster::Pending;
using values::Combination;
using values::Tensor;

namespace {

/// Slice k of round s is in round s x slices + k of this schedule.
class SlicedRing final : public JointSchedule {
 public:
  SlicedRing(std::shared_ptr<const JointSchedule> ring, const RingOfChunks& chunks)
      : JointSchedule(ring->split()), ring_(std::move(ring)), chunks_(chunks) {}

  std::string_view name() const override { return ring_->name(); }
  std::string signature() const override { return fmt::format("{} in {}", ring_->signature(), chunks_.slices); }
  /// Slices of many rounds are under way together: their order is decided by the last digits of their times.
  bool may_share_links() const override { return false; }
  bool pays_by_hop() const override { return true; }
  int rounds() const override { return chunks_.rounds * chunks_.slices; }
  Exchange exchange(int number, int r) const override {
    const int round = number / chunks_.slices, place = number % chunks_.slices;
    const int left = (r + chunks_.members() - 1) % chunks_.members();
    return {.target = (r + 1) % chunks_.members(),
            .sent = chunks_.slice(chunks_.chunk(round, r), place),
            .source = left,
            .received = chunks_.slice(chunks_.chunk(round, left), place),
            .reduce = round < chunks_.reducing};
  }
  Stretch brings(int member) const override { return ring_->brings(member); }
  Stretch keeps(int member) const override { return ring_->keeps(member); }
  std::int64_t largest_input() const override { return ring_->largest_input(); }
  std::vector<Tensor> results(std::vector<Tensor> brought, Combination how) const override {
    return ring_->results(std::move(brought), how);
  }
  std::vector<cluster::MemberTiming> timings(const cluster::AlphaBetaGamma& costs, std::span<const double> arrivals,
                                             const cluster::Until& until) const override {
    if (costs.deaths) return MortalSliceWalk(chunks_, costs, arrivals, until).timings();
    return SliceWalk(chunks_, RingHops(costs), arrivals, until).timings();
  }
  cluster::SentByPair sent(const cluster::AlphaBetaGamma& costs, std::span<const double> arrivals,
                           double until) const override {
    if (costs.deaths) return MortalSliceWalk(chunks_, costs, arrivals, until).sent();
    return SliceWalk(chunks_, RingHops(costs), arrivals, until).sent();
  }
  double show(const cluster::AlphaBetaGamma& costs, std::span<const double> arrivals, double until,
              cluster::TimingObserver& observer) const override {
    if (costs.deaths) return MortalSliceWalk(chunks_, costs, arrivals, until).show(observer);
    return SliceWalk(chunks_, RingHops(costs), arrivals, until).show(observer);
  }
  Tensor by_messages(const Communicator& comm, Tensor x, Combination how) const override;

 private:
  std::shared_ptr<const JointSchedule> ring_;
  RingOfChunks chunks_;
};

/// One member's part, slice by slice; see SliceWalk.
class SliceActor {
 public:
  SliceActor(const Communicator& comm, const JointSchedule& ring, int slices, Tensor x, Combination how)
      : comm_(comm),
        ring_(ring),
        slices_(slices),
        how_(how),
        right_(ring.exchange(0, comm.rank()).target),
        calls_(comm.collective(ring.name(), ring.largest_input(), [](const auto&) { return 0.0; })),
        parts_(ring.brings(comm.rank()), std::move(x), ring.split().length()) {
    const int self = comm.world_rank(comm.rank()), right = comm.world_rank(right_);
    const cluster::World& world = comm.world();
    cluster::LinkNumbers numbers(world.cluster());
    if (!world.same_host(self, right))
      bandwidth_ = cluster::route_of_ranks(world, self, right, numbers).alone_bytes_per_s();
  }

  Tensor result() {
    const int all = ring_.rounds();
    for (int number = 0; number < all; ++number)
      receives_.push_back(comm_.start_receive(ring_.exchange(number, comm_.rank()).source));
    for (int number = 0; number < all; ++number) {
      if (number >= slices_) receive(number - slices_);
      if (number > 0) pace(number - 1);
      send(number);
    }
    for (int number = std::max(0, all - slices_); number < all; ++number) receive(number);
    for (Pending& sending : sends_)
      if (sending.under_way()) sending.wait();
    return parts_.take(ring_.keeps(comm_.rank()));
  }

 private:
  void receive(int number) {
    const Exchange exchange = ring_.exchange(number, comm_.rank());
    Tensor received = receives_[static_cast<std::size_t>(number)].wait().tensor;
    if (exchange.reduce) comm_.charge_reduction(static_cast<double>(exchange.received.count));
    if (parts_.are_lengths()) return;
    parts_.put(exchange.received,
               exchange.reduce ? values::combine(how_, received, parts_.take(exchange.received)) : received);
  }

  /// Waits until the bytes of that slice have left.
  void pace(int number) {
    Pending& sending = sends_[static_cast<std::size_t>(number)];
    const double leaves_s = static_cast<double>(bytes_) / bandwidth_;
    if (bytes_ == 0 || leaves_s == 0.0) return;
    sending.wait_until(posted_s_ + leaves_s);
    const double come_s = calls_.arrived_s(right_, comm_.rank());
    if (come_s < posted_s_ + leaves_s)
      sending.wait_until(std::max(posted_s_, come_s) + leaves_s);
    else
      sending.wait();
  }

  void send(int number) {
    const Stretch sent = ring_.exchange(number, comm_.rank()).sent;
    bytes_ = ring_.split().bytes(sent);
    posted_s_ = comm_.now();
    sends_.push_back(comm_.start_send(right_, Packet(parts_.take(sent))));
  }

  const Communicator& comm_;
  const JointSchedule& ring_;
  int slices_;
  Combination how_;
  int right_;
  const cluster::CollectiveCalls& calls_;
  Parts parts_;
  double bandwidth_ = std::numeric_limits<double>::infinity();  ///< of the hop to the right
  double posted_s_ = 0.0;                                       ///< when the last slice was sent
  std::int64_t bytes_ = 0;                                      ///< of that slice
  std::vector<Pending> receives_, sends_;
};

Tensor SlicedRing::by_messages(const Communicator& comm, Tensor x, Combination how) const {
  return SliceActor(comm, *this, chunks_.slices, std::move(x), how).result();
}

}  // namespace

std::shared_ptr<const JointSchedule> in_slices(std::shared_ptr<const JointSchedule> ring, int first, int reducing,
                                               std::int64_t slices) {
  const Split split = ring->split();
  std::int64_t shortest = split.chunk(0).count;
  for (int k = 1; k < split.chunks(); ++k) shortest = std::min(shortest, split.chunk(k).count);
  const int rounds = ring->rounds();
  const auto fitting = static_cast<int>(std::clamp<std::int64_t>(shortest, 1, slices));
  return std::make_shared<SlicedRing>(
      std::move(ring),
      RingOfChunks{.split = split, .first = first, .rounds = rounds, .reducing = reducing, .slices = fitting});
}

}  // namespace simgrad::collectives
