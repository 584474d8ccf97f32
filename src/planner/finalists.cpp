#include "planner/finalists.h"

#include <algorithm>
#include <cmath>

#include "outputs/statistics.h"
#include "planner/variants.h"
#include "planner/whole.h"

namespace simgrad::planner {

namespace {

constexpr double slack_most = 0.5;
constexpr double one_within = 1e-9;  ///< values that differ by less are one

/// The measures of one candidate by seed.
struct Contestant {
  std::size_t candidate = 0;
  std::vector<std::optional<Measures>> measures = {};
  bool dropped = false;

  bool complete() const {
    return std::ranges::all_of(measures, [](const auto& each) { return each.has_value(); });
  }
};

class Comparison {
 public:
  Comparison(const std::vector<Candidate>& candidates, const std::vector<std::size_t>& chosen)
      : candidates_(candidates), goal_(candidates[chosen.front()].settings->goal) {
    for (const std::size_t c : chosen) contestants_.push_back({.candidate = c});
  }

  std::vector<std::size_t> running() const {
    std::vector<std::size_t> all;
    for (const Contestant& each : contestants_)
      if (!each.dropped) all.push_back(each.candidate);
    return all;
  }

  void add(const std::vector<std::vector<std::optional<Measures>>>& rows) {
    std::size_t row = 0;
    for (Contestant& each : contestants_)
      if (!each.dropped) {
        each.measures.insert(each.measures.end(), rows[row].begin(), rows[row].end());
        ++row;
      }
    for (Contestant& each : contestants_)
      if (!each.complete()) each.dropped = true;
  }

  /// Drops whoever is decided.  looks: over all of the comparison.
  void drop(std::size_t looks) {
    const Contestant* leader = best();
    if (!leader) return;
    for (Contestant& each : contestants_)
      if (&each != leader && !each.dropped && difference(each, *leader, looks).low > 0.0) each.dropped = true;
  }

  const Contestant* best() const {
    const Contestant* best = nullptr;
    for (const Contestant& each : contestants_)
      if (!each.dropped && each.complete() && (!best || choice(each).rank < choice(*best).rank)) best = &each;
    return best;
  }

  Choice choice(const Contestant& of) const {
    const Measures mean = mean_over(of.measures);
    std::vector<double> values;
    for (const auto& each : of.measures) values.push_back(goal_.objective->value(*each));
    const outputs::Interval interval =
        values.size() < 2
            ? outputs::Interval{values.front(), outputs::nan, outputs::nan}
            : outputs::interval(values, outputs::student_t(static_cast<int>(values.size()) - 1, goal_.confidence));
    return {.candidate = of.candidate,
            .mean = mean,
            .rank = rank_of(goal_, mean),
            .value = interval,
            .seeds = values.size()};
  }

  /// The difference of the objective from the leader's, over the seeds that both have.
  outputs::Interval difference(const Contestant& of, const Contestant& leader, std::size_t looks) const {
    const std::size_t seeds = std::min(of.measures.size(), leader.measures.size());
    std::vector<double> differences;
    for (std::size_t s = 0; s < seeds; ++s)
      differences.push_back(goal_.objective->value(*of.measures[s]) - goal_.objective->value(*leader.measures[s]));
    if (seeds < 2) return {differences.front(), outputs::nan, outputs::nan};
    const double comparisons = static_cast<double>(std::max<std::size_t>(1, contestants_.size() - 1) * looks);
    return outputs::interval(
        differences, outputs::student_t(static_cast<int>(seeds) - 1, 1.0 - (1.0 - goal_.confidence) / comparisons));
  }

  Final result(std::size_t looks) const {
    const Contestant& leader = *best();
    Final final{.winner = choice(leader), .others = {}, .ties = {}};
    for (const Contestant& each : contestants_) {
      if (&each == &leader || each.measures.empty() || !each.complete()) continue;
      const Choice other = choice(each);
      final.others.push_back(other);
      const outputs::Interval apart = difference(each, leader, looks);
      const bool equal = std::abs(apart.mean) <= one_within * final.winner.value.mean;
      if (!each.dropped && other.rank.violation <= final.winner.rank.violation &&
          (equal || (!std::isnan(apart.low) && apart.low <= 0.0)))
        final.ties.push_back({.choice = other, .difference = apart});
    }
    std::ranges::stable_sort(final.others, {}, &Choice::rank);
    return final;
  }

 private:
  const std::vector<Candidate>& candidates_;
  const experiment::Goal& goal_;
  std::vector<Contestant> contestants_;
};

std::vector<std::uint64_t> seeds_from(const Candidate& candidate, std::size_t first, std::size_t count) {
  std::vector<std::uint64_t> seeds;
  for (std::size_t k = first; k < first + count; ++k)
    seeds.push_back(static_cast<std::uint64_t>(candidate.settings->seed) + k);
  return seeds;
}

}  // namespace

bool by_chance(const Candidate& candidate) { return candidate.samples == 0.0 || random_times(candidate); }

std::optional<Final> last_comparison(const std::vector<Candidate>& candidates, Laboratory& laboratory,
                                     const std::vector<std::size_t>& chosen, const std::function<void()>& tick) {
  const bool chance = std::ranges::any_of(chosen, [&](std::size_t c) { return by_chance(candidates[c]); });
  const auto most = static_cast<std::size_t>(candidates[chosen.front()].settings->goal.seeds);
  const std::size_t seeds = chance ? most : 1;
  const std::size_t looks = seeds > seeds_least ? seeds - seeds_least + 1 : 1;
  Comparison comparison(candidates, chosen);
  for (std::size_t done = 0; done < seeds;) {
    const std::size_t more = done == 0 ? std::min(seeds, seeds_least) : 1;
    const std::vector<std::size_t> running = comparison.running();
    const auto rows =
        whole_measures(candidates, laboratory, running, seeds_from(candidates[chosen.front()], done, more), {}, tick);
    if (rows.empty()) return {};
    comparison.add(rows);
    done += more;
    comparison.drop(looks);
    if (!comparison.best()) return {};
    if (comparison.running().size() == 1 && done >= std::min(seeds, seeds_least)) break;
  }
  return comparison.result(looks);
}

std::optional<double> seed_slack(const std::vector<Candidate>& candidates, Laboratory& laboratory, std::size_t chosen,
                                 const std::function<void()>& tick) {
  const Candidate& candidate = candidates[chosen];
  const auto seeds = static_cast<std::size_t>(candidate.settings->goal.seeds);
  if (!by_chance(candidate) || seeds < 2) return 0.0;
  const auto rows = whole_measures(candidates, laboratory, {chosen}, seeds_from(candidate, 0, seeds), {}, tick);
  if (rows.empty()) return {};
  std::vector<double> values;
  for (const auto& each : rows.front())
    if (each) values.push_back(candidate.settings->goal.objective->value(*each));
  if (values.size() < 2) return slack_most;
  double mean = 0.0, squares = 0.0;
  for (const double value : values) mean += value / static_cast<double>(values.size());
  for (const double value : values) squares += (value - mean) * (value - mean);
  const double spread = std::sqrt(squares / static_cast<double>(values.size() - 1));
  const double t = outputs::student_t(static_cast<int>(values.size()) - 1, candidate.settings->goal.confidence);
  return mean > 0.0 ? std::min(slack_most, t * std::sqrt(2.0) * spread / mean) : 0.0;
}

}  // namespace simgrad::planner
