#include "experiment/plan/points.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <string_view>

#include "base/errors.h"
#include "base/hash.h"
#include "cluster/computed/measured.h"
#include "cluster/fabric/cluster.h"
#include "cluster/usage/planned_hosts.h"
#include "experiment/checks/recoveries.h"
#include "experiment/plan/equal_points.h"
#include "experiment/plan/places.h"
#include "experiment/plan/read_settings.h"
#include "experiment/plan/serving_section.h"
#include "experiment/plan/size.h"
#include "experiment/plan/value_faults.h"
#include "outputs/results.h"

namespace simgrad::experiment {

using scenario::Axis;
using scenario::Document;
using scenario::Faults;

namespace {

/// Refuses keys of an option --grid that an earlier one varies.  options: those that vary each key.
void refuse_repeated_keys(const std::vector<Axis>& given, std::map<std::string, scenario::Position>& options,
                          Faults& faults) {
  for (const Axis& axis : given) {
    const auto [first, fresh] = options.emplace(axis.key, axis.position);
    if (!fresh)
      faults.add(axis.position, fmt::format("\"{}\" is varied twice, first by {}; give all its values in one option",
                                            axis.key, first->second.text()));
  }
}

/// Refuses keys of an option --grid that replace what an option --set has set: the key itself, or one below it.
void refuse_ineffective_sets(const std::vector<Axis>& given, const std::vector<std::string>& sets, Faults& faults) {
  for (const Axis& axis : given)
    for (const std::string& set : sets)
      if (const std::string key(assigned_key(set)); key == axis.key || key.starts_with(axis.key + "."))
        faults.add(axis.position, fmt::format("\"{}\" is varied here, so that --set {} has no effect; give {} in the "
                                              "values of --grid, or leave it out",
                                              axis.key, set, key));
}

/// Puts the axes of one option --grid in the place of those with equal keys. A key that was in a zip leaves it.
void replace(std::vector<Axis>& axes, std::vector<Axis> given) {
  for (Axis& axis : given) {
    const auto same = std::ranges::find(axes, axis.key, &Axis::key);
    if (same != axes.end() && same->zip == 0 && axis.zip == 0) {
      *same = std::move(axis);
      continue;
    }
    if (same != axes.end()) axes.erase(same);
    axes.push_back(std::move(axis));
  }
}

}  // namespace

std::string_view assigned_key(std::string_view assignment) {
  std::string_view key = assignment.substr(0, assignment.find('='));
  while (key.ends_with(' ')) key.remove_suffix(1);
  while (key.starts_with(' ')) key.remove_prefix(1);
  return key;
}

std::vector<Axis> all_axes(Document& document, const std::vector<std::string>& sets,
                           const std::vector<std::string>& grids, Faults& faults) {
  std::vector<Axis> axes = document.take_grid(faults);
  for (const std::string& set : sets)
    std::erase_if(axes, [&](const Axis& axis) { return axis.key == assigned_key(set); });
  int zips = axes.empty() ? 0 : std::ranges::max(axes, {}, &Axis::zip).zip;
  std::map<std::string, scenario::Position> options;  // that vary each key
  for (const std::string& text : grids) {
    std::vector<Axis> given = Document::axes(text);
    refuse_repeated_keys(given, options, faults);
    refuse_ineffective_sets(given, sets, faults);
    if (given.front().zip != 0) ++zips;
    for (Axis& axis : given) axis.zip = axis.zip == 0 ? 0 : zips;
    replace(axes, std::move(given));
  }
  std::ranges::stable_sort(axes, {}, &Axis::zip);  // as in the file, where zips come last
  for (const Dimension& dimension : dimensions(axes)) refuse_repeated_values(dimension, faults);
  return axes;
}

std::vector<Point> expand(const Document& document, const std::vector<Axis>& axes) {
  std::vector<Point> points{{document}};
  for (const Dimension& dimension : dimensions(axes)) {
    std::vector<Point> next;
    next.reserve(points.size() * dimension.size());
    for (const Point& point : points)
      for (std::size_t k = 0; k < dimension.size(); ++k) {
        Point& made = next.emplace_back(point);
        for (const Axis* axis : dimension.axes) {
          made.document.set(axis->key, axis->values[k]);
          made.parameters[axis->key] = scenario::json_of(axis->values[k]);
        }
      }
    points = std::move(next);
  }
  return points;
}

namespace {

std::string hash_of(const std::string& file) { return base::hash(outputs::read_file(file)); }

/// The contents of the files that the grid points name, each read once.
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
    if (fresh) at->second = hash_of(file);
    return at->second;
  }
};

void look_at_platform(Settings& settings, const Document& document, Files& files, Faults& faults) {
  settings.nominal_flops_per_s = settings.cluster.speed(0);
  const std::string& file = settings.cluster.platform;
  if (file.empty()) return;
  const cluster::PlatformProbe& probe = files.platform(file);
  const std::int64_t servers = settings.hosts_needed() - settings.cluster.workers;
  if (!probe.error.empty())
    faults.add(place(document, "cluster.platform"), probe.error);
  else if (probe.hosts < settings.cluster.workers + servers)
    faults.add(place(document, "cluster.workers"),
               fmt::format("{} workers and {} server{} are more ranks than the {} hosts of {}",
                           settings.cluster.workers, servers, servers == 1 ? "" : "s", probe.hosts, file));
  settings.nominal_flops_per_s = probe.speed_flops_per_s;
  settings.platform_contents = files.hash(file);
}

