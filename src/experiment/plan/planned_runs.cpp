#include "experiment/plan/planned_runs.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "base/errors.h"
#include "base/text.h"
#include "experiment/plan/equal_points.h"
#include "experiment/plan/identity.h"
#include "experiment/plan/selected.h"
#include "experiment/plan/size.h"

namespace simgrad::experiment {

using base::ScenarioError;

namespace {

[[noreturn]] void refuse_strategy(const std::string& name, const AllSettings& points) {
  std::vector<std::string> known;
  const auto add = [&](std::string text) {
    if (std::ranges::find(known, text) == known.end()) known.push_back(std::move(text));
  };
  for (const auto& settings : points)
    for (const StrategyEntry& entry : settings->strategies) add(entry.name());
  for (const StrategyEntry& entry : points.front()->strategies) add(std::string(entry.strategy.kind()));
  throw ScenarioError(
      fmt::format("--strategy {}: no strategy of the scenario is called that{}", name, base::suggestion(name, known)));
}

/// The strategies of each point that the command line asks for. A label tells options, and may be one point's only.
std::vector<std::vector<bool>> chosen(const AllSettings& points, const std::vector<std::string>& wanted) {
  std::vector<std::vector<bool>> choices;
  for (const auto& settings : points) choices.push_back(selected(*settings, wanted));
  for (const std::string& name : wanted)
    if (std::ranges::none_of(points,
                             [&](const auto& point) { return std::ranges::count(named(*point, name), true) > 0; }))
      refuse_strategy(name, points);
  return choices;
}

/// Keeps the parameters of a baseline that another of its runs has, too: these tell it from other baselines.
void keep_common(nlohmann::ordered_json& parameters, const nlohmann::ordered_json& of_run) {
  if (parameters == of_run) return;
  nlohmann::ordered_json common = nlohmann::ordered_json::object();
  for (const auto& [key, value] : parameters.items())
    if (of_run.contains(key) && of_run.at(key) == value) common[key] = value;
  parameters = std::move(common);
}

/// Makes the runs of a plan, point by point, and the baselines that they need, each once.
class RunsOf {
 public:
  RunsOf(Plan& plan, const Selection& selection) : plan_(plan), selection_(selection) {}

  /// choice: the strategies that run.
  void add_point(const Point& point, const std::shared_ptr<const Settings>& settings, const std::vector<bool>& choice) {
    PointPlanner planner(settings, point.parameters, &texts_, &point.document);
    for (std::size_t s = 0; s < choice.size(); ++s) {
      if (!choice[s]) continue;
      for (const std::uint64_t seed : seeds(*settings)) add(planner, s, seed);
    }
  }

  void add_jobs(const Point& point, const std::shared_ptr<const Settings>& settings) {
    const std::vector<JobPlan> together = place_jobs(*settings, nullptr, nullptr);
    for (const std::uint64_t seed : seeds(*settings))
      for (std::size_t j = 0; j < together.size(); ++j) {
        RunPlan run = plan_job(settings, together, j, false, point.parameters, seed);
        RunPlan by_itself = plan_job(settings, together, j, true, point.parameters, seed);
        run.alone = by_itself.work;
        if (alone_.insert(by_itself.id).second) plan_.alone.push_back(std::move(by_itself));
        plan_.runs.push_back(std::move(run));
      }
  }

 private:
  /// Without --seeds the seed is the scenario's, which a grid may vary.
  std::vector<std::uint64_t> seeds(const Settings& settings) const {
    return selection_.seeds.empty() ? std::vector{static_cast<std::uint64_t>(settings.seed)} : plan_.seeds;
  }

  void add(PointPlanner& planner, std::size_t strategy, std::uint64_t seed) {
    RunPlan run = planner.run(strategy, seed);
    if (selection_.baselines && !run.settings->serving.any()) {
      RunPlan baseline = planner.baseline(strategy, seed);
      run.baseline = baseline.id;
      baseline.parameters = run.parameters;
      if (const auto [known, is_new] = baselines_.emplace(baseline.id, plan_.baselines.size()); is_new)
        plan_.baselines.push_back(std::move(baseline));
      else
        keep_common(plan_.baselines[known->second].parameters, run.parameters);
    }
    plan_.runs.push_back(std::move(run));
  }

  Plan& plan_;
  const Selection& selection_;
  SectionTexts texts_;
  std::map<std::string, std::size_t> baselines_;  ///< places in the plan, by id
  std::set<std::string> alone_;
};

}  // namespace

void add_runs(Plan& plan, const std::vector<Point>& points, const AllSettings& settings, const Selection& selection) {
  const bool jobs = std::ranges::any_of(settings, [](const auto& each) { return !each->jobs.empty(); });
  if (jobs && !selection.strategies.empty())
    throw ScenarioError(
        fmt::format("--strategy {}: the scenario's [[job]]s run together, each with the strategy that it "
                    "names; leave --strategy out, or set job.0.strategy",
                    selection.strategies.front()));
  const auto choices = chosen(settings, selection.strategies);
  std::size_t runs = 0;
  for (std::size_t p = 0; p < points.size(); ++p)
    runs += settings[p]->jobs.empty() ? static_cast<std::size_t>(std::ranges::count(choices[p], true))
                                      : settings[p]->jobs.size();
  refuse_too_many_runs(plan.document->file(), runs * std::max<std::size_t>(plan.seeds.size(), 1));
  plan.runs.reserve(runs * std::max<std::size_t>(plan.seeds.size(), 1));
  RunsOf all(plan, selection);
  std::vector<std::size_t> first_runs;
  for (std::size_t p = 0; p < points.size(); ++p) {
    first_runs.push_back(plan.runs.size());
    if (settings[p]->jobs.empty())
      all.add_point(points[p], settings[p], choices[p]);
    else
      all.add_jobs(points[p], settings[p]);
  }
  refuse_equal_points(points, settings, plan.runs, first_runs);
}

}  // namespace simgrad::experiment
