#include "experiment/plan.h"

#include <fmt/format.h>
#include <algorithm>
#include <charconv>
#include <filesystem>
#include <map>
#include <set>

#include "base/errors.h"
#include "base/hash.h"
#include "base/text.h"
#include "cluster/cluster.h"
#include "experiment/identity.h"
#include "outputs/results.h"

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
    throw ScenarioError(fmt::format("--seeds {}: \"{}\" is no seed; expected a..b, or seeds separated by commas", all, text));
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
      throw ScenarioError(fmt::format("--seeds {}: {}..{} is empty or too long; expected a..b with a <= b", text, first, last));
    for (std::uint64_t seed = first; seed <= last; ++seed) seeds.push_back(seed);
    from = comma + 1;
  }
  std::set<std::uint64_t> unique(seeds.begin(), seeds.end());
  if (unique.size() != seeds.size()) throw ScenarioError(fmt::format("--seeds {}: a seed is named twice", text));
  return seeds;
}

void refuse_repeated_values(const Axis& axis, Faults& faults) {
  std::set<std::string> seen;
  for (const scenario::Value& value : axis.values)
    if (!seen.insert(scenario::json_of(value).dump()).second)
      faults.add(value.position, fmt::format("\"{}\" takes the value {} twice", axis.key, value.toml));
}

/// The key of `--set key=value`.
std::string_view key_of(std::string_view assignment) {
  std::string_view key = assignment.substr(0, assignment.find('='));
  while (key.ends_with(' ')) key.remove_suffix(1);
  while (key.starts_with(' ')) key.remove_prefix(1);
  return key;
}

/// What the command line sets or varies, it does so instead of the file's [grid].
std::vector<Axis> all_axes(Document& document, const Selection& selection, Faults& faults) {
  std::vector<Axis> axes = document.take_grid(faults);
  for (const std::string& set : selection.sets)
    std::erase_if(axes, [&](const Axis& axis) { return axis.key == key_of(set); });
  for (const std::string& text : selection.grids) {
    Axis axis = Document::axis(text);
    const auto same = std::find_if(axes.begin(), axes.end(), [&](const Axis& other) { return other.key == axis.key; });
    if (same != axes.end())
      *same = std::move(axis);
    else
      axes.push_back(std::move(axis));
  }
  for (const Axis& axis : axes) refuse_repeated_values(axis, faults);
  return axes;
}

/// One grid point: its document and what it says.
struct Point {
  Document document;
  nlohmann::ordered_json parameters = nlohmann::ordered_json::object();
};

std::vector<Point> expand(const Document& document, const std::vector<Axis>& axes) {
  constexpr std::size_t most = 100'000;
  std::vector<Point> points{{document}};
  for (const Axis& axis : axes) {
    std::vector<Point> next;
    if (points.size() * axis.values.size() > most)
      throw ScenarioError(fmt::format("the grid has more than {} points; expected fewer", most));
    for (const Point& point : points)
      for (const scenario::Value& value : axis.values) {
        Point& made = next.emplace_back(point);
        made.document.set(axis.key, value);
        made.parameters[axis.key] = scenario::json_of(value);
      }
    points = std::move(next);
  }
  return points;
}

/// What the files named by the grid points are found to be, each looked at once.
struct Files {
  std::map<std::string, cluster::PlatformProbe> platforms;
  std::map<std::string, std::string> contents;

  const cluster::PlatformProbe& platform(const std::string& file) {
    const auto [at, fresh] = platforms.try_emplace(file);
    if (fresh) at->second = cluster::probe_platform(file);
    return at->second;
  }
  const std::string& hash(const std::string& file) {
    const auto [at, fresh] = contents.try_emplace(file);
    if (fresh) at->second = base::hash(outputs::read_file(file));
    return at->second;
  }
};

void look_at_platform(Settings& settings, const Document& document, Files& files, Faults& faults) {
  settings.nominal_flops_per_s = settings.cluster.machine.speed_flops_per_s;
  const std::string& file = settings.cluster.platform;
  if (file.empty()) return;
  const cluster::PlatformProbe& probe = files.platform(file);
  int servers = 0;
  for (const StrategyEntry& entry : settings.strategies) servers = std::max(servers, entry.strategy->servers());
  if (!probe.error.empty())
    faults.add(document.position("cluster.platform"), probe.error);
  else if (probe.hosts < settings.cluster.workers + servers)
    faults.add(document.position("cluster.workers"),
               fmt::format("{} workers and {} server{} are more ranks than the {} hosts of {}", settings.cluster.workers,
                           servers, servers == 1 ? "" : "s", probe.hosts, file));
  settings.nominal_flops_per_s = probe.speed_flops_per_s;
  settings.platform_contents = files.hash(file);
}

/// A file that cannot be opened is found before anything runs; what stands in it, when it is loaded.
void look_at_data(Settings& settings, Files& files) {
  const std::string file = settings.data.source->file();
  if (!file.empty() && settings.training.numbers) settings.data_contents = files.hash(file);
}

using AllSettings = std::vector<std::shared_ptr<const Settings>>;

