#include "experiment/plan/plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <map>
#include <set>

#include "base/errors.h"
#include "base/text.h"
#include "experiment/plan/identity.h"
#include "experiment/plan/job_training.h"
#include "experiment/plan/places.h"
#include "experiment/plan/points.h"
#include "experiment/plan/selected.h"
#include "experiment/plan/size.h"

namespace simgrad::experiment {

using base::ScenarioError;
using scenario::Axis;
using scenario::Document;
using scenario::Faults;

namespace {

std::uint64_t seed_of(std::string_view text, std::string_view all) {
  std::uint64_t seed = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), seed);
  if (error != std::errc() || end != text.data() + text.size())
    throw ScenarioError(
        fmt::format("--seeds {}: \"{}\" is no seed; expected a..b, or seeds separated by commas", all, text));
  return seed;
}

std::vector<std::uint64_t> parse_seeds(const std::string& text) {
  std::vector<std::uint64_t> seeds;
  constexpr std::uint64_t most = 100'000;
  for (std::size_t from = 0; from <= text.size();) {
    const auto comma = std::min(text.find(',', from), text.size());
    const std::string_view part = std::string_view(text).substr(from, comma - from);
    const auto dots = part.find("..");
    const std::uint64_t first = seed_of(part.substr(0, dots), text);
    const std::uint64_t last = dots == std::string_view::npos ? first : seed_of(part.substr(dots + 2), text);
    if (last < first || last - first >= most)
      throw ScenarioError(
          fmt::format("--seeds {}: {}..{} is empty or too long; expected a..b with a <= b", text, first, last));
    for (std::uint64_t k = 0; k <= last - first; ++k) seeds.push_back(first + k);
    from = comma + 1;
  }
  std::set<std::uint64_t> unique(seeds.begin(), seeds.end());
  if (unique.size() != seeds.size()) throw ScenarioError(fmt::format("--seeds {}: a seed is named twice", text));
  return seeds;
}

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

/// Leaves out options that another option replaces: read back together, the two would contradict each other.
void leave_out_what_is_void(nlohmann::ordered_json& tree) {
  const nlohmann::ordered_json& cluster = tree.at("cluster");
  if (cluster.at("platform") == "")
    leave_out(tree, "cluster.platform");
  else
    for (const std::string_view key : cluster::said_by_platform) leave_out(tree, fmt::format("cluster.{}", key));
  for (nlohmann::ordered_json& job : tree.at("job")) job.erase(job.at("hosts").empty() ? "hosts" : "placement");
  for (const char* list : {"job", "expect"})
    if (tree.at(list).empty()) leave_out(tree, list);
  if (cluster.at("quantum") == 1) leave_out(tree, "cluster.quantum");  // a grid may vary `sharing`
  if (tree.at("training").contains("batch_size_per_worker")) leave_out(tree, "training.batch_size");
}

/// The resolved scenario with the grid: read back, it gives an equal plan.
nlohmann::ordered_json resolved(const Settings& first, const std::vector<Axis>& axes, const std::string& directory) {
  nlohmann::ordered_json tree = scenario::echo(first, directory);
  for (std::size_t j = 0; j < first.jobs.size(); ++j) tree["job"][j].update(echo_of_own(first, j, directory));
  leave_out_what_is_void(tree);
  for (const Dimension& dimension : dimensions(axes)) {
    nlohmann::ordered_json lists;
    for (const Axis* axis : dimension.axes)
      for (const scenario::Value& value : axis->values) lists[axis->key].push_back(scenario::json_of(value));
    if (dimension.axes.front()->zip == 0)
      tree["grid"].update(lists);
    else
      tree["grid"]["zip"].push_back(std::move(lists));
  }
  return tree;
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
    if (selection_.baselines) {
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
  for (std::size_t p = 0; p < points.size(); ++p)
    if (settings[p]->jobs.empty())
      all.add_point(points[p], settings[p], choices[p]);
    else
      all.add_jobs(points[p], settings[p]);
}

/// Refuses what is too large before it is expanded. What --strategy selects is not known yet: one of them at least.
void refuse_too_large(const Document& document, const Plan& plan, const Selection& selection) {
  const std::size_t jobs = document.size("job");
  const std::size_t strategies = jobs > 0 ? jobs : document.size("strategy");
  refuse_too_many(document.file(), plan.grid, selection.strategies.empty() ? strategies : 1,
                  std::max<std::size_t>(plan.seeds.size(), 1));
}

/// Checks that the strategies, keys and values that expectations name exist in the grid.
void check_expectations(const AllSettings& settings, const std::vector<Axis>& written, const Plan& plan,
                        const Document& document, Faults& faults) {
  std::vector<const Settings*> points;
  for (const auto& each : settings) points.push_back(each.get());
  check_expectations(points, written, plan.grid, document, faults);
}

/// The axes of the file, before the command line changes them.
std::vector<Axis> written_axes(Document document) {
  Faults told_elsewhere;
  return document.take_grid(told_elsewhere);
}

/// Checks the values of the file that the command line or the grid replaces.
void check_replaced(const Document& file, const std::vector<std::string>& sets, const std::vector<Axis>& axes,
                    Faults& faults) {
  std::vector<std::string> keys;
  for (const std::string& set : sets) keys.emplace_back(assigned_key(set));
  for (const Axis& axis : axes) keys.push_back(axis.key);
  Settings unused;
  file.check_values(unused, keys, faults);
}

}  // namespace

Plan make_plan(const std::string& file, const Selection& selection) {
  Plan plan;
  if (!selection.seeds.empty()) plan.seeds = parse_seeds(selection.seeds);
  Document document = Document::read(file);
  const Document unchanged = document;
  Faults faults;
  check_replaced(unchanged, selection.sets, {}, faults);
  try {
    for (const std::string& set : selection.sets) document.set(set);
  } catch (const ScenarioError&) {
    faults.raise_if_any();  // the file's fault, where a value replaces a part of it that cannot be
    throw;
  }
  const std::vector<Axis> written = written_axes(document);
  plan.grid = all_axes(document, selection.sets, selection.grids, faults);
  check_replaced(unchanged, {}, plan.grid, faults);
  std::vector<Point> points;
  try {
    refuse_too_large(document, plan, selection);
    points = expand(document, plan.grid);
  } catch (const ScenarioError&) {
    faults.raise_if_any();
    throw;
  }
  const AllSettings settings = read_points(points, selection.strategies, faults);
  check_expectations(settings, written, plan, document, faults);
  faults.raise_if_any();

  plan.name = std::filesystem::path(file).stem().string();
  plan.expectations = settings.front()->expectations;
  plan.title = settings.front()->title;
  plan.document = std::make_shared<const Document>(document);
  plan.scenario = resolved(*settings.front(), plan.grid, std::filesystem::path(file).parent_path().string());
  add_runs(plan, points, settings, selection);
  return plan;
}

}  // namespace simgrad::experiment
