#include "cluster/fabric/solver_precision.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <xbt/config.hpp>

#include "base/errors.h"
#include "cluster/fabric/cluster.h"
#include "cluster/fabric/routes.h"
#include "cluster/fabric/simgrid_versions.h"

namespace simgrad::cluster {

namespace sg4 = simgrid::s4u;

namespace {

constexpr double default_precision = 1e-5;  // SimGrid's
constexpr double below_weights = 0.1;       // the precision as a part of the least weight
constexpr double rounding = 1e-13;          // of the sum of some hundred weights
constexpr double longest_route = 64.0;      // links of a route at most, but for platform files that nobody writes
constexpr int looked_at = 64;               // hosts between which routes are looked at
constexpr double failed_bytes_per_s = 1.0;  // what a failed link still carries

/// The penalties of flows.
class Penalties {
 public:
  explicit Penalties(const Cluster& cluster)
      : cluster_(cluster),
        constant_(simgrid::config::get_value<double>("network/weight-S")),
        links_fail_(cluster.options().failures.links->happens()) {}

  /// No route's is larger.
  double bound() const {
    double most = 0.0;
    for (const sg4::Link* const link : sg4::Engine::get_instance()->get_all_links())
      most = std::max(most, link->get_latency() + constant_ / least_bandwidth(*link));
    return longest_route * most;
  }

  struct Range {
    double least = std::numeric_limits<double>::infinity();
    double most = 0.0;
  };
  /// The weights of flows on some of the routes between hosts, which lie evenly among all.
  Range of_routes() const {
    Range range;
    const int hosts = cluster_.hosts(), step = std::max(1, hosts / looked_at);
    for (int from = 0; from < hosts; from += step)
      for (int to = 0; to < hosts; to += step)
        if (from != to) add_route(from, to, range);
    return range;
  }

 private:
  double least_bandwidth(const sg4::Link& link) const {
    return links_fail_ ? std::min(failed_bytes_per_s, link.get_bandwidth()) : link.get_bandwidth();
  }
  void add_route(int from, int to, Range& range) const {
    double least = 0.0;
    const auto links = route_between(cluster_.host(from), cluster_.host(to), &least);
    if (links.empty()) return;
    double most = least;
    for (const sg4::Link* const link : links) {
      least += constant_ / link->get_bandwidth();
      most += constant_ / least_bandwidth(*link);
    }
    range.least = std::min(range.least, least);
    range.most = std::max(range.most, most);
  }

  const Cluster& cluster_;
  double constant_;
  bool links_fail_;
};

}  // namespace

void fit_solver_precision(const Cluster& cluster) {
  const Options& options = cluster.options();
  if (options.shares_fairly()) return;
  const Penalties penalties(cluster);
  if (default_precision <= below_weights / penalties.bound()) return;
  const auto [least, most] = penalties.of_routes();
  if (!(most > 0.0)) return;
  if (rounding / least >= 1.0 / most)
    throw base::ScenarioError(fmt::format(
        "network_model = \"{}\" weights flows by the latency and bandwidth of their routes, and here some weigh {:.0e} "
        "times as much as others, which is too much for a double's digits; set network_model = \"ideal\", or less "
        "unequal links",
        name(options.network_model), most / least));
  const double precision = std::max(below_weights / most, rounding / least);
  simgrid::config::set_value(solver_precision_option, std::min(default_precision, precision));
}

}  // namespace simgrad::cluster
