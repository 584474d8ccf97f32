#include "strategies/automatic/stage_program.h"

#include <algorithm>
#include <utility>

#include "base/errors.h"

namespace simgrad::strategies {

namespace {

/// The costs of all stretches of units in all stages.
class Costs {
 public:
  Costs(std::size_t units, std::size_t stages, const CostOfUnits& cost)
      : units_(units), width_(units - stages + 1), all_(stages) {
    for (std::size_t stage = 0; stage < stages; ++stage) {
      all_[stage].resize(width_ * width_);
      // Enough units are left for the stages before and behind.
      for (std::size_t first = stage; first + stages - stage <= units; ++first)
        for (std::size_t end = first + 1; end + stages - stage - 1 <= units; ++end)
          at(stage, first, end) = cost(stage, static_cast<std::int64_t>(first), static_cast<std::int64_t>(end));
    }
  }

  const StageCost& of(std::size_t stage, std::size_t first, std::size_t end) const {
    return all_[stage][place(stage, first, end)];
  }
  /// The times of passes above one and below another, ascending, each once.
  std::vector<double> times_between(double above_s, double below_s) const {
    std::vector<double> times;
    const std::size_t stages = all_.size();
    for (std::size_t stage = 0; stage < stages; ++stage)
      for (std::size_t first = stage; first + stages - stage <= units_; ++first)
        for (std::size_t end = first + 1; end + stages - stage - 1 <= units_; ++end)
          if (const double passes_s = of(stage, first, end).passes_s; passes_s > above_s && passes_s < below_s)
            times.push_back(passes_s);
    std::ranges::sort(times);
    const auto repeated = std::ranges::unique(times);
    times.erase(repeated.begin(), repeated.end());
    return times;
  }

 private:
  StageCost& at(std::size_t stage, std::size_t first, std::size_t end) { return all_[stage][place(stage, first, end)]; }
  std::size_t place(std::size_t stage, std::size_t first, std::size_t end) const {
    return (first - stage) * width_ + (end - first - 1);
  }

  std::size_t units_;
  std::size_t width_;                        ///< the most units of a stage, and the most places where one can begin
  std::vector<std::vector<StageCost>> all_;  ///< by stage, then by first unit and number of units
};

/// The least sum of all stages, of which none takes longer than that.
struct LeastSum {
  double sum_s = StageCost::impossible;
  std::vector<std::int64_t> firsts;
};

LeastSum least_sum(std::size_t units, std::size_t stages, const Costs& costs, double longest_s) {
  // By the number of units in the stages so far: the least sum, and by stage the first unit of the last one.
  std::vector<double> before(units + 1, StageCost::impossible);
  before[0] = 0.0;
  std::vector<std::vector<std::size_t>> begins(stages, std::vector<std::size_t>(units + 1, 0));
  for (std::size_t stage = 0; stage < stages; ++stage) {
    std::vector<double> sums(units + 1, StageCost::impossible);
    for (std::size_t first = stage; first + stages - stage <= units; ++first) {
      if (before[first] == StageCost::impossible) continue;
      for (std::size_t end = first + 1; end + stages - stage - 1 <= units; ++end) {
        const StageCost& stage_cost = costs.of(stage, first, end);
        if (stage_cost.passes_s > longest_s) continue;
        const double sum = before[first] + stage_cost.passes_s + stage_cost.hops_s;
        if (sum >= sums[end]) continue;
        sums[end] = sum;
        begins[stage][end] = first;
      }
    }
    before = std::move(sums);
  }
  LeastSum least{.sum_s = before[units], .firsts = {}};
  if (least.sum_s == StageCost::impossible) return least;
  least.firsts.assign(stages + 1, static_cast<std::int64_t>(units));
  for (std::size_t stage = stages, end = units; stage-- > 0;) {
    end = begins[stage][end];
    least.firsts[stage] = static_cast<std::int64_t>(end);
  }
  return least;
}

/// The least longest time of a stage; impossible: there is no cut.
double least_longest(std::size_t units, std::size_t stages, const Costs& costs) {
  std::vector<double> before(units + 1, StageCost::impossible);
  before[0] = 0.0;
  for (std::size_t stage = 0; stage < stages; ++stage) {
    std::vector<double> longest(units + 1, StageCost::impossible);
    for (std::size_t first = stage; first + stages - stage <= units; ++first)
      for (std::size_t end = first + 1; end + stages - stage - 1 <= units; ++end)
        longest[end] = std::min(longest[end], std::max(before[first], costs.of(stage, first, end).passes_s));
    before = std::move(longest);
  }
  return before[units];
}

}  // namespace

ProgrammedStages program_stages(std::int64_t units, std::size_t stages, std::int64_t micro_batches,
                                const CostOfUnits& cost) {
  const auto count = static_cast<std::size_t>(units);
  base::check(stages >= 1 && stages <= count && micro_batches >= 1, "every stage has a unit");
  const Costs costs(count, stages, cost);
  ProgrammedStages best;
  const double shortest_s = least_longest(count, stages, costs);
  if (shortest_s == StageCost::impossible) return best;
  const auto waits = static_cast<double>(micro_batches - 1);
  const auto try_longest = [&](double longest_s) {
    LeastSum least = least_sum(count, stages, costs, longest_s);
    const double step_s = waits * longest_s + least.sum_s;
    if (step_s < best.step_s) best = {.firsts = std::move(least.firsts), .step_s = step_s};
  };
  try_longest(shortest_s);
  constexpr double any = std::numeric_limits<double>::max();
  const double least_of_all_s = least_sum(count, stages, costs, any).sum_s;
  if (waits == 0.0) {
    try_longest(any);
    return best;
  }
  const double useful_s = (best.step_s - least_of_all_s) / waits;
  for (const double longest_s : costs.times_between(shortest_s, useful_s)) {
    if (waits * longest_s + least_of_all_s >= best.step_s) break;
    try_longest(longest_s);
  }
  return best;
}

}  // namespace simgrad::strategies
