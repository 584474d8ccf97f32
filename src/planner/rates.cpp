#include "planner/rates.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <vector>

#include "base/text.h"
#include "cluster/fabric/host_class.h"
#include "outputs/prices.h"

namespace simgrad::planner {

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

void add(std::optional<double>& sum, std::optional<double> term) {
  if (term) sum = sum.value_or(0.0) + *term;
}

}  // namespace

Rates rates_of(const Candidate& candidate) {
  Rates rates;
  for (const Alike& each : alike(candidate.hosts)) {
    record::Record second;
    second.simulated_s = 1.0;
    second.hosts = {*each.host};
    second.ranks.resize(1);
    second.ranks.front().wait_s = 1.0;
    const outputs::Bill bill = outputs::bill(second, candidate.settings->prices);
    second.hosts.front().busy_s = 1.0;
    const outputs::Bill busy = outputs::bill(second, candidate.settings->prices);
    const auto times = [&](std::optional<double> one) {
      return one ? std::optional(*one * static_cast<double>(each.count)) : one;
    };
    add(rates.usd_per_s, times(bill.cost_usd));
    add(rates.idle_w, times(bill.energy_j));
    add(rates.busy_w, times(busy.energy_j));
  }
  return rates;
}

std::string hosts_text(const Candidate& candidate) {
  if (candidate.hosts.empty()) return fmt::format("{} hosts", candidate.settings->hosts_needed());
  std::vector<std::string> all;
  for (const auto& [host, count] : alike(candidate.hosts)) {
    const bool plain = host->host_class == cluster::plain_host_class;
    const std::string one = plain && host->serves ? "server" : host->host_class;
    const std::string name = plain && count > 1 ? one + "s" : one;
    all.push_back(fmt::format("{} {}{}", count, name, host->spot ? " on spot" : ""));
  }
  return base::joined(all, " and ");
}

}  // namespace simgrad::planner
