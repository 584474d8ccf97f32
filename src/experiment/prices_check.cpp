#include "experiment/prices_check.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <vector>

#include "base/text.h"
#include "cluster/classes.h"

namespace simgrad::experiment {

using scenario::Document;
using scenario::Faults;

namespace {

/// Names in the order of their first use, each once.
void add_once(std::vector<std::string>& names, const std::string& name) {
  if (std::ranges::find(names, name) == names.end()) names.push_back(name);
}

/// The hosts that workers and any strategy's servers live on.
std::int64_t hosts_used(const Settings& settings) {
  std::int64_t most = settings.cluster.workers;
  for (const StrategyEntry& entry : settings.strategies) {
    const auto P = static_cast<int>(entry.strategy->workers(settings.cluster.workers));
    most = std::max(most, std::int64_t{1} + std::ranges::max(entry.strategy->hosts(P)));
  }
  return most;
}

class Check {
 public:
  Check(const Settings& settings, const Document& document, Faults& faults)
      : prices_(settings.prices), cluster_(settings.cluster), document_(document), faults_(faults), hosts_(hosts_used(settings)) {
    const bool on_platform = !cluster_.platform.empty();
    if (!prices_.links.empty() || (on_platform && !prices_.hosts.empty())) {
      cluster::Classes found = cluster::classes_of(cluster_, static_cast<int>(on_platform ? cluster_.workers : hosts_));
      if (on_platform) classes_ = std::move(found.hosts);
      link_classes_ = std::move(found.links);
    }
    if (on_platform) return;
    add_once(classes_, cluster::plain_host_class);
    for (const cluster::HostClass& each : cluster_.host_classes) add_once(classes_, each.name);
  }

  void host_classes() {
    std::set<std::string> seen;
    for (std::size_t i = 0; i < prices_.hosts.size(); ++i) {
      const std::string& name = prices_.hosts[i].host_class;
      if (!classes_.empty() && std::ranges::find(classes_, name) == classes_.end())
        refuse("hosts", i, fmt::format("no host is of the class \"{}\"{}", name, base::suggestion(name, classes_)));
      if (!seen.insert(name).second) refuse("hosts", i, fmt::format("the class \"{}\" is priced twice", name));
    }
  }

  void link_classes() {
    std::set<std::string> seen;
    for (std::size_t i = 0; i < prices_.links.size(); ++i) {
      const std::string& name = prices_.links[i].link_class;
      if (!link_classes_.empty() && std::ranges::find(link_classes_, name) == link_classes_.end())
        refuse("links", i, fmt::format("no link is of the class \"{}\"{}", name, base::suggestion(name, link_classes_)));
      if (!seen.insert(name).second) refuse("links", i, fmt::format("the class \"{}\" is priced twice", name));
    }
  }

  /// A sum that left some hosts out would pass for the price of all.
  void no_host_left_out() {
    std::string priced = prices_.worker_usd_per_h ? "any worker" : "", unpriced;
    for (std::int64_t host = 0; host < hosts_; ++host) {
      const cluster::HostClass* its = cluster::class_of(cluster_.host_classes, cluster_.workers, static_cast<int>(host));
      const std::string name = its ? its->name : cluster::plain_host_class;
      const outputs::HostPrice* own = prices_.of_host(name);
      const cluster::FailureOptions& failures = cluster_.failures;
      const bool spot = failures.market == cluster::Market::spot && host < cluster_.workers &&
                        (failures.spot.only_class.empty() || failures.spot.only_class == name);
      if (spot) {
        ((own && own->spot_usd_per_h) || prices_.spot_usd_per_h ? priced : unpriced) = name + " (spot)";
        continue;
      }
      const bool general = prices_.worker_usd_per_h || (host >= cluster_.workers && prices_.server_usd_per_h);
      const bool has = general || (own && own->on_demand_usd_per_h) || (its && its->price_dollars_per_hour);
      (has ? priced : unpriced) = name;
    }
    if (!priced.empty() && !unpriced.empty())
      faults_.add(document_.position(document_.contains("prices") ? "prices" : "cluster.hosts"),
                  fmt::format("hosts of the class \"{}\" have a price, but those of \"{}\" have none; give that class one, or "
                              "worker and server a price for all", priced, unpriced));
  }

 private:
  void refuse(const char* list, std::size_t index, const std::string& text) {
    faults_.add(document_.position(fmt::format("prices.{}.{}.class", list, index)), text);
  }

  const outputs::Prices& prices_;
  const cluster::Options& cluster_;
  const Document& document_;
  Faults& faults_;
  std::int64_t hosts_;
  std::vector<std::string> classes_;  ///< empty where they are not known: a platform that cannot be read
  std::vector<std::string> link_classes_;
};

}  // namespace

void check_prices(const Settings& settings, const Document& document, Faults& faults) {
  Check check(settings, document, faults);
  check.link_classes();
  check.host_classes();
  if (settings.cluster.platform.empty()) check.no_host_left_out();
}

}  // namespace simgrad::experiment
