#include "planner/nearest_fit.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <map>
#include <optional>
#include <string>

#include "base/units.h"
#include "experiment/checks/memory_check.h"
#include "experiment/plan/settings.h"
#include "planner/reasons.h"

namespace simgrad::planner {

using experiment::Settings;

namespace {

/// The bytes in "parallel.pipeline = 8 (30 GB)".
double bytes_of(const std::string& change) {
  const std::size_t open = change.rfind('('), close = change.rfind(')');
  return base::parse_quantity(change.substr(open + 1, close - open - 1), base::Unit::bytes);
}

/// The memory that there is: that of plan.memory, if it is less than the device's.
double limit_bytes(const Settings& settings) {
  const std::optional<double> device = experiment::device_memory_bytes(settings);
  const std::optional<double>& asked = settings.goal.memory_bytes;
  return device && asked ? std::min(*device, *asked) : device ? *device : asked.value_or(0.0);
}

void look_for_fit(Refused& refused) {
  const Settings& settings = *refused.settings;
  const auto rows = experiment::known_rows(settings);
  if (!rows || settings.model.proxied()) return;
  refused.fits_with = experiment::changes_to_fit(settings, *settings.strategies[refused.of_settings].as_run(),
                                                 settings.problem(), *rows, limit_bytes(settings));
  // The change that leaves least of the memory free is the smallest.
  std::ranges::stable_sort(refused.fits_with, std::ranges::greater(), bytes_of);
  if (!refused.fits_with.empty()) refused.fault += fmt::format("; it would fit with {}", refused.fits_with.front());
}

}  // namespace

void look_for_nearest_fits(std::vector<Refused>& refused, const std::function<bool()>& goes_on) {
  std::map<std::string, std::vector<Refused*>> by_reason;
  for (Refused& each : refused)
    if (each.settings && each.excess > 0.0) by_reason[each.reason].push_back(&each);
  for (auto& [reason, all] : by_reason) {
    std::ranges::stable_sort(all, {}, [](const Refused* each) { return each->excess; });
    if (all.size() > nearest_most) all.resize(nearest_most);
    for (Refused* each : all) {
      if (goes_on && !goes_on()) return;
      look_for_fit(*each);
    }
  }
}

}  // namespace simgrad::planner
