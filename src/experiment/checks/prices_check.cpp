#include "experiment/checks/prices_check.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <vector>

#include "base/text.h"
#include "experiment/plan/places.h"

namespace simgrad::experiment {

using scenario::Document;
using scenario::Faults;

namespace {

class PricesCheck {
 public:
  PricesCheck(const Settings& settings, KnownNames& known, const Document& document, Faults& faults)
      : prices_(settings.prices), cluster_(settings.cluster), known_(known), document_(document), faults_(faults) {}

  void host_classes() {
    std::set<std::string> seen;
    for (std::size_t i = 0; i < prices_.hosts.size(); ++i) {
      const outputs::HostPrice& price = prices_.hosts[i];
      const std::string& name = price.host_class;
      const std::vector<std::string>& classes = known_.host_classes();
      if (!classes.empty() && std::ranges::find(classes, name) == classes.end())
        refuse("hosts", i, fmt::format("no host is of the class \"{}\"{}", name, base::suggestion(name, classes)));
      if (!price.on_demand_usd_per_h && !price.spot_usd_per_h && !price.idle_w)
        refuse("hosts", i, fmt::format("the class \"{}\" is given no price; give price, spot, or idle and busy", name));
      if (!seen.insert(name).second) refuse("hosts", i, fmt::format("the class \"{}\" is priced twice", name));
    }
  }

  void link_classes() {
    std::set<std::string> seen;
    for (std::size_t i = 0; i < prices_.links.size(); ++i) {
      const outputs::LinkPrice& price = prices_.links[i];
      const std::string& name = price.link_class;
      const std::vector<std::string>& classes = known_.link_classes();
      if (!classes.empty() && std::ranges::find(classes, name) == classes.end())
        refuse("links", i, fmt::format("no link is of the class \"{}\"{}", name, base::suggestion(name, classes)));
      if (!price.egress_usd_per_gb && !price.joules_per_byte)
        refuse("links", i, fmt::format("the class \"{}\" is given no price; give egress or energy", name));
      if (!seen.insert(name).second) refuse("links", i, fmt::format("the class \"{}\" is priced twice", name));
    }
  }

  /// Refuses prices for some hosts only: their sum would look like the price of all.
  void no_host_left_out() {
    std::string priced = prices_.price_all_workers() ? "any worker" : "", unpriced;
    for (std::int64_t host = 0; host < known_.hosts(); ++host) {
      const cluster::HostClass* host_class =
          cluster::class_of(cluster_.host_classes, cluster_.workers, static_cast<int>(host));
      const std::string name = host_class ? host_class->name : cluster::plain_host_class;
      const outputs::HostPrice* own = prices_.of_host(name);
      const cluster::FailureOptions& failures = cluster_.failures;
      const bool spot = failures.market == cluster::Market::spot && host < cluster_.workers &&
                        (failures.spot.only_class.empty() || failures.spot.only_class == name);
      if (spot) {
        ((own && own->spot_usd_per_h) || prices_.spot_usd_per_h ? priced : unpriced) = name + " (spot)";
        continue;
      }
      const bool general = prices_.price_all_workers() || (host >= cluster_.workers && prices_.server_usd_per_h);
      const bool has =
          general || (own && own->on_demand_usd_per_h) || (host_class && host_class->price_dollars_per_hour);
      (has ? priced : unpriced) = name;
    }
    if (!priced.empty() && !unpriced.empty())
      faults_.add(
          place(document_, {"prices", "cluster.hosts"}),
          fmt::format("hosts of the class \"{}\" have a price, but those of \"{}\" have none; give that class one, or "
                      "all of them one: prices.worker, device or host, of servers prices.server, on the spot market "
                      "prices.spot",
                      priced, unpriced));
  }

 private:
  void refuse(const char* list, std::size_t index, const std::string& text) {
    faults_.add(place(document_, fmt::format("prices.{}.{}.class", list, index)), text);
  }

  const outputs::Prices& prices_;
  const cluster::Options& cluster_;
  KnownNames& known_;
  const Document& document_;
  Faults& faults_;
};

}  // namespace

void check_prices(const Settings& settings, KnownNames& known, const Document& document, Faults& faults) {
  PricesCheck check(settings, known, document, faults);
  check.link_classes();
  check.host_classes();
  if (settings.cluster.platform.empty()) check.no_host_left_out();
  if (settings.prices.host_usd_per_h && !settings.jobs.empty())
    faults.add(place(document, "prices.host"),
               "prices.host is the price of a whole host, but the devices of a host may belong to several jobs; give "
               "prices.device, or prices.worker");
}

}  // namespace simgrad::experiment
