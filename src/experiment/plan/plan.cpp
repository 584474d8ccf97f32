#include "experiment/plan/plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <optional>
#include <set>

#include "base/errors.h"
#include "experiment/plan/echo_of_grid.h"
#include "experiment/plan/equal_points.h"
#include "experiment/plan/kept_timelines.h"
#include "experiment/plan/places.h"
#include "experiment/plan/planned_runs.h"
#include "experiment/plan/points.h"
#include "experiment/plan/read_settings.h"
#include "experiment/plan/search_space.h"
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
  if (cluster.at("network_model") != "ethernet")
    for (const char* key :
         {"cluster.frame", "cluster.window", "cluster.processor_time", "cluster.initial_window", "cluster.idle_time"})
      leave_out(tree, key);
  if (cluster.at("quantum") == 1) leave_out(tree, "cluster.quantum");  // a grid may vary `sharing`
  if (tree.at("training").contains("batch_size_per_worker")) leave_out(tree, "training.batch_size");
}

/// Leaves out the section [capacity] of a scenario without one, and its parts that are not there. That of a plan has no
/// fleet's work, but failures and spares.
void leave_out_capacity(nlohmann::ordered_json& tree, const Plan& plan, const CapacitySection& capacity) {
  if (!capacity.any() && !plan.document->contains("capacity")) return leave_out(tree, "capacity");
  if (!capacity.training.hosts) leave_out(tree, "capacity.training");
  if (capacity.jobs.empty()) leave_out(tree, "capacity.job");
  if (capacity.arrivals.empty()) leave_out(tree, "capacity.arrivals");
}

/// Leaves out the section [serving] of a scenario that trains, and the sections about training of one that serves.
void leave_out_serving(nlohmann::ordered_json& tree, const serving::Options& serving) {
  if (!serving.any()) return leave_out(tree, "serving");
  for (const char* key : {"strategy", "stop", "evaluate"}) leave_out(tree, key);
  const auto keep = [&](const char* table, const std::set<std::string>& keys) {
    nlohmann::ordered_json kept = nlohmann::ordered_json::object();
    for (const auto& [key, value] : tree.at(table).items())
      if (keys.contains(key)) kept[key] = value;
    tree[table] = std::move(kept);
  };
  keep("training", {"numbers", "precision"});
  keep("parallel", {"tensor", "pipeline", "data", "order"});
  if (serving.model.empty()) leave_out(tree, "serving.model");
  if (serving.trace.empty()) return leave_out(tree, "serving.trace");
  for (const char* key : {"arrivals", "prompt_tokens", "output_tokens", "lengths"})
    leave_out(tree, std::string("serving.") + key);
}

/// Adds the axes to a table of lists, those of zips as [[zip]].
void add_axes(nlohmann::ordered_json& table, const std::vector<Axis>& axes) {
  if (!table.is_object()) table = nlohmann::ordered_json::object();
  for (const Dimension& dimension : dimensions(axes)) {
    nlohmann::ordered_json lists;
    for (const Axis* axis : dimension.axes)
      for (const scenario::Value& value : axis->values) lists[axis->key].push_back(scenario::json_of(value));
    if (dimension.axes.front()->zip == 0)
      table.update(lists);
    else
      table["zip"].push_back(std::move(lists));
  }
}

/// Points of [plan.space], some for each of its values: where its dimension alone takes it, and where all dimensions
/// have their k-th values. The first one is the scenario without its space.
std::vector<Point> points_of_space(const Document& document, const std::vector<Axis>& space) {
  std::vector<Point> points{{document}};
  std::size_t values_most = 0;
  for (const Dimension& dimension : dimensions(space)) {
    values_most = std::max(values_most, dimension.size());
    for (std::size_t k = 0; k < dimension.size(); ++k) {
      Document& changed = points.emplace_back(document).document;
      for (const Axis* axis : dimension.axes) changed.set(axis->key, axis->values[k]);
    }
  }
  for (std::size_t k = 0; k < values_most; ++k) {
    Document& changed = points.emplace_back(document).document;
    for (const Axis& axis : space) changed.set(axis.key, axis.values[k % axis.values.size()]);
  }
  return points;
}

