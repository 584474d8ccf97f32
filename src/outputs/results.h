/// The results of an experiment and every file and table that shows them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "record/record.h"

namespace simgrad::outputs {

/// One run: what it was, what was recorded, and how it compares with its baseline.
struct Run {
  std::string id;
  std::string strategy;  ///< its kind
  std::string label;
  nlohmann::ordered_json options;     ///< the strategy's, resolved
  nlohmann::ordered_json parameters = nlohmann::ordered_json::object();  ///< the grid point: {"cluster.workers": 8}
  std::uint64_t seed = 1;
  std::int64_t workers = 1;
  record::Record record;
  std::optional<double> speedup_throughput;
  std::optional<double> speedup_time_to_target;
  std::optional<double> efficiency;
  double wall_s = 0.0;
};

struct Results {
  std::string name;     ///< the stem of the scenario's file
  std::string title;
  std::string version;
  bool complete = true;
  nlohmann::ordered_json scenario;  ///< resolved
  std::vector<Run> runs;
  std::vector<Run> baselines;
};

/// A run as JSON with everything in it (curve, ranks and links too), and back.
nlohmann::ordered_json to_json(const Run& run);
Run run_from_json(const nlohmann::ordered_json& json);

/// results.json; the same text is the document of --json.
std::string results_json(const Results& results);
std::string runs_csv(const Results& results);
std::string curves_csv(const Results& results);
std::string ranks_csv(const Results& results);
std::string links_csv(const Results& results);

/// The comparison on stdout.
struct TableStyle {
  bool colour = false;
  int width = 100;  ///< columns of the terminal
};
std::string table(const Results& results, const TableStyle& style);

/// Writes to a temporary name beside `path` and renames, so that no reader ever sees half a file.
/// Errors: base::EnvironmentError naming the file and the system's reason.
void write_file(const std::string& path, const std::string& text);
std::string read_file(const std::string& path);
/// results.json and the four CSV files into the directory, which is made if it is not there.
void write_all(const Results& results, const std::string& directory);

}  // namespace simgrad::outputs
