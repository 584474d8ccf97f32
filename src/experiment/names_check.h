/// What the scenario calls hosts and links by: whether there are any of that name.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cluster/fabric/inventory.h"
#include "experiment/settings.h"

namespace simgrad::experiment {

/// The names of what a cluster has, found out when first asked for. Empty where they are not known: for a platform that
/// cannot be read.
class KnownNames {
 public:
  explicit KnownNames(const Settings& settings);

  const std::vector<std::string>& host_classes();
  const std::vector<std::string>& link_classes() { return built().links; }
  const std::vector<std::string>& links() { return built().link_names; }
  /// That workers and any strategy's servers live on.
  std::int64_t hosts() const { return hosts_; }

 private:
  const cluster::Classes& built();

  const cluster::Options& cluster_;
  std::int64_t hosts_;
  std::vector<std::string> host_classes_;
  std::optional<cluster::Classes> built_;
};

/// Adds a fault for failures of a class that the cluster does not have, which would never happen, for slow links and
/// for hosts of other traffic that are not there.  names: of the strategies that will run; none: all.
void check_names(const Settings& settings, KnownNames& known, const std::vector<std::string>& names,
                 const scenario::Document& document, scenario::Faults& faults);

}  // namespace simgrad::experiment