/// Leaves out what points of [plan.space] have otherwise, as leave_out_what_axes_change does for the whole grid.
void leave_out_what_space_changes(nlohmann::ordered_json& tree, const Document& document,
                                  const std::vector<Axis>& space, const std::string& directory) {
  std::vector<Point> points;
  AllSettings settings;
  SectionReader reader;
  for (Point& point : points_of_space(document, space)) {
    Faults faults;  // the plan leaves out points that cannot run
    try {
      settings.push_back(std::make_shared<const Settings>(read_settings(point.document, faults, {}, &reader, false)));
    } catch (const base::EnvironmentError&) {
      continue;  // a file is not there
    }
    if (faults.empty())
      points.push_back(std::move(point));
    else
      settings.pop_back();
  }
  if (points.size() > 1) leave_out_what_axes_change(tree, space, points, settings, directory);
}

/// The resolved scenario with the grid: read back, it gives an equal plan.
nlohmann::ordered_json resolved(const std::vector<Point>& points, const AllSettings& settings, const Plan& plan,
                                const std::string& directory) {
  const Settings& first = *settings.front();
  nlohmann::ordered_json tree = echo_with_jobs(first, directory);
  leave_out_what_is_void(tree);
  if (!plan.grid.empty()) leave_out_what_axes_change(tree, plan.grid, points, settings, directory);
  if (!plan.space.empty()) leave_out_what_space_changes(tree, points.front().document, plan.space, directory);
  leave_out_capacity(tree, plan, first.capacity);
  leave_out_serving(tree, first.serving);
  if (plan.document->contains("plan") || !plan.space.empty())
    add_axes(tree["plan"]["space"], plan.space);
  else
    leave_out(tree, "plan");
  if (!plan.grid.empty()) add_axes(tree["grid"], plan.grid);
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

/// The unknown keys of a document.
std::map<std::string, scenario::Position> unknown_keys(const Document& document) {
  Settings unused;
  Faults found;
  document.read_into(unused, found);
  std::map<std::string, scenario::Position> unknown;
  for (const Faults::Fault& fault : found.all())
    if (fault.message.starts_with("unknown key")) unknown.emplace(fault.message, fault.position);
  return unknown;
}

/// Adds the faults of keys in [plan.space] that are unknown whatever the other keys' values are: a component may know
/// an option that another one does not.
void check_keys_of_space(const Document& document, const std::vector<Axis>& space, Faults& faults) {
  std::size_t values_most = 0;
  for (const Axis& axis : space) values_most = std::max(values_most, axis.values.size());
  std::optional<std::map<std::string, scenario::Position>> common;
  for (std::size_t k = 0; k < values_most; ++k) {
    Document changed = document;
    for (const Axis& axis : space) changed.set(axis.key, axis.values[k % axis.values.size()]);
    const auto unknown = unknown_keys(changed);
    if (!common)
      common = unknown;
    else
      std::erase_if(*common, [&](const auto& key) { return !unknown.contains(key.first); });
  }
  if (!common) return;
  const auto own = unknown_keys(document);  // reported with the document
  for (const auto& [message, position] : *common)
    if (!own.contains(message)) faults.add(position, message);
}

/// A scenario's file under the command line's values, its axes taken out of it.
struct Opened {
  Document document;
  std::vector<Axis> written;  ///< of the file's [grid]
  std::vector<Axis> grid;     ///< as the command line changes it
  std::vector<Axis> space;    ///< [plan.space]
};

Opened opened(const std::string& file, const Selection& selection, Faults& faults) {
  Opened all{.document = Document::read(file), .written = {}, .grid = {}, .space = {}};
  const Document unchanged = all.document;
  check_replaced(unchanged, selection.sets, {}, faults);
  try {
    for (const std::string& set : selection.sets) all.document.set(set);
  } catch (const ScenarioError&) {
    faults.raise_if_any();  // the file's fault, where a value replaces a part of it that cannot be
    throw;
  }
  all.space = all.document.take_grid(faults, "plan.space");
  all.written = written_axes(all.document);
  all.grid = all_axes(all.document, selection.sets, selection.grids, faults);
  check_replaced(unchanged, {}, all.grid, faults);
  check_keys_of_space(all.document, all.space, faults);
  return all;
}

/// The axes of the grid and of the space, whose product is searched. A key that --set or --grid gives leaves the space.
std::vector<Axis> searched(const Opened& opened, const Selection& selection, Faults& faults) {
  std::vector<Axis> axes = opened.grid;
  const int zips = axes.empty() ? 0 : std::ranges::max(axes, {}, &Axis::zip).zip;
  for (const Axis& axis : opened.space) {
    const auto same = std::ranges::find(axes, axis.key, &Axis::key);
    const auto set = [&](const std::string& each) { return assigned_key(each) == axis.key; };
    if (std::ranges::any_of(selection.sets, set)) continue;
    if (same == axes.end()) {
      axes.push_back(axis);
      if (axis.zip > 0) axes.back().zip += zips;
    } else if (std::ranges::find(opened.written, axis.key, &Axis::key) != opened.written.end()) {
      faults.add(axis.position, fmt::format("\"{}\" is varied in [grid], too, at {}; give its values in one of them",
                                            axis.key, same->position.text()));
    }
  }
  std::ranges::stable_sort(axes, {}, &Axis::zip);
  return axes;
}

/// The experiment's name, which is also that of its results directory: the stem of the scenario's file.
std::string name_of_file(const std::string& file) {
  std::string name = std::filesystem::path(file).stem().string();
  if (name.empty() || name == "." || name == "..")
    throw base::ScenarioError(fmt::format(
        "{}: the name of the file gives the results directory no name, expected one such as mine.toml", file));
  return name;
}

}  // namespace

