#include "outputs/report/data/full_duplex_link.h"

#include <algorithm>
#include <map>
#include <vector>

#include "outputs/text/language.h"

namespace simgrad::outputs::report {
namespace {

struct Load {
  FullDuplexLink link;
  bool of_host = true;  ///< its class does not say that it is between switches
  std::int64_t up = 0;  ///< bytes
  std::int64_t down = 0;
};

struct HostLoad {
  std::int64_t sent = 0;
  std::int64_t received = 0;
  bool works = false;
  bool serves = false;
};

/// Returns the owner, by the roles of the hosts that sent and received as many bytes as the link carried; empty if
/// there is no such host.
std::string owner(const record::Record& record, const Load& load) {
  std::map<std::int64_t, HostLoad> hosts;
  for (const record::RankUse& rank : record.ranks) {
    HostLoad& host = hosts[rank.host];
    host.sent += rank.bytes_sent;
    host.received += rank.bytes_received;
    (rank.role == "worker" ? host.works : host.serves) = true;
  }
  bool works = false;
  bool serves = false;
  for (const auto& [unused, host] : hosts) {
    if (host.sent != load.up || host.received != load.down) continue;
    works = works || host.works;
    serves = serves || host.serves;
  }
  if (!works && !serves) return "";
  if (works && serves) return std::string(translatable("a host's"));
  if (works) return std::string(translatable("a worker's"));
  const auto servers = std::ranges::count_if(record.ranks, [](const auto& rank) { return rank.role != "worker"; });
  return std::string(servers == 1 ? translatable("the server's") : translatable("a server's"));
}

}  // namespace

std::optional<FullDuplexLink> busiest_full_duplex_link(const record::Record& record, std::span<const double> used) {
  std::map<std::string, std::size_t> place;
  std::vector<Load> loads;
  for (std::size_t k = 0; k < used.size() && k < record.links.size(); ++k) {
    if (!(used[k] >= 0.0)) continue;
    const record::LinkUse& use = record.links[k];
    const bool down = use.link.ends_with("_DOWN");
    const std::string stem = down || use.link.ends_with("_UP") ? use.link.substr(0, use.link.rfind('_')) : use.link;
    const auto [found, is_new] = place.try_emplace(stem, loads.size());
    if (is_new) loads.emplace_back().link.name = stem;
    Load& load = loads[found->second];
    (down ? load.link.down : load.link.up) = used[k];
    (down ? load.down : load.up) += use.bytes;
    load.of_host = use.link_class == "nic" || use.link_class == "link";
    load.link.shared = load.link.shared || use.background_bytes.value_or(0) > 0;
  }
  if (loads.empty()) return std::nullopt;
  Load& most = *std::ranges::max_element(loads, {}, [](const Load& load) { return load.link.both(); });
  if (most.of_host && most.up + most.down > 0) most.link.owner = owner(record, most);
  most.link.by_turns =
      most.link.owner.ends_with("server's") && !(record.staleness_mean.value_or(0.0) > 0.0) && most.link.both() <= 1.0;
  return most.link;
}

}  // namespace simgrad::outputs::report
