/// The cabling of the links that were used, read off the routes: one link ends where the next one begins.
#include <fmt/format.h>

#include <map>
#include <set>
#include <simgrid/s4u.hpp>
#include <tuple>
#include <vector>

#include "base/by_rank.h"
#include "cluster/fabric/cluster.h"
#include "cluster/fabric/inventory.h"
#include "cluster/fabric/routes.h"
#include "cluster/ranks/world.h"
#include "cluster/usage/traffic.h"
#include "cluster/usage/usage.h"

namespace simgrad::cluster {

namespace sg4 = simgrid::s4u;

namespace {

/// Places where links end. Two ends that meet on a route are one place.
class Places {
 public:
  /// A link's beginning and end in the direction of a route.
  struct Ends {
    int from = 0;
    int to = 0;
    bool hub = false;  ///< it carries both directions: it is a place itself
  };

  Ends of(const sg4::Host& host) {
    const int self = place("host " + host.get_name(), host.get_name());
    return {self, self};
  }

  Ends of(const sg4::Link& link) {
    const std::string& name = link.get_name();
    const std::string both = without_direction(name);
    if (both == name) {
      const int self = place("link " + name, name);
      return {self, self, true};
    }
    const int near = place("near " + both, ""), far = place("far " + both, "");
    return name.ends_with("_UP") ? Ends{near, far, false} : Ends{far, near, false};
  }

  void join(int a, int b) {
    a = root(a);
    b = root(b);
    if (a == b) return;
    if (names_[a].empty()) std::swap(a, b);
    above_[b] = a;
  }

  /// A host's, a shared link's, or a number of its own.
  const std::string& name(int any) {
    std::string& place_name = names_[root(any)];
    if (place_name.empty()) place_name = fmt::format("switch-{}", switches_++);
    return place_name;
  }

 private:
  int place(const std::string& key, const std::string& name) {
    const auto [at, fresh] = known_.try_emplace(key, above_.size());
    if (fresh) {
      above_.push_back(at->second);
      names_.push_back(name);
    }
    return at->second;
  }
  int root(int at) {
    while (above_[at] != at) {
      int& above = above_[at];
      above = above_[above];
      at = above;
    }
    return at;
  }

  std::map<std::string, int> known_;
  base::ByRank<int> above_;  ///< a forest: who is above itself is a place
  base::ByRank<std::string> names_;
  int switches_ = 0;
};

/// From a host along links to another: its own place, theirs, the other's.
struct Stop {
  std::string link;  ///< empty of a host
  Places::Ends ends;
};
using Way = std::vector<Stop>;

/// The ways of all messages between hosts; none where they are too many, or together too long, to be drawn.
std::vector<Way> ways_used(const World& world, Places& places) {
  constexpr std::size_t most_routes = 4096, most_stops = 1'000'000;
  std::set<std::pair<int, int>> ends;
  for (const auto& [ranks, sent] : world.traffic().by_ranks())
    if (sent.bytes > 0) ends.insert({world.host(ranks.first), world.host(ranks.second)});
  if (ends.size() > most_routes) return {};
  std::vector<Way> ways;
  std::size_t stops = 0;
  for (const auto& [source, target] : ends) {
    const sg4::Host& from = *world.cluster().host(source);
    const sg4::Host& to = *world.cluster().host(target);
    Way way = {{"", places.of(from)}};
    for (const sg4::Link* link : route_between(&from, &to)) way.push_back({link->get_name(), places.of(*link)});
    way.push_back({"", places.of(to)});
    if ((stops += way.size()) > most_stops) return {};
    ways.push_back(std::move(way));
  }
  return ways;
}

}  // namespace

void add_cabling(record::Record& record, const World& world) {
  Places places;
  const std::vector<Way> ways = ways_used(world, places);
  for (const Way& way : ways)
    for (std::size_t i = 1; i < way.size(); ++i)
      if (!way[i - 1].ends.hub && !way[i].ends.hub) places.join(way[i - 1].ends.to, way[i].ends.from);
  std::set<std::tuple<std::string, std::string, std::string>> seen;
  const auto add = [&](const std::string& link, int from, int to) {
    record::CablingEdge wire{link, places.name(from), places.name(to)};
    if (wire.from != wire.to && seen.insert({wire.link, wire.from, wire.to}).second)
      record.wires.push_back(std::move(wire));
  };
  for (const Way& way : ways)
    for (std::size_t i = 1; i < way.size(); ++i) {
      const auto& [before, before_ends] = way[i - 1];
      const auto& [link, its_ends] = way[i];
      if (before_ends.hub) add(before, before_ends.to, its_ends.from);
      if (its_ends.hub) add(link, before_ends.to, its_ends.from);
      if (!its_ends.hub && !link.empty()) add(link, its_ends.from, its_ends.to);
    }
}

}  // namespace simgrad::cluster
