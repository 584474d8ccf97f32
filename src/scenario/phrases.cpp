#include "scenario/phrases.h"

#include <fmt/format.h>

#include <cmath>

#include "base/text.h"

namespace simgrad::scenario {

std::string range(const base::Bounds& bounds, std::optional<base::Unit> unit) {
  const auto written = [&](double value) {
    return unit && value != 0.0 ? base::format_quantity(value, *unit) : fmt::to_string(value);
  };
  const bool has_most = std::isfinite(bounds.most);
  if (bounds.positive && bounds.least <= 0.0) {
    const std::string least = bounds.least == 0.0 ? "above 0" : "other than 0";
    return has_most ? fmt::format("{} and at most {}", least, written(bounds.most)) : least;
  }
  if (!std::isfinite(bounds.least)) return has_most ? fmt::format("at most {}", written(bounds.most)) : "";
  if (!has_most) return fmt::format("at least {}", written(bounds.least));
  return fmt::format("from {} to {}", written(bounds.least), written(bounds.most));
}

std::vector<std::string> names(std::span<const base::Choice> choices) {
  std::vector<std::string> all;
  for (const base::Choice& choice : choices) all.emplace_back(choice.name);
  return all;
}

std::vector<std::string> names(const base::AnySlot& slot) {
  std::vector<std::string> all;
  for (const base::About& about : slot.kinds()) all.emplace_back(about.kind);
  return all;
}

std::string one_of(std::span<const std::string> names) { return fmt::format("one of {}", base::joined(names)); }

}  // namespace simgrad::scenario
