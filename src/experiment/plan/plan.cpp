#include "experiment/plan/plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "base/errors.h"
#include "experiment/plan/job_training.h"
#include "experiment/plan/kept_timelines.h"
#include "experiment/plan/places.h"
#include "experiment/plan/planned_runs.h"
#include "experiment/plan/points.h"
#include "experiment/plan/seeds.h"
#include "experiment/plan/size.h"

namespace simgrad::experiment {

using base::ScenarioError;
using scenario::Axis;
using scenario::Document;
using scenario::Faults;

namespace {

/// Leaves out options that another option replaces: read back together, the two would contradict each other.
void leave_out_what_is_void(nlohmann::ordered_json& tree) {
  const nlohmann::ordered_json& cluster = tree.at("cluster");
  if (cluster.at("platform") == "")
    leave_out(tree, "cluster.platform");
  else
    for (const std::string_view key : cluster::said_by_platform) leave_out(tree, fmt::format("cluster.{}", key));
  if (cluster.contains("device") && cluster.at("device") != "none") leave_out(tree, "cluster.speed");
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
  const KeptTimelines timelines = parse_timelines(selection.timelines);
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
  plan.all_ranks = selection.all_ranks;
  plan.document = std::make_shared<const Document>(document);
  plan.scenario = resolved(*settings.front(), plan.grid, std::filesystem::path(file).parent_path().string());
  add_runs(plan, points, settings, selection);
  mark_kept_timelines(plan.runs, timelines);
  return plan;
}

}  // namespace simgrad::experiment