/// Checks a trace of failures of the fleet.
void look_at_fleet(const CapacitySection& capacity, Faults& faults) {
  if (!capacity.any()) return;
  try {
    capacity.failures->check_files(capacity.most_servers());
  } catch (const base::ScenarioError& error) {
    for (const std::string& text : error.faults()) faults.add(scenario::Position(), text);
  }
}

/// Checks files of speeds and of failures before anything runs.
void look_at_traces(Settings& settings, Files& files, Faults& faults) {
  if (!settings.serving.trace.empty()) settings.requests_contents = files.hash(settings.serving.trace);
  if (!settings.serving.model.empty()) settings.served_contents = files.hash(settings.serving.model);
  for (const std::string& file : settings.cluster.failures.hosts->files()) {
    settings.failure_contents += files.hash(file);
    try {
      const std::int64_t hosts = cluster::host_of_device(settings.cluster, settings.hosts_needed() - 1) + 1;
      settings.cluster.failures.hosts->check_files(hosts + settings.cluster.failures.spares);
    } catch (const base::ScenarioError& error) {
      for (const std::string& text : error.faults()) faults.add(scenario::Position(), text);
    }
  }
  if (const std::string& file = settings.cluster.measured; !file.empty()) {
    settings.measured_contents = files.hash(file);
    try {
      cluster::read_measured(file, settings.cluster.measured_ranks);
    } catch (const base::ScenarioError& error) {
      for (const std::string& text : error.faults()) faults.add(scenario::Position(), text);
    }
  }
  for (const std::string& file : settings.cluster.stragglers->files()) {
    settings.trace_contents += files.hash(file);
    try {
      settings.cluster.stragglers->speed_changes(0, base::Stream({}));
    } catch (const base::ScenarioError& error) {
      for (const std::string& text : error.faults()) faults.add(scenario::Position(), text);
    }
  }
}

/// Opens the data's files before anything runs; their contents are checked when they are loaded.
void look_at_data(Settings& settings, Files& files) {
  if (!settings.training.numbers) return;
  for (const std::string& file : settings.data.source->files()) {
    if (!settings.data_contents.empty()) settings.data_contents += '+';
    settings.data_contents += files.hash(file);
  }
}

}  // namespace

std::string contents_of(const std::vector<std::string>& files) {
  std::string all;
  for (const std::string& file : files) all += (all.empty() ? "" : "+") + hash_of(file);
  return all;
}

std::vector<PointRead> read_each(const std::vector<Point>& points, const std::vector<std::string>& names, bool advises,
                                 const std::function<bool(const Settings& first)>& goes_on, std::size_t faults_most) {
  std::vector<PointRead> all;
  std::size_t faults = 0;
  Files files;
  SectionReader reader;
  for (const Point& point : points) {
    if (faults >= faults_most || (!all.empty() && goes_on && !goes_on(*all.front().settings))) break;
    Faults found;
    auto settings = std::make_shared<Settings>(read_settings(point.document, found, names, &reader, advises));
    if (found.empty()) look_at_platform(*settings, point.document, files, found);
    if (found.empty()) look_at_traces(*settings, files, found);
    if (found.empty()) check_serving_room(*settings, point.document, found);
    if (found.empty()) look_at_fleet(settings->capacity, found);
    if (found.empty()) check_traced_recoveries(*settings, names, found);
    if (found.empty() && settings->jobs.empty()) look_at_data(*settings, files);
    if (found.empty())
      for (Settings& own : settings->trainings) {
        own.nominal_flops_per_s = settings->nominal_flops_per_s;
        own.platform_contents = settings->platform_contents;
        own.trace_contents = settings->trace_contents;
        own.measured_contents = settings->measured_contents;
        look_at_data(own, files);
      }
    faults += found.all().size();
    all.push_back({.settings = std::move(settings), .faults = std::move(found)});
  }
  return all;
}

std::vector<std::string> files_of(const AllSettings& points) {
  std::set<std::string> contents;
  std::set<std::vector<std::string>> of_models;
  for (const auto& point : points) {
    contents.insert({point->data_contents, point->failure_contents, point->platform_contents, point->measured_contents,
                     point->trace_contents, point->requests_contents, point->served_contents});
    of_models.insert(point->model.model->files());
  }
  for (const std::vector<std::string>& files : of_models) contents.insert(contents_of(files));
  contents.erase("");
  return {contents.begin(), contents.end()};
}

AllSettings read_points(const std::vector<Point>& points, const std::vector<std::string>& names, Faults& faults) {
  AllSettings all;
  ValueFaults of_points;
  constexpr std::size_t faults_most = 200;
  std::vector<PointRead> reads = read_each(points, names, true, {}, faults_most);
  for (std::size_t k = 0; k < reads.size(); ++k) {
    of_points.add(points[k], reads[k].faults);
    all.push_back(std::move(reads[k].settings));
  }
  of_points.tell(faults, reads.size() < points.size());
  return all;
}

}  // namespace simgrad::experiment
