#include "experiment/plan/selected.h"

#include <algorithm>

namespace simgrad::experiment {

std::vector<bool> named(const Settings& settings, const std::string& name) {
  std::vector<bool> by_label, by_kind;
  for (const StrategyEntry& entry : settings.strategies) {
    by_label.push_back(entry.name() == name);
    by_kind.push_back(entry.strategy.kind() == name);
  }
  return std::ranges::find(by_label, true) != by_label.end() ? by_label : by_kind;
}

std::vector<bool> selected(const Settings& settings, const std::vector<std::string>& names) {
  std::vector<bool> all(settings.strategies.size(), names.empty());
  for (const std::string& name : names) {
    const std::vector<bool> match = named(settings, name);
    for (std::size_t i = 0; i < match.size(); ++i) all[i] = all[i] || match[i];
  }
  return all;
}

}  // namespace simgrad::experiment
