#include "experiment/plan/value_faults.h"

#include <fmt/format.h>

#include <string_view>

#include "scenario/json.h"

namespace simgrad::experiment {

namespace {

/// The message without the value that the point has at the fault's place; the message itself if it does not name one.
std::string without_value(const Point& point, const scenario::Faults::Fault& fault) {
  std::size_t best = std::string::npos, length = 0;
  for (const auto& [key, json] : point.parameters.items()) {
    if (point.document.position(key).text() != fault.position.text()) continue;
    const std::string value = scenario::inline_toml(json);
    const std::size_t at = fault.message.rfind(value);
    // Two keys of a zip have one place: the message is about the one that it names.
    const std::string_view option = std::string_view(key).substr(key.rfind('.') + 1);
    if (at == std::string::npos || (length > 0 && fault.message.find(option) == std::string::npos)) continue;
    best = at;
    length = value.size();
  }
  std::string text = fault.message;
  if (length > 0) text.replace(best, length, "\n");
  return text;
}

}  // namespace

void ValueFaults::add(const Point& point, const scenario::Faults& found) {
  for (const scenario::Faults::Fault& fault : found.all()) {
    const std::string key = fault.position.text() + '\n' + without_value(point, fault);
    const auto [known, fresh] = places_.emplace(key, faults_.size());
    if (fresh)
      faults_.push_back({fault.position, fault.message, {}});
    else if (Fault& first = faults_[known->second]; first.message != fault.message)
      first.others.insert(fault.message);
  }
}

void ValueFaults::tell(scenario::Faults& faults, bool cut) const {
  for (const Fault& fault : faults_) {
    const std::size_t more = fault.others.size();
    faults.add(fault.position, more == 0
                                   ? fault.message
                                   : fmt::format("{} (the same fault in {}{} more value{} of the list)", fault.message,
                                                 cut ? "at least " : "", more, more == 1 ? "" : "s"));
  }
}

}  // namespace simgrad::experiment
