#include "planner/whole.h"

#include <deque>

namespace simgrad::planner {

std::vector<std::vector<std::optional<Measures>>> whole_measures(
    const std::vector<Candidate>& candidates, Laboratory& laboratory, const std::vector<std::size_t>& chosen,
    const std::vector<std::uint64_t>& seeds, const Changes& changes, const std::function<void()>& tick) {
  std::deque<Judge> judges;
  for (const std::uint64_t seed : seeds) judges.emplace_back(candidates, laboratory, seed, true, changes);
  std::vector<std::vector<Standing>> standings(chosen.size(), std::vector<Standing>(seeds.size()));
  for (;;) {
    std::vector<experiment::RunPlan> next;
    for (std::size_t c = 0; c < chosen.size(); ++c)
      for (std::size_t s = 0; s < seeds.size(); ++s) {
        Standing& standing = standings[c][s];
        standing = judges[s].standing(candidates[chosen[c]]);
        if (standing.next && standing.lost.empty()) next.push_back(*standing.next);
      }
    if (next.empty()) break;
    std::vector<const experiment::RunPlan*> runs;
    for (const experiment::RunPlan& run : next) runs.push_back(&run);
    if (!laboratory.simulate(runs, tick)) return {};
  }
  std::vector<std::vector<std::optional<Measures>>> all(chosen.size());
  for (std::size_t c = 0; c < chosen.size(); ++c)
    for (const Standing& standing : standings[c]) {
      const bool there = standing.lost.empty() && standing.known == Standing::Known::whole;
      all[c].push_back(there ? std::optional(standing.expected) : std::nullopt);
    }
  return all;
}

Measures mean_over(const std::vector<std::optional<Measures>>& all) {
  Measures mean{.time_s = 0.0,
                .usd = all.front()->usd ? std::optional(0.0) : std::nullopt,
                .energy_j = all.front()->energy_j ? std::optional(0.0) : std::nullopt};
  const auto n = static_cast<double>(all.size());
  for (const auto& each : all) {
    mean.time_s += each->time_s / n;
    if (mean.usd) *mean.usd += each->usd.value_or(0.0) / n;
    if (mean.energy_j) *mean.energy_j += each->energy_j.value_or(0.0) / n;
  }
  return mean;
}

}  // namespace simgrad::planner
