/// The stored baseline: a file with the metrics of every run of some scenarios, which later runs are compared with.
///
/// The file is TOML that people read, edit and see in diffs: tolerances by metric, then a [[scenario]] each, then a
/// [[run]] each, sorted by scenario, label, grid point and seed, with a metric a line. Numbers are written so that they
/// read back to the same bits. `end.runs` counts the runs, so that a file which was cut short is noticed.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/describe.h"
#include "outputs/results.h"
#include "scenario/document.h"

namespace simgrad::experiment {

/// The number of the file's format; another one is refused.
inline constexpr std::int64_t stored_format = 1;

/// A number of a run that is stored.
struct StoredMetric {
  std::string_view name;
  double tolerance;            ///< the default: the largest relative change that passes
  bool count = false;          ///< an integer
  bool share_of_time = false;  ///< its change is relative to simulated_s: a small part of the time may vary by itself
};
/// All of them, in the order of results.json. The real time of a run is none.
std::span<const StoredMetric> stored_metrics();

/// The tolerance of each metric; a metric without one is not compared.
struct Tolerances : base::Described {
  std::vector<std::optional<double>> values;  ///< in the order of stored_metrics()

  Tolerances();  ///< the defaults
  void describe(base::Describer& d) override;
};

struct StoredScenario : base::Described {
  std::string name;  ///< the stem of the scenario's file
  std::string version;
  std::int64_t results_number = 0;
  /// The keys that decide on the runs, with their values as TOML writes them, so that an error can name a changed one.
  /// Files of older releases lack them.
  std::vector<std::pair<std::string, std::string>> keys;

  void describe(base::Describer& d) override;
};

struct StoredRun : base::Described {
  std::string scenario;
  std::string label;
  std::string point;  ///< the grid point, "workers=2, latency=50us"; empty without a grid
  std::int64_t seed = 1;
  std::string id;
  std::string status;
  std::vector<std::optional<double>> metrics;  ///< in the order of stored_metrics(); nothing where the run has null
  scenario::Position position = {};            ///< in the file that it was read from

  StoredRun();
  void describe(base::Describer& d) override;
  std::string name() const;  ///< "allreduce, workers=2, seed 1"
  bool same_place(const StoredRun& other) const;
};

struct StoredBaseline {
  std::string file;
  Tolerances tolerances;
  std::vector<StoredScenario> scenarios;
  std::vector<StoredRun> runs;

  const StoredScenario* scenario(std::string_view name) const;
  /// The runs of a scenario, in the order of the file.
  std::vector<const StoredRun*> runs_of(std::string_view name) const;
  /// Replaces the scenario and its runs, or adds them, in the file's order.
  void put(const StoredScenario& scenario, const std::vector<StoredRun>& of_scenario);
};

/// The runs of the results as they are stored, sorted.
std::vector<StoredRun> stored_runs(const outputs::Results& results);

/// Errors: EnvironmentError for a file that cannot be read; ScenarioError, `file:line:column: ...`, with every fault of
/// a file that is damaged, cut short, or of another format.
StoredBaseline read_stored_baseline(const std::string& file);

/// The whole file.
std::string text(const StoredBaseline& baseline);

}  // namespace simgrad::experiment
