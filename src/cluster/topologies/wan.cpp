#include "cluster/topologies/wan.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

namespace simgrad::cluster {

using base::Bounds;
using base::Unit;

namespace {

constexpr Bounds bandwidths{.least = 0.0, .most = 1e15, .positive = true};
constexpr std::size_t most_sites = 1024;  // every two of them have a link

}  // namespace

void Site::describe(base::Describer& d) {
  d.text("name", name, "the site's name in pairs");
  d.integer("hosts", hosts, "the number of its hosts; workers take the sites in order, then servers",
            Bounds::between(1, Wired::most_hosts));
  d.quantity("bandwidth", bandwidth_bytes_per_s, Unit::bytes_per_second,
             "bandwidth of its hosts' NICs, each direction; default: cluster.bandwidth", bandwidths);
  d.quantity("latency", latency_s, Unit::seconds, "latency between its hosts, one way; default: cluster.latency",
             Bounds::between(0, 1e6));
}

void SitePair::describe(base::Describer& d) {
  d.text("from", from, "one of the sites");
  d.text("to", to, "the other site; both directions are alike");
  d.quantity("bandwidth", bandwidth_bytes_per_s, Unit::bytes_per_second,
             "bandwidth of the link, each direction; default: the topology's", bandwidths);
  d.quantity("latency", latency_s, Unit::seconds, "latency of the link, one way; default: the topology's",
             Bounds::between(0, 1e6));
}

void Wan::describe(base::Describer& d) {
  d.list("sites", sites, "the sites: { name, hosts, bandwidth, latency }");
  d.list("pairs", pairs, "the links between sites: { from, to, bandwidth, latency }");
  d.quantity("bandwidth", bandwidth_bytes_per_s, Unit::bytes_per_second,
             "bandwidth between sites whose pair does not give one, each direction", bandwidths);
  d.quantity("latency", latency_s, Unit::seconds, "latency between sites whose pair does not give one, one way",
             Bounds::between(0, 1e6));
  std::set<std::string> names;
  for (const Site& site : sites)
    if (!names.insert(site.name).second)
      d.refuse("sites", fmt::format("two sites are called \"{}\"; give each a name of its own", site.name));
  std::set<std::pair<std::string, std::string>> joined;
  for (const SitePair& each : pairs) {
    for (const std::string& end : {each.from, each.to})
      if (!names.contains(end)) d.refuse("pairs", fmt::format("there is no site \"{}\"", end));
    if (each.from == each.to)
      d.refuse("pairs", fmt::format("a pair of \"{}\" and itself; expected two sites", each.from));
    if (!joined.insert(std::minmax(each.from, each.to)).second)
      d.refuse("pairs", fmt::format("\"{}\" and \"{}\" are paired twice", each.from, each.to));
  }
}

std::string Wan::refusal(const HostSpec& machine, std::int64_t hosts) const {
  if (sites.empty())
    return "a wan needs sites, as in topology = { kind = \"wan\", sites = [{ name = \"eu\", hosts = 4 }, { name = "
           "\"us\", "
           "hosts = 4 }] }";
  if (sites.size() > most_sites)
    return fmt::format("{} sites are too many; expected at most {}", sites.size(), most_sites);
  std::int64_t all = 0;
  for (const Site& site : sites) all += site.hosts;
  if (hosts > all)
    return fmt::format("the sites have {} hosts, but the ranks (servers included) are {}; give one of them more", all,
                       hosts);
  return Wired::refusal(machine, hosts);
}

int Wan::locality(int host, int /*workers*/) const {
  int site = 0;
  for (std::int64_t before = 0; std::cmp_less(site + 1, sites.size()); ++site)
    if (host < (before += sites[static_cast<std::size_t>(site)].hosts)) break;
  return site;
}

const SitePair* Wan::pair(const Site& a, const Site& b) const {
  const auto found = std::ranges::find_if(pairs, [&](const SitePair& each) {
    return (each.from == a.name && each.to == b.name) || (each.from == b.name && each.to == a.name);
  });
  return found == pairs.end() ? nullptr : &*found;
}

double Wan::longest_latency_s(const HostSpec& machine, std::int64_t /*hosts*/) const {
  double within_s = 0.0, between_s = latency_s;
  for (const Site& site : sites) within_s = std::max(within_s, site.latency_s.value_or(machine.latency_s));
  for (const SitePair& each : pairs) between_s = std::max(between_s, each.latency_s.value_or(latency_s));
  return sites.size() > 1 ? within_s + between_s : within_s;
}

std::vector<Cable> Wan::cables(const Blueprint& blueprint) const {
  std::vector<Cable> all;
  for (int host = 0; host < blueprint.hosts; ++host) {
    const Site& site = sites[static_cast<std::size_t>(locality(host, 0))];
    all.push_back({host, blueprint.hosts + locality(host, 0), "nic",
                   site.bandwidth_bytes_per_s.value_or(blueprint.host_spec.bandwidth_bytes_per_s),
                   site.latency_s.value_or(blueprint.host_spec.latency_s) / 2.0});
  }
  for (std::size_t a = 0; a < sites.size(); ++a)
    for (std::size_t b = a + 1; b < sites.size(); ++b) {
      const SitePair* between = pair(sites[a], sites[b]);
      all.push_back({blueprint.hosts + static_cast<int>(a), blueprint.hosts + static_cast<int>(b), "wan",
                     between ? between->bandwidth_bytes_per_s.value_or(bandwidth_bytes_per_s) : bandwidth_bytes_per_s,
                     between ? between->latency_s.value_or(latency_s) : latency_s});
    }
  return all;
}

std::vector<int> Wan::path(const Blueprint& blueprint, int from, int to) const {
  const int own = blueprint.hosts + locality(from, 0);
  const int target_site = blueprint.hosts + locality(to, 0);
  return own == target_site ? std::vector{from, own, to} : std::vector{from, own, target_site, to};
}

}  // namespace simgrad::cluster
