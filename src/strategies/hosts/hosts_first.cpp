#include "strategies/hosts/hosts_first.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <utility>

#include "strategies/circumstances.h"
#include "strategies/hosts/assisting.h"
#include "strategies/hosts/host_gradient.h"

namespace simgrad::strategies {

HostsFirst::HostsFirst(std::shared_ptr<const Strategy> strategy, int devices)
    : strategy_(std::move(strategy)), devices_(devices) {}

std::int64_t HostsFirst::devices(std::int64_t P) const { return std::min<std::int64_t>(devices_, P); }

void HostsFirst::operator()(Worker& worker) const {
  const Traits traits = strategy_->traits(worker.workers());
  if (worker.device() > 0) return assist_first_device(worker, traits);
  const int devices = worker.devices().size();
  if (devices == 1) return (*strategy_)(worker);
  if (worker.rank() == 0 && worker.begins_the_run())
    worker.note(
        fmt::format("hosts_first: the {} devices of a host are one worker of {}; they sum their gradients "
                    "first, and one of them exchanges with the other hosts",
                    devices, worker.workers()));
  HostGradient gradient(worker, traits.deals_rows);
  worker.make_gradients_with(gradient);
  (*strategy_)(worker);
}

Traits HostsFirst::traits(int P) const {
  const auto devices = static_cast<int>(this->devices(P)), hosts = static_cast<int>(workers_of(P));
  Traits traits = strategy_->traits(hosts);
  traits.devices_a_worker = devices;
  if (traits.workers) *traits.workers *= devices;
  if (!traits.hosts.empty()) {
    std::vector<int> all(static_cast<std::size_t>(P));
    std::iota(all.begin(), all.end(), 0);
    // A server beside a worker is on the host's first device; others are behind the workers' devices.
    for (auto server = traits.hosts.begin() + hosts; server != traits.hosts.end(); ++server)
      all.push_back(*server < hosts ? *server * devices : P + *server - hosts);
    traits.hosts = std::move(all);
  }
  // Several hosts send parameters and sums inside at one time.
  traits.many_to_many = traits.many_to_many || hosts > 1;
  // A lost host is waited for: recoveries that go on with fewer hosts do not form groups of devices anew.
  std::erase_if(traits.recoveries, [](cluster::Recovery each) {
    return each != cluster::Recovery::restart && each != cluster::Recovery::wait;
  });
  return traits;
}

std::optional<Refusal> HostsFirst::refusal(const Circumstances& of) const {
  if (devices_ == 1)
    return Refusal{"hosts_first",
                   fmt::format("hosts_first = true sums the gradients of devices that share a host, but {} puts one "
                               "rank on each; give the hosts several (topology = {{ kind = \"star\", devices = 4 }}), "
                               "or leave hosts_first out",
                               of.cluster.platform.empty() ? "cluster.topology" : "cluster.platform")};
  if (of.workers % devices(of.workers) != 0)
    return Refusal{"hosts_first",
                   fmt::format("hosts_first = true makes one worker of the {0} devices of each host, but {1} ranks "
                               "leave a host with {2} of them; expected a multiple of {0} workers",
                               devices_, of.workers, of.workers % devices_)};
  Circumstances inner = of;
  inner.workers = inner.replicas = workers_of(of.workers);
  return strategy_->refusal(inner);
}

std::vector<std::string> HostsFirst::warnings(std::int64_t P, std::uint64_t seed) const {
  return strategy_->warnings(workers_of(P), seed);
}

/// The first device has all that the strategy keeps; the others have parameters, gradients and activations.
record::MemoryParts HostsFirst::memory(const training::MemoryTerms& terms) const {
  training::MemoryTerms of_hosts = terms;
  of_hosts.workers = workers_of(terms.workers);
  of_hosts.batch = (terms.batch + devices_ - 1) / devices_;  // a device has that share of its worker's rows
  return strategy_->memory(of_hosts);
}

std::shared_ptr<const Strategy> on_hosts(std::shared_ptr<const Strategy> strategy, const cluster::Options& cluster) {
  if (!strategy->hosts_first) return strategy;
  return std::make_shared<const HostsFirst>(std::move(strategy), cluster.devices_of_host());
}

}  // namespace simgrad::strategies