SearchSpace make_search_space(const std::string& file, const Selection& selection,
                              const std::function<bool(const Settings& first)>& goes_on) {
  Faults faults;
  const Opened all = opened(file, selection, faults);
  SearchSpace space{.name = name_of_file(file),
                    .directory = std::filesystem::path(file).parent_path().string(),
                    .title = {},
                    .document = all.document,
                    .axes = searched(all, selection, faults),
                    .points = {},
                    .reads = {},
                    .unread = 0};
  for (const Dimension& dimension : dimensions(space.axes)) refuse_repeated_values(dimension, faults);
  faults.raise_if_any();
  refuse_too_many(file, space.axes, selection.strategies.empty() ? all.document.size("strategy") : 1, 1);
  space.points = expand(all.document, space.axes);
  space.reads = read_each(space.points, {}, false, goes_on);
  space.unread = space.points.size() - space.reads.size();
  space.points.erase(space.points.begin() + static_cast<std::ptrdiff_t>(space.reads.size()), space.points.end());
  space.title = space.reads.front().settings->title;
  return space;
}

nlohmann::ordered_json resolved(const SearchSpace& space) {
  Plan plan;
  Document document = space.document;
  document.erase("plan");
  plan.document = std::make_shared<const Document>(std::move(document));
  plan.grid = space.axes;
  AllSettings settings;
  for (const PointRead& read : space.reads) settings.push_back(read.settings);
  return resolved(space.points, settings, plan, space.directory);
}

nlohmann::ordered_json resolved_alone(const Settings& settings, std::size_t strategy, const std::string& directory) {
  nlohmann::ordered_json tree = scenario::echo(settings, directory);
  leave_out_what_is_void(tree);
  const nlohmann::ordered_json entry = tree.at("strategy").at(strategy);
  tree["strategy"] = nlohmann::ordered_json::array({entry});
  for (const char* key : {"plan", "expect", "capacity", "serving"})
    if (tree.contains(key)) leave_out(tree, key);
  return tree;
}

Plan make_plan(const std::string& file, const Selection& selection) {
  Plan plan;
  if (!selection.seeds.empty()) plan.seeds = parse_seeds(selection.seeds);
  const KeptTimelines timelines = parse_timelines(selection.timelines);
  Faults faults;
  Opened all = opened(file, selection, faults);
  const Document& document = all.document;
  const std::vector<Axis>& written = all.written;
  plan.grid = std::move(all.grid);
  plan.space = std::move(all.space);
  std::vector<Point> points;
  try {
    refuse_too_large(document, plan, selection);
    points = expand(document, plan.grid);
  } catch (const ScenarioError&) {
    faults.raise_if_any();
    throw;
  }
  const AllSettings settings = read_points(points, selection.strategies, faults);
  if (settings.size() == points.size()) check_expectations(settings, written, plan, document, faults);
  faults.raise_if_any();

  plan.name = name_of_file(file);
  plan.expectations = settings.front()->expectations;
  plan.title = settings.front()->title;
  plan.files = files_of(settings);
  plan.all_ranks = selection.all_ranks;
  plan.document = std::make_shared<const Document>(document);
  plan.scenario = resolved(points, settings, plan, std::filesystem::path(file).parent_path().string());
  add_runs(plan, points, settings, selection);
  mark_kept_timelines(plan.runs, timelines);
  return plan;
}

}  // namespace simgrad::experiment
