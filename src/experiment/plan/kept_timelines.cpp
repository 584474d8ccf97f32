#include "experiment/plan/kept_timelines.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <set>
#include <system_error>

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
  std::vector<std::vector<RunPlan*>> points = first_seeds(runs);
  // An id is a hash, so this order has nothing to do with that of the grid, and a point that is added displaces others.
  std::ranges::stable_sort(points, {}, [](const std::vector<RunPlan*>& point) { return point.front()->id; });
  std::size_t left = *kept.cases;
  for (const std::vector<RunPlan*>& point : points)
    for (RunPlan* run : point) {
      if (left == 0) return;
      run->keeps_timeline = true;
      --left;
    }
}

}  // namespace simgrad::experiment
