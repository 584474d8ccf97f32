#include "cluster/computed/idle_network.h"

#include <algorithm>
#include <limits>

#include "cluster/computed/idle_costs.h"
#include "cluster/computed/link_claims.h"
#include "cluster/computed/network_routes.h"
#include "cluster/fabric/cluster.h"
#include "cluster/ranks/ranks.h"
#include "cluster/ranks/world.h"

namespace simgrad::cluster {

namespace {

/// Sees the end of the last member, and has seen enough when it is later than a given time.
class LastEnd final : public TimingObserver {
 public:
  explicit LastEnd(double at_most_s) : at_most_s_(at_most_s) {}

  void computes(int /*member*/, double /*from_s*/, double to_s) override { see(to_s); }
  void communicates(int /*member*/, int /*peer*/, std::int64_t /*bytes*/, double /*from_s*/, double to_s) override {
    see(to_s);
  }
  void sends(int /*source*/, int /*target*/, std::int64_t /*bytes*/, double /*start_s*/, double end_s) override {
    see(end_s);
  }
  bool enough() const override { return end_s_ > at_most_s_; }
  double end_s() const { return end_s_; }

 private:
  void see(double at_s) { end_s_ = std::max(end_s_, at_s); }

  double at_most_s_;
  double end_s_ = 0.0;
};

}  // namespace

IdleNetwork::IdleNetwork(const World& world, const std::vector<int>& members)
    : numbers_(world.cluster()),
      routes_(std::make_shared<NetworkRoutes>(world, std::make_shared<const std::vector<int>>(members), numbers_)),
      apart_(idle_costs(world, members)),
      at_once_(members.size(), 0.0) {
  const Options& options = world.cluster().options();
  if (!options.platform.empty() || !options.alike_routes() || !world.ranks().own_hosts()) apart_.routes = routes_;
}

AlphaBetaGamma IdleNetwork::costs(const CollectiveTiming& pairs) const {
  if (!apart_.routes || !pairs.follows_links()) return apart_;
  std::vector<LinkClaims::Transfer> transfers;
  for (const auto& [ends, sent] : pairs.sent(apart_, at_once_, CollectiveTiming::uncut))
    transfers.push_back(
        {.source = ends.first, .target = ends.second, .links = apart_.routes->between(ends.first, ends.second).links});
  const std::vector<int> links = LinkClaims::shared(transfers, pairs.goes_two_ways());
  AlphaBetaGamma all = apart_;
  if (links.empty()) return all;
  std::vector<bool> shared(static_cast<std::size_t>(apart_.routes->links()));
  for (const int link : links) shared[static_cast<std::size_t>(link)] = true;
  all.shared_links = std::make_shared<const std::vector<bool>>(std::move(shared));
  return all;
}

double IdleNetwork::seconds(const CollectiveTiming& timing, const CollectiveTiming& pairs, double at_most_s) const {
  const AlphaBetaGamma pair_costs = costs(pairs);
  if (!pair_costs.flows_share_links()) return last_end_s(timing.timings(pair_costs, at_once_, at_most_s));
  if (!timing.may_share_links()) return std::numeric_limits<double>::infinity();
  LastEnd last(at_most_s);
  timing.show(pair_costs, at_once_, CollectiveTiming::uncut, last);
  return last.end_s();
}

}  // namespace simgrad::cluster
