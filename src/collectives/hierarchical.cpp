#include "collectives/hierarchical.h"

#include <fmt/format.h>

#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "cluster/computed/collective_phases.h"
#include "cluster/options.h"
#include "cluster/ranks/local_groups.h"
#include "collectives/binomial.h"
#include "collectives/ring.h"

namespace simgrad::collectives {

using cluster::Communicator;
using values::Combination;
using values::Tensor;

namespace {

Ring ring_in(std::int64_t slices) {
  Ring ring;
  ring.slices = slices;
  return ring;
}

template <class Run>
Tensor with_name(const Communicator& comm, record::Work work, const Run& run) {
  const cluster::WorkScope work_scope(comm, work);
  return run();
}

/// Inside every host, then among the members at one place of all hosts, then inside every host.
cluster::CollectivePhases phases(const cluster::LocalGroups& hosts, const Extent& x, Combination how,
                                 std::int64_t slices) {
  const std::size_t devices = hosts.groups.front().size();
  const Split split(x, static_cast<int>(devices));
  const std::int64_t largest = split.bytes(split.largest());
  cluster::CollectivePhases all;
  const auto inside = [&](const std::shared_ptr<const JointSchedule>& schedule, std::int64_t bytes) {
    const auto timing = timing_of(schedule, how);
    cluster::CollectivePhase& phase = all.phases.emplace_back();
    for (const std::vector<int>& host : hosts.groups) phase.push_back({host, timing, bytes});
  };
  if (devices > 1) inside(ring_reduce_scatter(split, slices), split.bytes(split.whole()));
  if (hosts.groups.size() > 1) {
    cluster::CollectivePhase& across = all.phases.emplace_back();
    for (std::size_t d = 0; d < devices; ++d) {
      std::vector<int> peers;
      for (const std::vector<int>& host : hosts.groups) peers.push_back(host[d]);
      const Extent chunk(split.chunk(static_cast<int>(d)).count, x.wire);
      const auto timing = timing_of(ring_in(slices).schedule(chunk, static_cast<int>(peers.size())), how);
      across.push_back({peers, timing, x.wire.bytes(chunk.length)});
    }
  }
  if (devices > 1) inside(ring_all_gather(split, slices), largest);
  return all;
}

/// All groups' rounds of all phases as one schedule, in which transfers of different groups may share links. In rounds
/// alone, and where all groups are of one size.
class AllPhases final : public JointSchedule {
 public:
  AllPhases(const cluster::LocalGroups& hosts, const Extent& x, Combination how)
      : JointSchedule(Split(x, static_cast<int>(hosts.groups.front().size()))),
        hosts_(hosts),
        phases_(phases(hosts, x, how, 1)),
        reduce_scatter_(ring_reduce_scatter(split())),
        all_gather_(ring_all_gather(split())),
        places_(hosts.group_of.size()) {
    for (const std::vector<int>& host : hosts.groups)
      for (std::size_t place = 0; place < host.size(); ++place)
        places_[static_cast<std::size_t>(host[place])] = static_cast<int>(place);
    for (int d = 0; d < split().chunks(); ++d)
      across_.push_back(Ring().schedule({split().chunk(d).count, x.wire}, static_cast<int>(hosts.groups.size())));
  }

  std::string_view name() const override { return Hierarchical::about.kind; }
  int rounds() const override { return reduce_scatter_->rounds() + across_.front()->rounds() + all_gather_->rounds(); }
  Exchange exchange(int round, int member) const override {
    const int host = hosts_.group_of[static_cast<std::size_t>(member)],
              place = places_[static_cast<std::size_t>(member)];
    const int across = round - reduce_scatter_->rounds();
    if (across < 0) return inside(reduce_scatter_->exchange(round, place), host);
    const JointSchedule& peers = *across_[static_cast<std::size_t>(place)];
    if (across >= peers.rounds()) return inside(all_gather_->exchange(across - peers.rounds(), place), host);
    Exchange peer_exchange = peers.exchange(across, host);
    peer_exchange.target = member_at(peer_exchange.target, place);
    peer_exchange.source = member_at(peer_exchange.source, place);
    peer_exchange.sent.first += split().chunk(place).first;
    peer_exchange.received.first += split().chunk(place).first;
    return peer_exchange;
  }
  std::vector<Tensor> results(std::vector<Tensor> brought, Combination /*how*/) const override {
    for (const cluster::CollectivePhase& phase : phases_.phases)
      for (const cluster::CollectivePart& part : phase) {
        std::vector<Tensor> theirs;
        for (const int member : part.members) theirs.push_back(std::move(brought[static_cast<std::size_t>(member)]));
        theirs = part.timing->results(std::move(theirs));
        for (std::size_t m = 0; m < theirs.size(); ++m)
          brought[static_cast<std::size_t>(part.members[m])] = std::move(theirs[m]);
      }
    return brought;
  }

