#include "collectives/rings_in_rounds.h"

#include <fmt/format.h>

#include <array>
#include <utility>

#include "collectives/lengths.h"
#include "collectives/parts.h"
#include "collectives/rings_walk.h"

namespace simgrad::collectives {

using cluster::AlphaBetaGamma;
using cluster::Communicator;
using cluster::Packet;
using cluster::Pending;
using values::Combination;
using values::Tensor;

namespace {

class RingsInRounds final : public JointSchedule {
 public:
  RingsInRounds(std::shared_ptr<const JointSchedule> ring, const RingRounds& ring_rounds,
                std::vector<std::vector<int>> orders, const std::vector<int>& host_of)
      : JointSchedule(ring->split()), ring_(std::move(ring)), its_(ring_rounds), orders_(std::move(orders)) {
    for (const std::vector<int>& order : orders_) {
      const auto number = static_cast<int>(all_.places.size());
      std::vector<int>& places = all_.places.emplace_back(order.size());
      for (int place = 0; place < P(); ++place) places[static_cast<std::size_t>(at(order, place))] = place;
      std::vector<std::int64_t>& numbers = all_.numbers.emplace_back();
      for (const int owner : order) numbers.push_back(part(number, owner).count);
    }
    all_.reducing = ring_rounds.reducing;
    all_.gathering = ring_rounds.gathering;
    all_.ways.resize(orders_.front().size());
    for (int member = 0; member < P(); ++member) add_ways(member, host_of);
  }

  std::string_view name() const override { return ring_->name(); }
  std::string signature() const override { return fmt::format("{} on {} rings", ring_->signature(), rings()); }
  bool goes_two_ways() const override { return true; }
  /// The hops inside a host are not those between hosts.
  bool pays_by_hop() const override { return true; }
  int rounds() const override { return its_.reducing + its_.gathering; }
  Exchange exchange(int round, int r) const override { return exchange(round, r, 0); }
  Exchange beside(int round, int r) const override { return exchange(round, r, 1); }
  Stretch brings(int member) const override { return ring_->brings(member); }
  Stretch keeps(int member) const override { return ring_->keeps(member); }
  std::int64_t largest_input() const override { return ring_->largest_input(); }
  std::vector<cluster::MemberTiming> timings(const AlphaBetaGamma& costs, std::span<const double> arrivals,
                                             const cluster::Until& until) const override {
    if (!costs.only_rounds()) return JointSchedule::timings(costs, arrivals, until);
    return RingsWalk(all_, split().wire(), costs, arrivals, until).timings();
  }
  cluster::SentByPair sent(const AlphaBetaGamma& costs, std::span<const double> arrivals, double until) const override;
  std::vector<Tensor> results(std::vector<Tensor> brought, Combination how) const override;
  Tensor by_messages(const Communicator& comm, Tensor x, Combination how) const override;

 private:
  int P() const { return split().chunks(); }
  int rings() const { return static_cast<int>(orders_.size()); }
  template <class T>
  static const T& at(const std::vector<T>& all, int i) {
    return all[static_cast<std::size_t>(i)];
  }
  int member(int ring, int place) const { return at(at(orders_, ring), (place % P() + P()) % P()); }
  int place(int ring, int member) const { return at(at(all_.places, ring), member); }
  const std::array<RingsOfWay, 2>& ways(int member) const { return at(all_.ways, member); }

  void add_ways(int member, const std::vector<int>& host_of) {
    for (int ring = 0; ring < rings(); ++ring) {
      const int right = this->member(ring, place(ring, member) + 1);
      const std::size_t number = at(host_of, member) == at(host_of, right) ? 0 : 1;
      RingsOfWay& from = all_.ways[static_cast<std::size_t>(member)][number];
      RingsOfWay& to = all_.ways[static_cast<std::size_t>(right)][number];
      from.target = right;
      from.sent.push_back(ring);
      to.source = member;
      to.received.push_back(ring);
    }
  }

  /// The part of a member's own chunk that a ring carries.
  Stretch part(int ring, int owner) const {
    const Stretch all = split().chunk((owner + its_.shift) % P());
    const std::int64_t each = all.count / rings(), longer = all.count % rings();
    return {all.first + ring * each + std::min<std::int64_t>(ring, longer), each + (ring < longer ? 1 : 0)};
  }
  /// The stretch that a member sends on a ring in a round.
  Stretch sent(int round, int ring, int member) const {
    return part(ring, this->member(ring, place(ring, member) - all_.ago(round)));
  }
  std::int64_t count(int round, const std::vector<int>& rings_of_way, int member) const {
    std::int64_t all = 0;
    for (const int ring : rings_of_way) all += sent(round, ring, member).count;
    return all;
  }
  /// Its stretches have the counts of what goes together, and no places.
  Exchange exchange(int round, int r, std::size_t number) const {
    const RingsOfWay& way = ways(r)[number];
    Exchange all{.target = way.target, .source = way.source, .reduce = round < its_.reducing};
    if (way.target >= 0) all.sent.count = count(round, way.sent, r);
    if (way.source >= 0) all.received.count = count(round, way.received, way.source);
    return all;
  }
  /// The values that a member sends one way in a round, ring by ring.
  Tensor take(Parts& parts, int round, int self, const RingsOfWay& way) const;
  void put(Parts& parts, int round, const RingsOfWay& way, const Tensor& received, Combination how) const;
  std::vector<Tensor> totals(const std::vector<Tensor>& brought, Combination how) const;

