#include "planner/sensitivity.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>

#include "planner/assumptions.h"
#include "planner/finalists.h"
#include "planner/whole.h"

namespace simgrad::planner {

namespace {

constexpr std::array steps_up{2.0, 4.0};  ///< and as many down
constexpr int halvings = 4;               ///< of a step on a scale of logarithms: 2^(1/16) is 4.4 %
constexpr double clearly = 1e-6;          ///< a lead that is smaller is none

class Study {
 public:
  Study(const std::vector<Candidate>& candidates, Laboratory& laboratory, const std::vector<std::size_t>& rivals,
        const std::function<void()>& tick)
      : candidates_(candidates), laboratory_(laboratory), rivals_(rivals), tick_(tick) {
    const Candidate& first = candidates[rivals.front()];
    const bool chance = std::ranges::any_of(rivals, [&](std::size_t c) { return by_chance(candidates[c]); });
    const auto most = chance
                          ? std::min<std::int64_t>(first.settings->goal.seeds, static_cast<std::int64_t>(seeds_least))
                          : std::int64_t{1};
    for (std::int64_t s = 0; s < most; ++s) seeds_.push_back(static_cast<std::uint64_t>(first.settings->seed + s));
  }

  Sensitivity all() {
    if (rivals_.size() < 2) return std::move(result_);
    std::vector<Assumption> assumptions;
    for (const std::size_t c : rivals_)
      for (const Assumption& each : assumptions_of(candidates_[c]))
        if (std::ranges::find(assumptions, each.name, &Assumption::name) == assumptions.end())
          assumptions.push_back(each);
    for (const Assumption& each : assumptions) {
      const bool finished = look(each, 1.0) && look(each, -1.0);
      if (!finished) {
        result_.done = false;
        break;
      }
      result_.tried.push_back(each.noun);
    }
    std::ranges::stable_sort(result_.turns, {}, [](const Turn& turn) { return std::abs(std::log(turn.factor)); });
    return std::move(result_);
  }

 private:
  /// Looks to one side. Returns whether there was time for it.  direction: 1 for more, -1 for less.
  bool look(const Assumption& assumption, double direction) {
    double before = 1.0;
    for (const double step : steps_up) {
      const double factor = std::pow(step, direction);
      const auto best = best_at(assumption, factor);
      if (!best) return false;
      if (*best != rivals_.front()) return narrow(assumption, before, factor, *best);
      before = factor;
    }
    return true;
  }

  bool narrow(const Assumption& assumption, double still, double changed, std::size_t then) {
    for (int k = 0; k < halvings; ++k) {
      const double between = std::sqrt(still * changed);
      const auto best = best_at(assumption, between);
      if (!best) return false;
      if (*best == rivals_.front()) {
        still = between;
      } else {
        changed = between;
        then = *best;
      }
    }
    result_.turns.push_back({.assumption = assumption.noun,
                             .still = still,
                             .factor = changed,
                             .still_value = value_at(candidates_[rivals_.front()], assumption, still),
                             .value = value_at(candidates_[rivals_.front()], assumption, changed),
                             .then = then,
                             .sets = changes_of(candidates_[then], assumption.name, changed)});
    return true;
  }

  /// The best rival if the assumption is so many times as large; the winner if nobody is clearly better.
  std::optional<std::size_t> best_at(const Assumption& assumption, double factor) {
    const auto changes = [&](const Candidate& candidate) { return changes_of(candidate, assumption.name, factor); };
    const auto rows = whole_measures(candidates_, laboratory_, rivals_, seeds_, changes, tick_);
    if (rows.empty()) return {};
    std::optional<std::size_t> best;
    Rank of_best;
    for (std::size_t k = 0; k < rivals_.size(); ++k) {
      if (!std::ranges::all_of(rows[k], [](const auto& each) { return each.has_value(); })) continue;
      const Rank rank = rank_of(candidates_[rivals_[k]].settings->goal, mean_over(rows[k]));
      const bool better = !best || rank.violation < of_best.violation ||
                          (rank.violation == of_best.violation && rank.value < of_best.value * (1.0 - clearly));
      if (!better) continue;
      best = rivals_[k];
      of_best = rank;
    }
    return best.value_or(rivals_.front());
  }

  const std::vector<Candidate>& candidates_;
  Laboratory& laboratory_;
  const std::vector<std::size_t>& rivals_;
  const std::function<void()>& tick_;
  std::vector<std::uint64_t> seeds_;
  Sensitivity result_;
};

}  // namespace

Sensitivity sensitivity_of(const std::vector<Candidate>& candidates, Laboratory& laboratory,
                           const std::vector<std::size_t>& rivals, const std::function<void()>& tick) {
  return Study(candidates, laboratory, rivals, tick).all();
}

}  // namespace simgrad::planner