 private:
  int member_at(int host, int place) const {
    return hosts_.groups[static_cast<std::size_t>(host)][static_cast<std::size_t>(place)];
  }
  /// An exchange among places in a host, as one among all members.
  Exchange inside(Exchange local_exchange, int host) const {
    local_exchange.target = member_at(host, local_exchange.target);
    local_exchange.source = member_at(host, local_exchange.source);
    return local_exchange;
  }

  const cluster::LocalGroups& hosts_;  ///< of the world, as long as it is there
  cluster::CollectivePhases phases_;
  std::shared_ptr<const JointSchedule> reduce_scatter_, all_gather_;
  std::vector<std::shared_ptr<const JointSchedule>> across_;  ///< by place in a host
  std::vector<int> places_;                                   ///< by member, in its host
};

}  // namespace

void Hierarchical::describe(base::Describer& d) {
  d.integer("slices", slices, "the number of slices of each chunk of its rings, as for algorithm ring; 1: in rounds",
            base::Bounds::between(1, 64));
}

std::string Hierarchical::refusal(const cluster::Options& cluster) const {
  if (cluster.platform.empty() && cluster.topology->has_localities()) return {};
  if (!cluster.platform.empty())
    return "algorithm = \"hierarchical\" works inside hosts first, but on the hosts of cluster.platform there is one "
           "rank "
           "each; choose algorithm = \"ring\"";
  return "algorithm = \"hierarchical\" works inside hosts first, but cluster.topology puts one rank on each; give the "
         "hosts several (topology = { kind = \"star\", devices = 4 }), or choose algorithm = \"ring\"";
}

bool Hierarchical::is_one_collective(const Communicator& comm) const { return comm.local_groups().even; }

std::shared_ptr<const cluster::CollectiveTiming> Hierarchical::timing(const Communicator& comm, const Extent& x,
                                                                      Combination how) const {
  const cluster::LocalGroups& hosts = comm.local_groups();
  if (slices != 1 || !hosts.even) return nullptr;
  return timing_of(std::make_shared<AllPhases>(hosts, x, how), how);
}

Tensor Hierarchical::combine(const Communicator& comm, Tensor x, Combination how) const {
  if (comm.size() == 1) return x;
  const cluster::LocalGroups& hosts = comm.local_groups();
  const Extent extent(x);
  if (at_once && comm.may_compute())
    return comm.compute_together([&] { return timing(comm, extent, how); }, std::move(x));
  if (hosts.even && comm.may_compute()) {
    const auto key = [&] {
      return fmt::format("hierarchical {} of {} {} in {}", extent.length, extent.wire.bytes_per_number,
                         static_cast<int>(how), slices);
    };
    const auto its_phases = [&] { return phases(hosts, extent, how, slices); };
    return comm.compute_in_phases(std::cref(key), std::cref(its_phases), std::move(x));
  }
  const Communicator inside = comm.subgroup(hosts.around(comm.rank()));
  std::vector<int> peers;  // one of every host
  for (const auto& group : hosts.groups)
    peers.push_back(group[hosts.even ? static_cast<std::size_t>(inside.rank()) : 0]);
  if (hosts.even) {
    const Split split(extent, inside.size());
    const Tensor chunk = with_name(inside, record::Work::reduce_scatter, [&] {
      return run_collective(
          inside, [&] { return ring_reduce_scatter(split, slices); }, x, how);
    });
    const Tensor sum = ring_in(slices).combine(comm.subgroup(peers), chunk, how);
    return with_name(inside, record::Work::all_gather, [&] {
      return run_collective(
          inside, [&] { return ring_all_gather(split, slices); }, sum);
    });
  }
  Tensor total = reduce(inside, 0, x, how);
  if (inside.rank() == 0) total = ring_in(slices).combine(comm.subgroup(peers), total, how);
  return BinomialBroadcast()(inside, 0, total, x.size()).tensor;
}

}  // namespace simgrad::collectives
