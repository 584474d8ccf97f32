/// The check that hosts and links which the scenario names exist.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "cluster/fabric/inventory.h"
#include "experiment/plan/settings.h"

namespace simgrad::experiment {

/// The names of a cluster's hosts and links. A platform is read at the first question; the names are empty if the
/// platform cannot be read.
class KnownNames {
 public:
  explicit KnownNames(const Settings& settings);

  const std::vector<std::string>& host_classes();
  const std::vector<std::string>& link_classes() { return built().links; }
  /// The links of a cluster of so many hosts: topologies have links for each host.
  const std::vector<std::string>& links(std::int64_t hosts);
  /// The number of hosts of the workers and of any strategy's servers.
  std::int64_t hosts() const { return hosts_; }

 private:
  const cluster::Classes& built();

  const cluster::Options& cluster_;
  std::int64_t hosts_;
  std::vector<std::string> host_classes_;
  std::optional<cluster::Classes> built_;
  std::map<std::int64_t, std::vector<std::string>> links_;  ///< by the number of hosts
};

/// Adds a fault for failures of a class that the cluster does not have, for slow links and for hosts of other traffic
/// that do not exist.  names: of the strategies that will run; none: all.
void check_names(const Settings& settings, KnownNames& known, const std::vector<std::string>& names,
                 const scenario::Document& document, scenario::Faults& faults);

}  // namespace simgrad::experiment
