#include "outputs/fields.h"

#include <algorithm>
#include <array>

#include "outputs/summary.h"

namespace simgrad::outputs {
namespace {

/// Fields of the summary that hold something else.
constexpr std::array<std::string_view, 10> others = {"id",     "strategy", "label",       "options",       "parameters",
                                                     "status", "error",    "metric_name", "network_model", "notes"};

}  // namespace

const std::vector<std::string>& numeric_fields() {
  static const std::vector<std::string> all = [] {
    std::vector<std::string> names;
    const auto fields = summary(Run{});
    for (const auto& [key, value] : fields.items())
      if (std::ranges::find(others, key) == others.end()) names.push_back(key);
    names.emplace_back("interference");
    for (const auto& [name, value] : fields_of_some(Run{})) names.push_back(name);
    names.emplace_back("stored_bytes");
    return names;
  }();
  return all;
}

std::optional<double> field(const Run& run, const std::string& name) {
  if (name == "interference") return run.interference;
  if (name == "stored_bytes") return static_cast<double>(run.record.stored_bytes);
  for (const auto& [some, value] : fields_of_some(run))
    if (some == name) return value;
  const auto fields = summary(run);
  const auto found = fields.find(name);
  return found != fields.end() && found->is_number() ? std::optional(found->get<double>()) : std::nullopt;
}

}  // namespace simgrad::outputs
