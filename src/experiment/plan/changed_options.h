/// Options of a table with other values, as --set takes them.
#pragma once

#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "base/units.h"

namespace simgrad::experiment {

/// Multiplies every quantity of the unit in a tree of options.
void scale(nlohmann::ordered_json& tree, base::Unit unit, double factor);
/// The function that does so.
std::function<void(nlohmann::ordered_json&)> scaled(base::Unit unit, double factor);

/// Collects the options whose values differ from the scenario's.
class ChangedOptions {
 public:
  /// scenario: the table's options as they are; it outlives this.  table: its name, as "cluster"
  ChangedOptions(const nlohmann::ordered_json& scenario, std::string table)
      : scenario_(scenario), table_(std::move(table)) {}

  /// Gives the option the value that `change` makes of its present one; an option that is not there is left alone.
  ChangedOptions& option(const char* key, const std::function<void(nlohmann::ordered_json&)>& change);
  ChangedOptions& put(const char* key, const nlohmann::ordered_json& value);
  /// "cluster.bandwidth=20Gbps"
  const std::vector<std::string>& sets() const { return sets_; }

 private:
  const nlohmann::ordered_json& scenario_;
  std::string table_;
  std::vector<std::string> sets_;
};

}  // namespace simgrad::experiment
