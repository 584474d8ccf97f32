#include "experiment/run/verdicts.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "experiment/run/better_than.h"
#include "experiment/run/metric_of_runs.h"
#include "experiment/run/vacuity.h"
#include "outputs/comparison.h"
#include "outputs/seed_means.h"
#include "outputs/statistics.h"

namespace simgrad::experiment {

namespace {

using outputs::Run;

/// The runs in groups by a property; groups and members are in the order of the results.
template <class Same>
std::vector<Runs> grouped(const Runs& runs, Same same) {
  std::vector<Runs> groups;
  for (const Run* run : runs) {
    const auto found = std::ranges::find_if(groups, [&](const Runs& group) { return same(*group.front(), *run); });
    if (found == groups.end())
      groups.push_back({run});
    else
      found->push_back(run);
  }
  return groups;
}

/// The runs of one grid point that have the expectation's strategy: by label, else by kind.
Runs of_strategy(const Runs& point, const std::optional<std::string>& name) {
  if (!name) return point;
  Runs by_label, by_kind;
  for (const Run* run : point) {
    if (run->label == *name) by_label.push_back(run);
    if (run->strategy == *name) by_kind.push_back(run);
  }
  return by_label.empty() ? by_kind : by_label;
}

/// The number with enough digits that a value beyond the bound does not look like the bound.
std::string shown(double value, const Expectation& expectation) {
  const std::string text = fmt::format("{:.6g}", value);
  return !expectation.holds(value) && expectation.holds(std::stod(text)) ? fmt::format("{}", value) : text;
}

/// Returns " ± 0.12 over 5 seeds" (95 %), and whether values that would reverse the outcome lie in that interval. One
/// seed of a comparison is said to be one.
std::string chance_text(const Expectation& expectation, const outputs::Interval& of_seeds, std::size_t seeds) {
  if (seeds < 2)
    return expectation.relative() && compares(expectation.metric) ? "; one seed cannot show whether this is chance"
                                                                  : "";
  if (!std::isfinite(of_seeds.high) || !(of_seeds.high > of_seeds.low)) return "";
  const bool holds = expectation.holds(of_seeds.mean);
  const bool unsure = expectation.holds(of_seeds.low) != holds || expectation.holds(of_seeds.high) != holds;
  return fmt::format(" ± {:.2g} over {} seeds{}", of_seeds.high - of_seeds.mean, seeds,
                     unsure ? "; other seeds may decide otherwise" : "");
}

/// Returns the ratio of two means over the seeds that both have; without such seeds the ratio alone. Speed-ups, which
/// are ratios of means themselves, have no interval.
outputs::Interval ratio_of(const MeanOfSeeds& one, const MeanOfSeeds& other, bool of_times) {
  const double ratio = one.of_seeds.mean / other.of_seeds.mean;
  std::vector<double> above, below;
  for (const auto& [seed, value] : one.values)
    if (const auto found = other.values.find(seed); found != other.values.end()) {
      above.push_back(value);
      below.push_back(found->second);
    }
  const bool paired = above.size() == one.values.size() && above.size() == other.values.size();
  if (of_times || !paired || above.size() < 2) return {ratio, outputs::nan, outputs::nan};
  const outputs::Interval found = outputs::ratio_of_means(above, below);
  return {ratio, found.low, found.high};
}

double wall_s_of(const Runs& runs) {
  double sum = 0.0;
  for (const Run* run : runs) sum += run->wall_s;
  return sum;
}

Verdict better_verdict(const Expectation& expectation, const std::string& name, const Runs& seeds, const Runs& others) {
  const BetterThan found = better_than(expectation, seeds, others);
  return {.name = name,
          .outcome = found.holds ? Outcome::held : Outcome::failed,
          .text = found.text,
          .wall_s = wall_s_of(seeds) + wall_s_of(others)};
}

/// compared_with: the runs of a relative expectation's other side; null for an absolute one.
Verdict verdict(const Expectation& expectation, const std::string& name, const Runs& seeds, const Runs* compared_with) {
  Verdict found{.name = name, .outcome = Outcome::failed, .text = {}, .wall_s = wall_s_of(seeds)};
  MeanOfSeeds mean = mean_of(expectation.metric, seeds);
  found.text = mean.fault;
  if (!mean.fault.empty()) return found;
  outputs::Interval value = mean.of_seeds;
  std::string parts;
  if (compared_with) {
    const MeanOfSeeds other = mean_of(expectation.metric, *compared_with);
    found.wall_s += wall_s_of(*compared_with);
    found.text = fmt::format("{}: {}", compared_with->front()->label, other.fault);
    if (!other.fault.empty()) return found;
    found.text = fmt::format("found {:.6g} / 0, which is no number", mean.of_seeds.mean);
    if (other.of_seeds.mean == 0.0) return found;
    value = ratio_of(mean, other, outputs::mean_of_ratio(seeds, expectation.metric).has_value());
    parts = fmt::format(" ({:.6g} / {:.6g})", mean.of_seeds.mean, other.of_seeds.mean);
  }
  found.outcome = expectation.holds(value.mean) ? Outcome::held : Outcome::failed;
  found.text = "found " + shown(value.mean, expectation) + parts + chance_text(expectation, value, seeds.size());
  return found;
}

std::string name_of(const Expectation& expectation, const std::string& label, const std::string& point) {
  return fmt::format("{}{}{} {}{}{}", label, label.empty() ? "" : ": ", expectation.metric, expectation.bound(),
                     point.empty() ? "" : ", ", point);
}

std::string where_text(const Expectation& expectation) {
  nlohmann::ordered_json parameters = nlohmann::ordered_json::object();
  for (const auto& [key, toml] : expectation.where) parameters[key] = scenario::json_of({.toml = toml, .position = {}});
  return outputs::point_text(parameters);
}

bool same_label(const Run& a, const Run& b) { return a.label == b.label; }

/// The runs that a relative expectation compares those with; none, and the reason, if there are not just those of one
/// label.
Runs compared_with(const Expectation& expectation, const Run& run, const std::vector<Runs>& points,
                   std::string& reason) {
  const auto wanted = expectation.compared_with(run.parameters);
  const auto point = std::ranges::find_if(points, [&](const Runs& each) { return each.front()->parameters == wanted; });
  reason = fmt::format("there are no runs to compare with, {}{}", expectation.other().value_or(run.label),
                       wanted.empty() ? "" : " at " + outputs::point_text(wanted));
  if (point == points.end()) return {};
  const auto groups = grouped(of_strategy(*point, expectation.other().value_or(run.label)), same_label);
  if (groups.size() > 1)
    reason =
        fmt::format("\"{}\" is the kind of several strategies; compare with one, by its label", *expectation.other());
  return groups.size() == 1 ? groups.front() : Runs();
}

/// Says of an expectation that holds, but could not have failed, that it is vacuous.
Verdict weighed(Verdict found, const Expectation& expectation, Runs concerned, const Runs& others,
                const PlannedRuns& planned) {
  if (found.outcome != Outcome::held) return found;
  concerned.insert(concerned.end(), others.begin(), others.end());
  if (const auto reason = vacuity(expectation, concerned, planned)) {
    found.outcome = Outcome::vacuous;
    constexpr std::string_view unsure = "; other seeds may decide otherwise";  // which none can
    if (const auto at = found.text.find(unsure); at != std::string::npos) found.text.erase(at, unsure.size());
    found.text += "; it could not have failed: " + *reason;
  }
  return found;
}

/// The verdict on the runs of one label at one grid point; none if they would be compared with themselves.
std::optional<Verdict> verdict_on(const Expectation& expectation, const Runs& seeds, const std::vector<Runs>& points,
                                  const PlannedRuns& planned) {
  const Run& run = *seeds.front();
  const std::string name = name_of(expectation, run.label, outputs::point_text(run.parameters));
  if (!expectation.relative())
    return weighed(verdict(expectation, name, seeds, nullptr), expectation, seeds, {}, planned);
  std::string reason;
  const Runs others = compared_with(expectation, run, points, reason);
  if (others.empty()) return Verdict{.name = name, .outcome = Outcome::untested, .text = reason};
  if (others.front() == seeds.front()) return std::nullopt;
  Verdict found = expectation.better_than ? better_verdict(expectation, name, seeds, others)
                                          : verdict(expectation, name, seeds, &others);
  return weighed(std::move(found), expectation, seeds, others, planned);
}

std::vector<Verdict> verdicts_of(const Expectation& expectation, const std::vector<Runs>& points,
                                 const PlannedRuns& planned) {
  std::vector<Verdict> found;
  bool any_point = false;
  for (const Runs& point : points) {
    if (!expectation.is_about(point.front()->parameters)) continue;
    any_point = true;
    for (const Runs& seeds : grouped(of_strategy(point, expectation.strategy), same_label))
      if (auto each = verdict_on(expectation, seeds, points, planned)) found.push_back(*std::move(each));
  }
  if (found.empty())
    found.push_back({.name = name_of(expectation, expectation.strategy.value_or(""), where_text(expectation)),
                     .outcome = any_point ? Outcome::failed : Outcome::untested,
                     .text = !any_point               ? "the command line leaves no such grid point"
                             : expectation.relative() ? "no run there has that strategy, or it is compared with itself"
                                                      : "no run there has that strategy"});
  return found;
}

}  // namespace

std::vector<Verdict> verdicts(const std::vector<Expectation>& expectations, const outputs::Results& results,
                              const std::vector<RunPlan>& planned) {
  Runs all;
  for (const Run& run : results.runs) all.push_back(&run);
  const auto points = grouped(all, [](const Run& a, const Run& b) { return a.parameters == b.parameters; });
  PlannedRuns by_id;
  for (const RunPlan& run : planned) by_id.emplace(run.id, &run);
  std::vector<Verdict> found;
  for (std::size_t i = 0; i < expectations.size(); ++i)
    for (Verdict& each : verdicts_of(expectations[i], points, by_id)) {
      each.bound = expectations[i].bound();
      each.expectation = i;
      found.push_back(std::move(each));
    }
  return found;
}

}  // namespace simgrad::experiment
