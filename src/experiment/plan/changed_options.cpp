#include "experiment/plan/changed_options.h"

#include <fmt/format.h>

#include <stdexcept>

#include "scenario/json.h"

namespace simgrad::experiment {

using base::Unit;
using nlohmann::ordered_json;

void scale(ordered_json& tree, Unit unit, double factor) {
  if (tree.is_structured()) {
    for (ordered_json& each : tree) scale(each, unit, factor);
  } else if (tree.is_string()) {
    try {
      tree = base::format_quantity(factor * base::parse_quantity(tree.get<std::string>(), unit), unit);
    } catch (const std::invalid_argument&) {
      return;  // a text, or a quantity of another unit
    }
  }
}

std::function<void(ordered_json&)> scaled(Unit unit, double factor) {
  return [=](ordered_json& value) { scale(value, unit, factor); };
}

ChangedOptions& ChangedOptions::option(const char* key, const std::function<void(ordered_json&)>& change) {
  const auto found = scenario_.find(key);
  if (found == scenario_.end()) return *this;
  ordered_json value = *found;
  change(value);
  return put(key, value);
}

ChangedOptions& ChangedOptions::put(const char* key, const ordered_json& value) {
  const auto found = scenario_.find(key);
  if (found == scenario_.end() ? !value.empty() : *found != value)
    sets_.push_back(fmt::format("{}.{}={}", table_, key, scenario::inline_toml(value)));
  return *this;
}

}  // namespace simgrad::experiment
