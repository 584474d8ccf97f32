#include "cluster/failures/link_failures.h"

#include <algorithm>
#include <simgrid/kernel/resource/Action.hpp>
#include <simgrid/kernel/resource/Model.hpp>
#include <simgrid/s4u.hpp>

#include "cluster/fabric/cluster.h"
#include "cluster/fabric/link_class.h"

namespace simgrad::cluster {

namespace sg4 = simgrid::s4u;

namespace {

/// SimGrid refuses 0, and its solver never ends where several flows share next to nothing: so much still goes through.
constexpr double nothing_bytes_per_s = 1.0;

/// Streams of links lie behind those of hosts.
constexpr std::uint32_t first_link_stream = 1U << 24;

/// Flows whose latency is not paid yet are looked at again so much later, or after so small a part of the time since a
/// link came back: a latency may be longer than all else. Looks at such a one count as events (watchdog.events).
constexpr double again_after_s = 1e-5, again_after_part = 1e-4, long_latency_s = 0.1;

/// SimGrid bounds a flow for good by the bandwidth that its links have when it begins; those that began while a link
/// was down are freed once it is back. Links that are still down hold them all the same. A new bound makes SimGrid
/// forget a latency that is not paid yet, so such a flow has to wait.  Returns whether there is one.
bool free_flows(const Cluster& cluster) {
  const double limit_bytes_per_s = cluster.options().flow_limit_bytes_per_s.value_or(-1.0);
  bool latent = false;
  for (auto* model : sg4::Engine::get_instance()->get_all_models()) {
    if (model->get_name().find("Network") == std::string::npos) continue;
    for (auto& flow : *model->get_started_action_set()) {
      if (flow.get_user_bound() < 0.0 || flow.get_user_bound() > nothing_bytes_per_s) continue;
      if (flow.get_type() == simgrid::kernel::resource::ActionHeap::Type::latency) {
        latent = true;
        continue;
      }
      flow.set_user_bound(limit_bytes_per_s);
      flow.set_bound(limit_bytes_per_s);
    }
  }
  return latent;
}

}  // namespace

/// A link is back.
void LinkFailures::free_held_flows() {
  back_s_ = cluster_.now();
  if (free_flows(cluster_) && !looks_again_) look_again();
}

void LinkFailures::look_again() {
  looks_again_ = true;
  const double waited_s = cluster_.now() - back_s_;
  cluster_.at(cluster_.now() + std::max(again_after_s, again_after_part * waited_s), [this] {
    looks_again_ = false;
    if (cluster_.over() || !free_flows(cluster_)) return;
    if (cluster_.now() - back_s_ > long_latency_s) cluster_.fail_if_stuck();
    if (!cluster_.over()) look_again();
  });
}

LinkFailures::LinkFailures(Cluster& cluster, std::uint64_t seed) : cluster_(cluster), seed_(seed) {
  const Options& options = cluster.options();
  const std::string& only = options.failures.links->only_class;
  for (sg4::Link* link : sg4::Engine::get_instance()->get_all_links()) {
    if (link->get_name().find("loopback") != std::string::npos) continue;
    if (only.empty() || link_class(*link, !options.platform.empty()) == only) links_.push_back(link);
  }
  std::ranges::sort(links_, {}, [](const sg4::Link* link) { return link->get_name(); });
  for (int which = 0; which < static_cast<int>(links_.size()); ++which) schedule(which, 0, 0.0);
}

double LinkFailures::nominal_bandwidth(const sg4::Link& link) const {
  const auto at = down_.find(&link);
  return at == down_.end() ? link.get_bandwidth() : at->second;
}

void LinkFailures::schedule(int which, std::int64_t count, double up_since_s) {
  const FailureOptions& failures = cluster_.options().failures;
  const base::Stream::Key draws{.seed = seed_,
                                .purpose = base::Purpose::failure,
                                .step = static_cast<std::uint64_t>(count),
                                .rank = first_link_stream + static_cast<std::uint32_t>(which)};
  const auto outage = failures.links->next(which, count, up_since_s, draws, *failures.link_repair);
  if (!outage || !outage->up_s) return;
  sg4::Link* link = links_[static_cast<std::size_t>(which)];
  cluster_.at(outage->down_s, [this, link] {
    if (cluster_.over()) return;
    down_[link] = link->get_bandwidth();
    link->set_bandwidth(nothing_bytes_per_s);
  });
  cluster_.at(*outage->up_s, [this, link, which, count, up_s = *outage->up_s] {
    if (const auto at = down_.find(link); at != down_.end()) {
      link->set_bandwidth(at->second);
      down_.erase(at);
      free_held_flows();
    }
    cluster_.fail_if_stuck();  // the clock goes on by itself
    if (!cluster_.over()) schedule(which, count + 1, up_s);
  });
}

}  // namespace simgrad::cluster
