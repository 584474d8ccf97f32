#include "planner/rates.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "cluster/fabric/host_class.h"
#include "outputs/prices.h"
#include "outputs/text/language.h"
#include "outputs/text/text_layout.h"

namespace simgrad::planner {

using outputs::counted;
using outputs::tr;

namespace {

/// Hosts of one class in one market, and one of them.
struct Alike {
  const record::HostUse* host = nullptr;
  std::size_t count = 0;
};

/// In the order of their first ones.
std::vector<Alike> alike(const std::vector<record::HostUse>& hosts) {
  std::vector<Alike> all;
  for (const record::HostUse& host : hosts) {
    const auto same = std::ranges::find_if(all, [&](const Alike& each) {
      return each.host->host_class == host.host_class && each.host->spot == host.spot &&
             each.host->serves == host.serves;
    });
    if (same == all.end())
      all.push_back({&host, 1});
    else
      ++same->count;
  }
  return all;
}

}  // namespace

Rates rates_of(const Candidate& candidate) { return rates_of(candidate.hosts, candidate.settings->prices); }

Rates rates_of(const std::vector<record::HostUse>& hosts, const outputs::Prices& prices) {
  record::Record second;
  second.simulated_s = 1.0;
  second.hosts = hosts;
  const outputs::Bill idle = outputs::bill(second, prices);
  for (record::HostUse& host : second.hosts) host.busy_s = 1.0;
  const outputs::Bill busy = outputs::bill(second, prices);
  return {.usd_per_s = idle.cost_usd, .idle_w = idle.energy_j, .busy_w = busy.energy_j};
}

std::vector<HostOfDevices> hosts_of_devices(const Candidate& candidate) {
  const cluster::Options& cluster = candidate.settings->cluster;
  std::vector<HostOfDevices> all;
  if (cluster.devices_of_host() == 1) return all;
  for (const record::HostUse& place : candidate.hosts) {
    if (place.serves) continue;
    if (all.empty() || all.back().back().first->host_number != place.host_number) all.emplace_back();
    HostOfDevices& host = all.back();
    if (host.empty() || host.back().first->host_class != place.host_class) host.emplace_back(&place, 0);
    ++host.back().second;
  }
  return all;
}

std::vector<const record::HostUse*> other_hosts(const Candidate& candidate) {
  const bool each_is_one = hosts_of_devices(candidate).empty();
  std::vector<const record::HostUse*> others;
  for (const record::HostUse& host : candidate.hosts)
    if (each_is_one || host.serves) others.push_back(&host);
  return others;
}

std::map<std::string, std::int64_t> hosts_by_class(const Candidate& candidate) {
  std::map<std::string, std::int64_t> counts;
  for (const HostOfDevices& host : hosts_of_devices(candidate))
    for (const auto& [place, devices] : host) ++counts[place->host_class];
  for (const record::HostUse* host : other_hosts(candidate)) ++counts[host->host_class];
  return counts;
}

namespace {

/// "8 h100", or "4 old and 4 new": what is in a host; of one class, what there is room for.
std::string devices_text(const HostOfDevices& host, const cluster::Options& cluster) {
  std::vector<std::string> classes;
  for (const auto& [place, devices] : host) {
    const bool plain = place->host_class == cluster::plain_host_class;
    const std::string name = !plain                    ? place->host_class
                             : cluster.device->there() ? std::string(cluster.device.kind())
                                                       : tr("devices");
    classes.push_back(fmt::format("{} {}{}", host.size() == 1 ? cluster.devices_of_host() : devices, name,
                                  place->spot ? tr(" on spot") : ""));
  }
  return outputs::listed(classes, classes.size());
}

/// "32 hosts of 8 h100 (256 devices)", by what is in them. Spares are the last hosts.
std::vector<std::string> texts_of_devices(const Candidate& candidate) {
  struct Equipped {
    std::string devices;
    std::size_t hosts = 0, used = 0;
  };
  const cluster::Options& cluster = candidate.settings->cluster;
  std::vector<Equipped> all;
  std::vector<HostOfDevices> hosts = hosts_of_devices(candidate);
  if (!hosts.empty()) hosts.resize(hosts.size() - static_cast<std::size_t>(cluster.failures.spares));
  for (const HostOfDevices& host : hosts) {
    const std::string devices = devices_text(host, cluster);
    auto same = std::ranges::find(all, devices, &Equipped::devices);
    if (same == all.end()) same = all.insert(all.end(), {devices});
    ++same->hosts;
    for (const auto& [place, used] : host) same->used += static_cast<std::size_t>(used);
  }
  std::vector<std::string> texts;
  for (const Equipped& each : all)
    texts.push_back(tr("{} of {} ({})", counted(each.hosts, "{} host", "{} hosts"), each.devices,
                       counted(each.used, "{} device", "{} devices")));
  return texts;
}

}  // namespace

std::string hosts_text(const Candidate& candidate) {
  if (candidate.hosts.empty())
    return counted(static_cast<std::size_t>(candidate.settings->hosts_needed()), "{} host", "{} hosts");
  std::vector<std::string> all = texts_of_devices(candidate);
  const bool of_devices = !all.empty();
  auto others = candidate.hosts;
  if (of_devices) std::erase_if(others, [](const record::HostUse& host) { return !host.serves; });
  for (const auto& [host, count] : alike(others)) {
    const bool plain = host->host_class == cluster::plain_host_class;
    const std::string text = !plain         ? fmt::format("{} {}", count, host->host_class)
                             : host->serves ? counted(count, "{} server", "{} servers")
                                            : counted(count, "{} host", "{} hosts");
    all.push_back(text + (host->spot ? tr(" on spot") : ""));
  }
  const auto spares = static_cast<std::size_t>(candidate.settings->cluster.failures.spares);
  if (of_devices && spares > 0) all.push_back(counted(spares, "{} spare host", "{} spare hosts"));
  return outputs::listed(all, all.size());
}

}  // namespace simgrad::planner
