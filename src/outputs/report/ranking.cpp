#include "outputs/report/ranking.h"

#include <algorithm>

namespace simgrad::outputs::report {

Measure best_measure(const View& view) {
  const bool reached = std::ranges::any_of(
      view.cases, [](const Case& one) { return measured(one, Measure::time_to_target).has_value(); });
  return reached ? Measure::time_to_target : Measure::throughput;
}

std::vector<const Case*> ranking(const View& view, Measure measure) {
  std::vector<const Case*> sorted;
  for (const Case& one : view.cases)
    if (measured(one, measure)) sorted.push_back(&one);
  std::ranges::stable_sort(sorted, {}, [&](const Case* one) { return *measured(*one, measure); });
  if (view.strategies.size() < 2) return sorted;
  std::vector<bool> seen(view.strategies.size(), false);
  std::erase_if(sorted, [&](const Case* one) {
    const bool again = seen[one->strategy];
    seen[one->strategy] = true;
    return again;
  });
  return sorted;
}

}  // namespace simgrad::outputs::report
