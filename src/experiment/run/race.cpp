#include "experiment/run/race.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/errors.h"
#include "outputs/comparison.h"
#include "outputs/leaders.h"
#include "outputs/statistics.h"

namespace simgrad::experiment {

namespace {

/// The rows of some runs' comparison, by label.
std::map<std::string, outputs::Row> rows_by_label(std::vector<outputs::Run> runs) {
  outputs::Results results;
  results.runs = std::move(runs);
  std::map<std::string, outputs::Row> rows;
  for (outputs::Row& row : outputs::comparison(results).rows) rows.emplace(row.label, std::move(row));
  return rows;
}

/// Whether no seed of the row says anything for it.
bool hopeless(const outputs::Row& row, bool has_target) {
  return row.diverged + row.failed == row.seeds || (has_target && row.reached == 0);
}

}  // namespace

Race::Race(const Plan& plan) {
  std::map<std::string, std::size_t> points;  // by their parameters
  for (const RunPlan& run : plan.runs) {
    if (!run.jobs.empty())
      throw base::ScenarioError("--race: the scenario's [[job]]s run together, so that none can be dropped");
    has_target_ = has_target_ || run.settings->stop.loss.has_value();
    const auto [place, is_new] = points.try_emplace(run.parameters.dump(), points_.size());
    if (is_new) points_.emplace_back();
    std::vector<Contestant>& all = points_[place->second].contestants;
    auto contestant = std::ranges::find(all, run.label, &Contestant::label);
    if (contestant == all.end())
      contestant = all.insert(all.end(), Contestant{.label = run.label, .runs = {}, .results = {}});
    places_[&run] = {place->second, static_cast<std::size_t>(contestant - all.begin()), contestant->runs.size()};
    contestant->runs.push_back(&run);
    contestant->results.emplace_back();
  }
  std::size_t most = 0;
  for (Point& point : points_) {
    for (const Contestant& each : point.contestants) point.seeds = std::max(point.seeds, each.runs.size());
    most = std::max(most, point.seeds);
  }
  if (most <= seeds_least)
    throw base::ScenarioError(fmt::format(
        "--race drops a strategy after {} seeds at the earliest, but there {} {}; give more, as in --seeds 1..10",
        seeds_least, most == 1 ? "is" : "are", most));
}

bool Race::open(const RunPlan& run) const {
  const auto place = places_.find(&run);
  if (place == places_.end()) return true;
  return place->second.seed < seeds_least || place->second.seed <= points_[place->second.point].decided;
}

bool Race::dropped(const RunPlan& run) const {
  const auto place = places_.find(&run);
  if (place == places_.end()) return false;
  const auto& dropped = points_[place->second.point].contestants[place->second.contestant].dropped;
  return dropped && std::cmp_greater_equal(place->second.seed, dropped->seeds);
}

bool Race::finished(const RunPlan& plan, const outputs::Run& run) {
  const Place& place = places_.at(&plan);
  Point& point = points_[place.point];
  outputs::Run& kept = point.contestants[place.contestant].results[place.seed].emplace(run);
  kept.record.curve.clear();
  kept.record.ranks.clear();
  kept.record.links.clear();
  bool some = false;
  for (;;) {
    const bool complete = std::ranges::all_of(point.contestants, [&](const Contestant& each) {
      return each.dropped || (point.decided < each.results.size() && each.results[point.decided]);
    });
    if (!complete || point.decided == point.seeds) return some;
    ++point.decided;
    if (point.decided >= seeds_least && point.decided < point.seeds) some = decide(point) || some;
  }
}

/// Drops the strategies that are clearly behind after the seeds that are decided.
bool Race::decide(Point& point) const {
  std::vector<outputs::Run> runs;
  for (const Contestant& each : point.contestants)
    if (!each.dropped)
      for (std::size_t seed = 0; seed < point.decided; ++seed) runs.push_back(*each.results[seed]);
  const auto rows = rows_by_label(std::move(runs));
  const outputs::Compared by = has_target_ ? outputs::by_time_to_target : outputs::by_time_per_sample;
  const outputs::Row* best = nullptr;
  for (const auto& [label, row] : rows)
    if (const auto mean = outputs::compared(row, by); mean && (!best || *mean < *outputs::compared(*best, by)))
      best = &row;
  if (!best) return false;
  const auto looks = static_cast<double>(point.seeds - seeds_least);
  const double t = outputs::student_t(static_cast<int>(point.decided) - 1, 1.0 - 0.05 / looks);
  bool some = false;
  for (Contestant& each : point.contestants) {
    const auto row = rows.find(each.label);
    if (each.dropped || row == rows.end() || &row->second == best) continue;
    outputs::Dropped dropped{.label = each.label,
                             .parameters = row->second.parameters,
                             .seeds = static_cast<std::int64_t>(point.decided),
                             .seeds_left_out = static_cast<std::int64_t>(each.runs.size() - point.decided),
                             .behind = best->label,
                             .number = has_target_ ? "time_to_target_s" : "s_per_sample"};
    if (!hopeless(row->second, has_target_)) {
      const std::vector<double> pairs = outputs::difference(*best, row->second, by).pairs;
      if (pairs.size() < point.decided) continue;  // some seeds lack the number
      const outputs::Interval difference = outputs::interval(pairs, t);
      if (!(difference.low > 0.0)) continue;
      dropped.difference = difference.mean;
      dropped.difference_low = difference.low;
      dropped.difference_high = difference.high;
    }
    each.dropped = std::move(dropped);
    some = true;
  }
  return some;
}

std::vector<outputs::Dropped> Race::all_dropped() const {
  std::vector<outputs::Dropped> all;
  for (const Point& point : points_)
    for (const Contestant& each : point.contestants)
      if (each.dropped) all.push_back(*each.dropped);
  return all;
}

}  // namespace simgrad::experiment
