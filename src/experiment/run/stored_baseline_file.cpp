#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "base/errors.h"
#include "base/files.h"
#include "base/text.h"
#include "experiment/run/stored_baseline.h"
#include "outputs/results.h"
#include "scenario/reader.h"

namespace simgrad::experiment {

using scenario::Faults;
using scenario::Position;

namespace {

/// The last table of the file.
struct End : base::Described {
  std::int64_t runs = -1;

  void describe(base::Describer& d) override { d.integer("runs", runs, "the number of runs in the file"); }
};

struct StoredFile : base::Described {
  std::int64_t format = 0;
  Tolerances tolerances;
  std::vector<StoredScenario> scenarios;
  std::vector<StoredRun> runs;
  End end;

  void describe(base::Describer& d) override {
    d.integer("format", format, "the number of the file's format");
    d.section("tolerance", tolerances, "the largest relative change of each metric that passes");
    d.list("scenario", scenarios, "the scenarios");
    d.list("run", runs, "their runs");
    d.section("end", end, "the end of the file");
  }
};

/// Refuses files of which nothing else may be said: no baseline at all, and one of another format.
void require_format(const scenario::Table& table, const std::string& file) {
  const scenario::Entry* entry = table.find("format");
  if (!entry)
    throw base::ScenarioError(
        fmt::format("{}: found no \"format\", which a stored baseline has in its first lines; \"simgrad "
                    "check SCENARIO --update FILE\" writes one",
                    Position{file, 1, 1}.text()));
  const auto* number = entry->node.as<std::int64_t>();
  if (!number || *number != stored_format)
    throw base::ScenarioError(
        fmt::format("{}: the stored baseline has the format {}, and this release reads the format {}",
                    entry->node.position.text(), scenario::shown(entry->node), stored_format));
}

/// The place of each table of a list.
std::vector<Position> table_places(const scenario::Table& table, std::string_view list) {
  std::vector<Position> places;
  if (const scenario::Entry* entry = table.find(list))
    if (const auto* items = entry->node.as<scenario::Array>())
      for (const scenario::Node& item : *items) places.push_back(item.position);
  return places;
}

/// Finds faults of the file as a whole, although every value by itself is right.
class WholeFile {
 public:
  WholeFile(const StoredFile& stored, const scenario::Table& table, const std::string& file, Faults& faults)
      : stored_(stored), table_(table), beginning_{file, 1, 1}, faults_(faults) {}

  void check() {
    std::set<std::string> names;
    const std::vector<Position> scenarios = table_places(table_, "scenario"), runs = table_places(table_, "run");
    for (std::size_t i = 0; i < stored_.scenarios.size(); ++i) {
      const StoredScenario& each = stored_.scenarios[i];
      if (each.name.empty() || each.results_number < 1)
        faults_.add(scenarios[i], "a [[scenario]] needs a name, a version and a results_number");
      else if (!names.insert(each.name).second)
        faults_.add(scenarios[i], fmt::format("the scenario \"{}\" is there twice", each.name));
    }
    for (std::size_t i = 0; i < stored_.runs.size(); ++i) check_run(stored_.runs[i], runs[i], names);
    check_end();
  }

 private:
  void check_run(const StoredRun& run, const Position& place, const std::set<std::string>& names) {
    if (run.scenario.empty() || run.label.empty() || run.id.empty())
      return faults_.add(place, "a [[run]] needs a scenario, a label, a seed, an id and a status");
    if (!names.contains(run.scenario))
      faults_.add(place, fmt::format("no [[scenario]] is called \"{}\"", run.scenario));
    if (run.status != "reached" && run.status != "stopped" && run.status != "diverged")
      faults_.add(place, fmt::format("found the status \"{}\"; expected reached, stopped or diverged", run.status));
    if (!runs_.insert(run.scenario + '\n' + run.name()).second)
      faults_.add(place, fmt::format("the run {} of \"{}\" is there twice", run.name(), run.scenario));
  }

  void check_end() {
    const scenario::Entry* end = table_.find("end");
    if (!end)
      faults_.add(beginning_, "the file has been cut short: its last table, [end], is missing");
    else if (stored_.end.runs != static_cast<std::int64_t>(stored_.runs.size()))
      faults_.add(end->position, fmt::format("[end] counts {} runs, found {}: the file has been cut short or damaged",
                                             stored_.end.runs, stored_.runs.size()));
  }

