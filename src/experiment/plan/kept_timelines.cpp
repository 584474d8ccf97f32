#include "experiment/plan/kept_timelines.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <set>
#include <system_error>
#include <utility>

#include "base/errors.h"

namespace simgrad::experiment {

namespace {

/// The first seed of each case, by grid point.
std::vector<std::vector<RunPlan*>> first_seeds(std::vector<RunPlan>& runs) {
  std::vector<std::vector<RunPlan*>> points;
  std::set<std::string> labels;
  for (RunPlan& run : runs) {
    if (points.empty() || points.back().front()->parameters != run.parameters) {
      points.emplace_back();
      labels.clear();
    }
    if (labels.insert(run.label).second) points.back().push_back(&run);
  }
  return points;
}

/// The place of a grid point in an order whose beginnings are all spread evenly over the grid, whatever its keys
/// repeat: multiples of the golden ratio, modulo 1 (D. Knuth, The Art of Computer Programming 3, 6.4).
std::uint32_t place_in_spread(std::size_t point) { return static_cast<std::uint32_t>(point) * 2'654'435'769U; }

}  // namespace

KeptTimelines parse_timelines(const std::string& text) {
  if (text.empty()) return {};
  if (text == "all") return {.cases = std::nullopt};
  std::size_t cases = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), cases);
  if (error != std::errc() || end != text.data() + text.size())
    throw base::ScenarioError(fmt::format(
        "--timelines {}: found no number of cases; expected all, or a number, such as {} or 0", text, most_timelines));
  return {.cases = cases};
}

void mark_kept_timelines(std::vector<RunPlan>& runs, const KeptTimelines& kept) {
  if (!kept.cases) {
    for (RunPlan& run : runs) run.keeps_timeline = true;
    return;
  }
  const auto points = first_seeds(runs);
  std::vector<std::pair<std::uint32_t, std::size_t>> order;
  for (std::size_t point = 0; point < points.size(); ++point) order.emplace_back(place_in_spread(point), point);
  std::ranges::sort(order);
  std::size_t left = *kept.cases;
  for (const auto& [place, point] : order)
    for (RunPlan* run : points[point]) {
      if (left == 0) return;
      run->keeps_timeline = true;
      --left;
    }
}

}  // namespace simgrad::experiment
