#include "experiment/run/verdicts.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "outputs/comparison.h"
#include "outputs/fields.h"

namespace simgrad::experiment {

namespace {

using outputs::Run;
using Runs = std::vector<const Run*>;

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

std::string why_null(const Run& run, const std::string& metric) {
  if (metric == "time_to_target_s" || metric.ends_with("_to_target") || metric.ends_with("_to_target_usd"))
    return "the target was not reached";
  if (run.record.status == record::Status::diverged) return "the run diverged";
  return "the run has no such number";
}

/// The number with enough digits that a value beyond the bound does not look like the bound.
std::string shown(double value, const Expectation& expectation) {
  const std::string text = fmt::format("{:.6g}", value);
  return !expectation.holds(value) && expectation.holds(std::stod(text)) ? fmt::format("{}", value) : text;
}

Verdict verdict(const Expectation& expectation, const std::string& name, const Runs& seeds) {
  // Relative to the first: the mean of equal numbers is that number, to the last bit.
  double first = 0.0, excess = 0.0;
  for (const Run* run : seeds) {
    if (run->record.status == record::Status::failed)  // its numbers describe no training
      return {name, Outcome::failed, fmt::format("the run failed: {} (seed {})", run->record.error, run->seed)};
    const auto value = outputs::field(*run, expectation.metric);
    if (!value)
      return {name, Outcome::failed,
              fmt::format("found null: {} (seed {})", why_null(*run, expectation.metric), run->seed)};
    if (run == seeds.front()) first = *value;
    excess += *value - first;
  }
  const double mean = first + excess / static_cast<double>(seeds.size());
  return {name, expectation.holds(mean) ? Outcome::held : Outcome::failed, "found " + shown(mean, expectation)};
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

std::vector<Verdict> verdicts_of(const Expectation& expectation, const std::vector<Runs>& points) {
  std::vector<Verdict> found;
  bool any_point = false;
  for (const Runs& point : points) {
    if (!expectation.is_about(point.front()->parameters)) continue;
    any_point = true;
    const auto same_label = [](const Run& a, const Run& b) { return a.label == b.label; };
    for (const Runs& seeds : grouped(of_strategy(point, expectation.strategy), same_label)) {
      const Run& run = *seeds.front();
      found.push_back(
          verdict(expectation, name_of(expectation, run.label, outputs::point_text(run.parameters)), seeds));
    }
  }
  if (found.empty())
    found.push_back({name_of(expectation, expectation.strategy.value_or(""), where_text(expectation)),
                     any_point ? Outcome::failed : Outcome::untested,
                     any_point ? "no run there has that strategy" : "the command line leaves no such grid point"});
  return found;
}

}  // namespace

std::vector<Verdict> verdicts(const std::vector<Expectation>& expectations, const outputs::Results& results) {
  Runs all;
  for (const Run& run : results.runs) all.push_back(&run);
  const auto points = grouped(all, [](const Run& a, const Run& b) { return a.parameters == b.parameters; });
  std::vector<Verdict> found;
  for (const Expectation& expectation : expectations) {
    const std::vector<Verdict> each = verdicts_of(expectation, points);
    found.insert(found.end(), each.begin(), each.end());
  }
  return found;
}

}  // namespace simgrad::experiment