  std::shared_ptr<const JointSchedule> ring_;
  RingRounds its_;
  std::vector<std::vector<int>> orders_;  ///< by ring: members by place
  RingsAtOnce all_;
};

/// The payload between neighbours: what the message of each round weighs.
cluster::SentByPair RingsInRounds::sent(const AlphaBetaGamma& costs, std::span<const double> arrivals,
                                        double until) const {
  if (until < cluster::CollectiveTiming::uncut || costs.deaths) return JointSchedule::sent(costs, arrivals, until);
  cluster::SentByPair sent;
  for (int member = 0; member < P(); ++member)
    for (const RingsOfWay& way : ways(member)) {
      if (way.target < 0) continue;
      cluster::Sent& pair_sent = sent[{member, way.target}];
      for (int round = 0; round < rounds(); ++round)
        pair_sent += {split().bytes({0, count(round, way.sent, member)}), 1};
    }
  return sent;
}

/// Each member's own chunk, combined: each ring's part in the order in which that ring comes by.
std::vector<Tensor> RingsInRounds::totals(const std::vector<Tensor>& brought, Combination how) const {
  std::vector<std::vector<Tensor>> parts(brought.size());
  for (int ring = 0; ring < rings(); ++ring) {
    std::vector<std::int64_t> starts;
    std::int64_t length = 0;
    for (int place = 0; place < P(); ++place) {
      starts.push_back(length);
      length += part(ring, member(ring, place)).count;
    }
    std::vector<Tensor> terms;
    for (int place = 0; place < P(); ++place) {
      std::vector<Tensor> term;
      for (int owner = 0; owner < P(); ++owner) {
        const Stretch stretch = part(ring, member(ring, owner));
        term.push_back(values::slice(at(brought, member(ring, place)), stretch.first, stretch.count));
      }
      terms.push_back(values::concatenate(term));
    }
    const Tensor all = values::combine_around(how, terms, starts, 1);
    for (int owner = 0; owner < P(); ++owner)
      parts[static_cast<std::size_t>(owner)].push_back(
          values::slice(all, at(starts, place(ring, owner)), part(ring, owner).count));
  }
  std::vector<Tensor> chunks;
  for (const std::vector<Tensor>& chunk_parts : parts) chunks.push_back(values::concatenate(chunk_parts));
  return chunks;
}

std::vector<Tensor> RingsInRounds::results(std::vector<Tensor> brought, Combination how) const {
  if (its_.reducing == 0 || is_length_alone(brought.front())) return ring_->results(std::move(brought), how);
  std::vector<Tensor> chunks = totals(brought, how);
  if (its_.gathering == 0) return chunks;
  std::vector<Tensor> in_order;
  for (int chunk = 0; chunk < P(); ++chunk) in_order.push_back(at(chunks, (chunk + P() - its_.shift) % P()));
  return std::vector(brought.size(), values::concatenate(in_order));
}

Tensor RingsInRounds::take(Parts& parts, int round, int self, const RingsOfWay& way) const {
  if (parts.are_lengths()) return parts.take({0, count(round, way.sent, self)});
  std::vector<Tensor> all;
  for (const int ring : way.sent) all.push_back(parts.take(sent(round, ring, self)));
  return values::concatenate(all);
}

void RingsInRounds::put(Parts& parts, int round, const RingsOfWay& way, const Tensor& received, Combination how) const {
  std::int64_t first = 0;
  for (const int ring : way.received) {
    const Stretch stretch = sent(round, ring, way.source);
    const Tensor received_part = values::slice(received, first, stretch.count);
    parts.put(stretch,
              round < its_.reducing ? values::combine(how, received_part, parts.take(stretch)) : received_part);
    first += stretch.count;
  }
}

Tensor RingsInRounds::by_messages(const Communicator& comm, Tensor x, Combination how) const {
  const int self = comm.rank();
  const std::array<RingsOfWay, 2>& both = ways(self);
  Parts parts(brings(self), std::move(x), split().length());
  for (int round = 0; round < rounds(); ++round) {
    std::array<Pending, 2> sends, receives;
    std::array<Tensor, 2> received;
    for (std::size_t k = 0; k < 2; ++k)
      if (both[k].target >= 0) sends[k] = comm.start_send(both[k].target, Packet(take(parts, round, self, both[k])));
    for (std::size_t k = 0; k < 2; ++k)
      if (both[k].source >= 0) receives[k] = comm.start_receive(both[k].source);
    for (std::size_t k = 0; k < 2; ++k)
      if (both[k].source >= 0) received[k] = receives[k].wait().tensor;
    for (std::size_t k = 0; k < 2; ++k)
      if (both[k].target >= 0) sends[k].wait();
    for (std::size_t k = 0; k < 2; ++k) {
      if (both[k].source < 0) continue;
      if (round < its_.reducing)
        comm.charge_reduction(static_cast<double>(count(round, both[k].received, both[k].source)));
      if (!parts.are_lengths()) put(parts, round, both[k], received[k], how);
    }
  }
  return parts.take(keeps(self));
}

}  // namespace

std::shared_ptr<const JointSchedule> in_rings(std::shared_ptr<const JointSchedule> ring, const RingRounds& rounds,
                                              std::vector<std::vector<int>> orders, const std::vector<int>& host_of) {
  return std::make_shared<RingsInRounds>(std::move(ring), rounds, std::move(orders), host_of);
}

}  // namespace simgrad::collectives