  const StoredFile& stored_;
  const scenario::Table& table_;
  Position beginning_;
  Faults& faults_;
  std::set<std::string> runs_;
};

std::string key_line(std::string_view key, const std::string& value) { return fmt::format("{} = {}\n", key, value); }

std::string metric_text(const StoredMetric& metric, double value) {
  constexpr double exact = 9007199254740992.0;  // 2^53: integers up to here are doubles
  return metric.count && value == std::floor(value) && std::abs(value) < exact
             ? fmt::to_string(static_cast<std::int64_t>(value))
             : scenario::float_text(value);
}

std::string scenario_text(const StoredScenario& scenario) {
  std::string all = "\n[[scenario]]\n" + key_line("name", scenario::toml_string(scenario.name)) +
                    key_line("version", scenario::toml_string(scenario.version)) +
                    key_line("results_number", fmt::to_string(scenario.results_number));
  if (!scenario.keys.empty()) all += "\n[scenario.keys]\n";
  for (const auto& [key, value] : scenario.keys) all += key_line(scenario::toml_string(key), value);
  return all;
}

std::string run_text(const StoredRun& run) {
  std::string all = "\n[[run]]\n";
  all += key_line("scenario", scenario::toml_string(run.scenario));
  all += key_line("label", scenario::toml_string(run.label));
  if (!run.point.empty()) all += key_line("point", scenario::toml_string(run.point));
  all += key_line("seed", fmt::to_string(run.seed));
  all += key_line("id", scenario::toml_string(run.id));
  all += key_line("status", scenario::toml_string(run.status));
  for (std::size_t k = 0; k < run.metrics.size(); ++k)
    if (run.metrics[k]) all += key_line(stored_metrics()[k].name, metric_text(stored_metrics()[k], *run.metrics[k]));
  return all;
}

}  // namespace

StoredBaseline read_stored_baseline(const std::string& file) {
  const scenario::Table table = scenario::parse_toml(base::read_file(file), file);
  require_format(table, file);
  StoredFile stored;
  // Lines that were taken out of the table stay out.
  if (table.find("tolerance")) std::ranges::fill(stored.tolerances.values, std::nullopt);
  Faults faults;
  scenario::Reading reading{.faults = faults, .all_keys = [] { return std::vector<std::string>(); }};
  scenario::Reader reader(table, {file, 1, 1}, "", reading);
  stored.describe(reader);
  reader.refuse_unknown_keys();
  const Faults of_values = faults;
  if (of_values.empty()) WholeFile(stored, table, file, faults).check();
  faults.raise_if_any();
  const std::vector<Position> places = table_places(table, "run");
  for (std::size_t i = 0; i < stored.runs.size(); ++i) stored.runs[i].position = places[i];
  return {.file = file,
          .tolerances = std::move(stored.tolerances),
          .scenarios = std::move(stored.scenarios),
          .runs = std::move(stored.runs)};
}

std::string text(const StoredBaseline& baseline) {
  std::string all =
      "# A stored baseline: \"simgrad check SCENARIO --baseline FILE\" compares runs with it, and \"--update FILE\" "
      "writes "
      "it.\n"
      "# The tolerances are yours to edit, and are kept. Everything else is results.\n";
  all += key_line("format", fmt::to_string(stored_format));
  all +=
      "\n# The largest relative change of each metric that passes. Changes of compute_s, communicate_s, wait_s, "
      "down_s,\n"
      "# lost_s, recovery_s and checkpoint_s are relative to simulated_s. A metric without a line is not compared.\n"
      "[tolerance]\n";
  for (std::size_t k = 0; k < stored_metrics().size(); ++k)
    if (const auto tolerance = baseline.tolerances.values[k])
      all += key_line(stored_metrics()[k].name, scenario::float_text(*tolerance));
  for (const StoredScenario& each : baseline.scenarios) all += scenario_text(each);
  for (const StoredRun& run : baseline.runs) all += run_text(run);
  return all + "\n[end]\n" + key_line("runs", fmt::to_string(baseline.runs.size()));
}

}  // namespace simgrad::experiment