/// Faults that only some points have are found in the same pass as those of all.
AllSettings read_points(const std::vector<Point>& points, Faults& faults) {
  AllSettings all;
  Files files;
  for (const Point& point : points) {
    Faults found;
    auto settings = std::make_shared<Settings>(read_settings(point.document, found));
    if (found.empty()) look_at_platform(*settings, point.document, files, found);
    if (found.empty()) look_at_data(*settings, files);
    faults.add(found);
    all.push_back(std::move(settings));
  }
  return all;
}

/// Which of a point's strategies bear the name: by label, else by kind.
std::vector<bool> named(const Settings& settings, const std::string& name) {
  std::vector<bool> by_label, by_kind;
  for (const StrategyEntry& entry : settings.strategies) {
    by_label.push_back(entry.name() == name);
    by_kind.push_back(entry.strategy.kind() == name);
  }
  return std::ranges::find(by_label, true) != by_label.end() ? by_label : by_kind;
}

[[noreturn]] void refuse_strategy(const std::string& name, const AllSettings& points) {
  std::vector<std::string> known;
  const auto add = [&](std::string text) {
    if (std::ranges::find(known, text) == known.end()) known.push_back(std::move(text));
  };
  for (const auto& settings : points)
    for (const StrategyEntry& entry : settings->strategies) add(entry.name());
  for (const StrategyEntry& entry : points.front()->strategies) add(std::string(entry.strategy.kind()));
  throw ScenarioError(fmt::format("--strategy {}: no strategy of the scenario is called that{}", name,
                                  base::suggestion(name, known)));
}

/// Which strategies of each point the command line asks for. A label may be one point's only: it tells the options.
std::vector<std::vector<bool>> chosen(const AllSettings& points, const std::vector<std::string>& wanted) {
  std::vector<std::vector<bool>> choices;
  for (const auto& settings : points) choices.emplace_back(settings->strategies.size(), wanted.empty());
  for (const std::string& name : wanted) {
    bool found = false;
    for (std::size_t p = 0; p < points.size(); ++p) {
      const std::vector<bool> match = named(*points[p], name);
      for (std::size_t s = 0; s < match.size(); ++s)
        if (match[s]) choices[p][s] = found = true;
    }
    if (!found) refuse_strategy(name, points);
  }
  return choices;
}

/// An option whose place another one has taken would contradict that when the echo is read back.
void leave_out_what_is_void(nlohmann::ordered_json& tree) {
  nlohmann::ordered_json& cluster = tree["cluster"];
  if (cluster["platform"] == "")
    cluster.erase("platform");
  else
    for (const char* key : {"topology", "speed", "bandwidth", "latency"}) cluster.erase(key);
  if (tree["training"].contains("batch_size_per_worker")) tree["training"].erase("batch_size");
}

/// What was resolved, with the grid laid over it: a scenario that gives the same plan again.
nlohmann::ordered_json resolved(const Settings& first, const std::vector<Axis>& axes, const std::string& directory) {
  // Describing to an echo assigns nothing.
  nlohmann::ordered_json tree = scenario::echo(const_cast<Settings&>(first), directory);
  leave_out_what_is_void(tree);
  for (const Axis& axis : axes) {
    nlohmann::ordered_json& values = tree["grid"][axis.key] = nlohmann::ordered_json::array();
    for (const scenario::Value& value : axis.values) values.push_back(scenario::json_of(value));
  }
  return tree;
}

/// The runs of the plan, and the baselines that they need, each once.
void add_runs(Plan& plan, const std::vector<Point>& points, const AllSettings& settings, const Selection& selection) {
  std::set<std::string> baselines;
  const auto add = [&](std::size_t point, std::size_t strategy, std::uint64_t seed) {
    RunPlan run = plan_run(settings[point], strategy, points[point].parameters, seed);
    if (selection.baselines) {
      RunPlan baseline = plan_baseline(run);
      run.baseline = baseline.work;
      if (baselines.insert(baseline.work).second) plan.baselines.push_back(std::move(baseline));
    }
    plan.runs.push_back(std::move(run));
  };
  const auto choices = chosen(settings, selection.strategies);
  for (std::size_t p = 0; p < points.size(); ++p)
    for (std::size_t s = 0; s < choices[p].size(); ++s) {
      if (!choices[p][s]) continue;
      // Without --seeds it is the scenario's, which a grid may vary.
      if (selection.seeds.empty()) add(p, s, static_cast<std::uint64_t>(settings[p]->seed));
      for (const std::uint64_t seed : plan.seeds) add(p, s, seed);
    }
}

}  // namespace

Plan make_plan(const std::string& file, const Selection& selection) {
  Plan plan;
  if (!selection.seeds.empty()) plan.seeds = parse_seeds(selection.seeds);
  Document document = Document::read(file);
  for (const std::string& set : selection.sets) document.set(set);
  Faults faults;
  plan.grid = all_axes(document, selection, faults);
  const std::vector<Point> points = expand(document, plan.grid);
  const AllSettings settings = read_points(points, faults);
  faults.raise_if_any();

  plan.name = std::filesystem::path(file).stem().string();
  plan.title = settings.front()->title;
  plan.scenario = resolved(*settings.front(), plan.grid, std::filesystem::path(file).parent_path().string());
  add_runs(plan, points, settings, selection);
  return plan;
}

}  // namespace simgrad::experiment
