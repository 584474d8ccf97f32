#include "planner/fleet_check.h"

#include <algorithm>
#include <utility>

#include "base/errors.h"
#include "capacity/fleet.h"

namespace simgrad::planner {

namespace {

constexpr double close_by = 0.05;  ///< to the best, as a share of its value
constexpr std::size_t close_most = 6;

struct Close {
  std::pair<std::size_t, int> key;
  const Interrupted* course = nullptr;
  Rank rank;
};

/// The winner, and then the others, the best first.
std::vector<Close> closest(const std::vector<Candidate>& candidates, const Search& search, std::size_t winner) {
  const std::optional<Interrupted>& won = search.standing(winner).interrupted;
  if (!won) return {};
  const Rank best = search.rank(winner);
  std::vector<Close> all{{.key = {winner, won->spares}, .course = &*won, .rank = best}};
  for (const std::size_t c : search.known())
    for (const WithFailures& each : search.standing(c).by_spares) {
      const Rank rank = rank_of(candidates[c].settings->goal, each.measures);
      const std::pair key{c, each.interrupted.spares};
      if (key != all.front().key && rank.violation <= best.violation + close_by &&
          rank.value <= best.value * (1.0 + close_by))
        all.push_back({.key = key, .course = &each.interrupted, .rank = rank});
    }
  std::ranges::stable_sort(all.begin() + 1, all.end(), {}, &Close::rank);
  if (all.size() > close_most) all.resize(close_most);
  return all;
}

}  // namespace

outputs::Interval difference_over_seeds(const FleetCheck& check, double value, const FleetCheck& other,
                                        double other_value) {
  std::vector<double> differences;
  for (std::size_t k = 0; k < std::min(check.times_s.size(), other.times_s.size()); ++k)
    differences.push_back(other_value * other.times_s[k] / other.time_s.mean -
                          value * check.times_s[k] / check.time_s.mean);
  return outputs::interval(differences);
}

std::optional<FleetCheck> simulated_by_fleet(const Reliability& reliability, const Interrupted& course,
                                             const std::function<bool()>& goes_on) {
  constexpr int seeds_fewest = 10, seeds_most = 100;
  constexpr double narrow = 2e-3;  ///< an interval to each side of the mean
  constexpr double longest = 100.0, failures_most = 1e6;
  const double of_servers = static_cast<double>(reliability.servers + course.spares);
  const double a_life_s = reliability.life.mtbf_s + reliability.life.repair_s;
  if (!reliability.fails() || !(course.formula_s * of_servers / a_life_s < failures_most)) return {};
  const capacity::FleetOptions options{.hosts = reliability.servers,
                                       .spares = course.spares,
                                       .horizon_s = longest * course.formula_s,
                                       .until_done = true,
                                       .detection_s = reliability.detection_s,
                                       .restart_s = course.failures.restart_s,
                                       .checkpoint_s = course.work.checkpoint_s,
                                       .checkpoint_write_s = course.work.write_s,
                                       .goes_on = goes_on};
  const capacity::Job job{
      .hosts = reliability.servers, .work_s = course.work.work_s, .interval_s = course.work.interval_s};
  std::vector<double> times_s;
  outputs::Interval time_s;
  try {
    for (int k = 0; k < seeds_most; ++k) {
      if (!goes_on()) return {};
      const capacity::Outages outages{.failures = *reliability.failures,
                                      .repair = *reliability.repair,
                                      .seed = static_cast<std::uint64_t>(reliability.settings->seed + k),
                                      .warm_up_s = reliability.warm_up_s};
      const capacity::FleetOutcome outcome = capacity::simulate(options, outages, {job});
      if (!outcome.jobs.front().end_s) return {};
      times_s.push_back(*outcome.jobs.front().end_s);
      if (k + 1 < seeds_fewest) continue;
      time_s = outputs::interval(times_s);
      const double wide_s = time_s.high - time_s.low;
      // Equal times are those of seeds without a failure, and others may have one.
      if (wide_s > 0.0 && wide_s <= 2.0 * narrow * time_s.mean) break;
    }
  } catch (const base::ScenarioError&) {  // more failures than a fleet counts
    return {};
  }
  return FleetCheck{.time_s = time_s, .times_s = std::move(times_s)};
}

bool check_closest(const std::vector<Candidate>& candidates, const Search& search, Laboratory& laboratory,
                   std::size_t winner, FleetChecks& checks) {
  bool more = false;
  for (const auto& [key, course, rank] : closest(candidates, search, winner)) {
    if (checks.contains(key)) continue;
    const auto& [c, spares] = key;
    const std::optional<Reliability> reliability = reliability_of(candidates[c], candidates[c].settings);
    const auto check = simulated_by_fleet(*reliability, *course, [&] { return !laboratory.over(); });
    if (!check && laboratory.over()) return more;
    checks[key] = check;
    if (!check) continue;
    laboratory.correct(candidates[c].index, spares, check->time_s.mean / course->formula_s);
    more = true;
  }
  return more;
}

}  // namespace simgrad::planner
