#include "cli/brief.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <nlohmann/json.hpp>
#include <set>

#include "base/text.h"
#include "cli/selection.h"
#include "outputs/text/language.h"
#include "outputs/text/number_text.h"
#include "outputs/text/recognised.h"
#include "outputs/text/text_layout.h"

namespace simgrad::cli {

namespace {

using experiment::Plan;
using experiment::Settings;
using experiment::StrategyEntry;
using outputs::counted;
using outputs::tr;

constexpr std::size_t runs_shown = 20;
constexpr std::size_t line_width = 116;  ///< a longer value is cut

/// "less than 1 s", "2 s", "3 min 20 s": an estimate has no decimals.
std::string whole_seconds(double seconds) {
  constexpr double minute_s = 60.0;
  if (seconds < 1.0) return tr("less than 1 s");
  return seconds < minute_s ? fmt::format("{:.0f} s", seconds) : outputs::duration(std::round(seconds));
}

std::string answer(const Plan& plan, const experiment::Estimate& estimate) {
  const std::string runs = tr("ok: {}", counted(plan.runs.size(), "{} run", "{} runs"));
  if (!estimate.unknown.empty())
    return tr("{}; time not estimated: {}", runs, outputs::translated(estimate.unknown)) + "\n";
  if (estimate.at_least) return tr("{}, at least {}", runs, whole_seconds(std::max(estimate.wall_s, 1.0))) + "\n";
  const std::string time = whole_seconds(estimate.wall_s);
  std::string text = estimate.wall_s < 1.0 ? tr("{}, {}", runs, time) : tr("{}, about {}", runs, time);
  if (estimate.at_most) text += tr(", or less where a target loss ends runs");
  return text + "\n";
}

/// The settings of the whole scenario at its first grid point.
const Settings& first_settings(const Plan& plan) {
  const experiment::RunPlan& first = plan.runs.front();
  return first.fabric ? *first.fabric : *first.settings;
}

/// "3 tables" in place of a list of tables; any other value as it is.
std::string in_short(const Plan& plan, const std::string& key, const std::string& value) {
  std::string path = "/" + key;
  std::ranges::replace(path, '.', '/');
  const nlohmann::ordered_json::json_pointer at(path);
  if (!plan.scenario.contains(at)) return value;
  const nlohmann::ordered_json& found = plan.scenario.at(at);
  if (!found.is_array() || found.empty() || !found.front().is_object()) return value;
  return counted(found.size(), "{} table", "{} tables");
}

std::string indented(const std::string& text) {
  return fmt::format("  {}\n", outputs::cut(outputs::printable(text), line_width));
}

/// Whether the scenario, or the command line, writes the key. One that a grid varies stands with the grid.
bool is_set(const Plan& plan, const std::string& key) {
  const auto varies = [&](const scenario::Axis& axis) { return key == axis.key || key.starts_with(axis.key + "."); };
  return plan.document->contains(key) && std::ranges::none_of(plan.grid, varies) &&
         std::ranges::none_of(plan.space, varies);
}

/// "async PS: parameter_server(consistency=asp)": the label, and what it stands for.
std::string strategy_text(const StrategyEntry& entry) {
  StrategyEntry unlabelled = entry;
  unlabelled.label.reset();
  unlabelled.known_name.clear();
  const std::string own = unlabelled.name();
  return entry.name() == own ? own : fmt::format("{}: {}", entry.name(), own);
}

std::string axis_text(const scenario::Axis& axis) {
  std::vector<std::string> values;
  for (const scenario::Value& value : axis.values) values.push_back(value.toml);
  return fmt::format("{} = {}", axis.key, base::joined(values));
}

/// A line for each key that is set to another value than its default, for each strategy, and for each list of a grid.
std::string changed_keys(const Plan& plan) {
  std::string text;
  const Settings& settings = first_settings(plan);
  for (const auto& [key, value] : scenario::differences(settings, Settings{}))
    if (key != "strategy" && is_set(plan, key)) text += indented(key + " = " + in_short(plan, key, value));
  std::set<std::string> labels;
  for (const experiment::RunPlan& run : plan.runs) labels.insert(run.label);
  for (const StrategyEntry& entry : settings.strategies)
    if (!settings.serving.any() && (!settings.jobs.empty() || labels.contains(entry.name())))
      text += indented("[[strategy]] " + strategy_text(entry));
  const auto add = [&](const std::vector<scenario::Axis>& axes, const char* table) {
    for (const scenario::Axis& axis : axes)
      text += indented(fmt::format(
          "{} {}", axis.zip > 0 ? fmt::format("[[{}.zip]]", table) : fmt::format("[{}]", table), axis_text(axis)));
  };
  add(plan.grid, "grid");
  add(plan.space, "plan.space");
  return text;
}

std::string first_runs(const Plan& plan) {
  std::string text;
  for (std::size_t k = 0; k < std::min(runs_shown, plan.runs.size()); ++k) text += indented(run_line(plan.runs[k]));
  if (plan.runs.size() > runs_shown)
    text +=
        fmt::format("  {}\n", tr("... and {} more; `simgrad run --dry-run` lists all", plan.runs.size() - runs_shown));
  if (!plan.baselines.empty())
    text += fmt::format("  {}\n",
                        counted(plan.baselines.size(), "and {} baseline of one worker, to which speed-ups are relative",
                                "and {} baselines of one worker, to which speed-ups are relative"));
  return text;
}

}  // namespace

std::string brief(const Plan& plan, const experiment::Estimate& estimate) {
  return fmt::format("{}\n{}\n{}\n{}\n{}", answer(plan, estimate),
                     tr("set to other values than the defaults (all values: --resolved)"), changed_keys(plan),
                     tr("runs"), first_runs(plan));
}

}  // namespace simgrad::cli
