#include "outputs/report/data/host_names.h"

#include <fmt/format.h>

#include <charconv>
#include <cstdint>
#include <optional>
#include <set>
#include <string_view>
#include <system_error>
#include <vector>

#include "outputs/text/language.h"

namespace simgrad::outputs::report {
namespace {

/// The ranks of one host, by number, and their bytes.
struct Residents {
  NumberedRanks ranks;
  std::int64_t bytes = 0;
};

/// Returns 8 for "host-8"; nothing for another name.
std::optional<std::int64_t> index_of(std::string_view host) {
  constexpr std::string_view stem = "host-";
  if (!host.starts_with(stem)) return {};
  host.remove_prefix(stem.size());
  std::int64_t index = 0;
  const auto [end, fault] = std::from_chars(host.data(), host.data() + host.size(), index);
  return fault == std::errc() && end == host.data() + host.size() ? std::optional(index) : std::nullopt;
}

std::map<std::int64_t, Residents> residents(const record::Record& record) {
  std::map<std::int64_t, Residents> hosts;
  std::int64_t worker = 0;
  std::int64_t server = 0;
  for (const record::RankUse& rank : record.ranks) {
    Residents& host = hosts[rank.host];
    const bool works = rank.role == "worker";
    (works ? host.ranks.workers : host.ranks.servers).push_back(works ? worker++ : server++);
    host.bytes += rank.bytes_sent + rank.bytes_received;
  }
  return hosts;
}

/// Returns "rank 3", "ranks 4 to 7", "ranks 1, 9"; or the same of servers.
std::string numbered(bool ranks, const std::vector<std::int64_t>& numbers) {
  if (numbers.empty()) return "";
  const std::int64_t first = numbers.front(), last = numbers.back();
  const std::size_t size = numbers.size();
  if (size == 1) return ranks ? tr("rank {}", first) : tr("server {}", first);
  if (last - first + 1 == static_cast<std::int64_t>(size) && size > 2)
    return ranks ? tr("ranks {} to {}", first, last) : tr("servers {} to {}", first, last);
  if (size > 3) return ranks ? tr("{} ranks", size) : tr("{} servers", size);
  const std::string all = fmt::format("{}", fmt::join(numbers, ", "));
  return ranks ? tr("ranks {}", all) : tr("servers {}", all);
}

}  // namespace

std::string text_of(const NumberedRanks& ranks) {
  const std::string both = ranks.workers.empty() || ranks.servers.empty() ? "" : tr(", ");
  return numbered(true, ranks.workers) + both + numbered(false, ranks.servers);
}

std::map<std::string, std::string> host_names(const record::Record& record) {
  const auto hosts = residents(record);
  std::set<std::string> carrying;  // bytes of our own
  for (const record::LinkUse& link : record.links)
    if (link.bytes > 0) carrying.insert(link.link);
  std::map<std::string, std::string> names;
  for (const record::CablingEdge& wire : record.wires)
    for (const std::string& place : {wire.from, wire.to}) {
      const auto index = index_of(place);
      const auto host = index ? hosts.find(*index) : hosts.end();
      if (host == hosts.end()) continue;
      if (carrying.contains(wire.link) && host->second.bytes == 0) return {};
      names[place] = text_of(host->second.ranks);
    }
  return names;
}

}  // namespace simgrad::outputs::report
