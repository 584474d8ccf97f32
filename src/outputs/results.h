/// The results of an experiment and every file and table that shows them.
#pragma once

#include <cstdint>
#include <functional>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "outputs/counterfactual.h"
#include "outputs/dropped.h"
#include "outputs/prices.h"
#include "record/record.h"

namespace simgrad::outputs {

/// One run: its names and options, its record, and its comparison with a baseline.
struct Run {
  std::string id;
  std::string strategy;  ///< its kind
  std::string label;
  nlohmann::ordered_json options;                                        ///< the strategy's, resolved
  nlohmann::ordered_json parameters = nlohmann::ordered_json::object();  ///< the grid point: {"cluster.workers": 8}
  std::uint64_t seed = 1;
  std::int64_t workers = 1;
  record::Record record;
  std::optional<double> speedup_throughput;
  std::optional<double> speedup_time_to_target;
  std::optional<double> efficiency;
  std::optional<double> interference = {};              ///< a job's time beside the others over its time by itself
  std::optional<nlohmann::ordered_json> parallel = {};  ///< {"tensor", "pipeline", "data", ...}; null: no cut model
  Bill bill;
  double wall_s = 0.0;
};

struct Results {
  std::string name;  ///< the stem of the scenario's file
  std::string title;
  std::string version;
  bool complete = true;
  std::string command = {};         ///< the command as typed, without --out and options that change no result
  nlohmann::ordered_json scenario;  ///< resolved
  bool all_ranks = false;           ///< the tables have a row for each rank and each link, however many there are
  std::vector<Run> runs;
  std::vector<Run> baselines;
  std::vector<Counterfactual> counterfactuals = {};  ///< of some runs, in the order of their importance
  std::vector<Dropped> dropped = {};                 ///< by a race; their runs are not in `runs`
  nlohmann::ordered_json plan = {};                  ///< the answer of `simgrad plan`, for the page; null: none
};

/// A run as JSON with everything in it (curve, ranks and links too), and back.
/// JSON has no infinities and no NaN: they are written as null (the loss of a diverged run, say), and `status` tells
/// which null is which. Read back, such a null is an empty optional, or NaN in a field that is not optional.
/// Errors of reading: base::EnvironmentError naming the member, what was found and what was expected.
nlohmann::ordered_json to_json(const Run& run);
Run run_from_json(const nlohmann::ordered_json& json);
Results results_from_json(const nlohmann::ordered_json& json);
/// file: for errors.  Errors: base::EnvironmentError `file:line:column: ...`, also for a number beyond the range of
/// doubles, and for lists and objects nested more than 256 deep.
nlohmann::ordered_json parse_json(const std::string& text, const std::string& file = "JSON");

/// Receives a document in pieces, so that none is in memory as a whole.
using Sink = std::function<void(std::string_view piece)>;

/// results.json; the same text is the document of --json.  One run a line.  Equal results give equal bytes.
void write_results_json(const Results& results, const Sink& sink);
std::string results_json(const Results& results);
/// Reads results.json run by run where it has one run a line, as simgrad writes it; other JSON is parsed as a whole.
/// Errors: base::EnvironmentError for a file that cannot be read; base::ScenarioError for contents that are wrong, with
/// the file's name, and line and column where it is not JSON.
Results read_results_json(const std::string& path);

struct ResultTable;
/// The numbers of results.json, letter for letter; null is an empty cell; RFC 4180 quoting, lines end in "\n".
/// Baselines are in none of these files.
void write_csv(const ResultTable& table, const Sink& sink);
std::string runs_csv(const Results& results);
/// A row a (grid point, label): numbers of runs, means and 95 % intervals over the seeds (point_summary.h).
std::string summary_csv(const Results& results);
std::string curves_csv(const Results& results);
std::string ranks_csv(const Results& results);
std::string links_csv(const Results& results);
std::string link_utilisation_csv(const Results& results);  ///< runs that recorded none have no rows

struct TableStyle {
  bool colour = false;
  int width = 80;  ///< columns of the terminal
};
/// The comparison on stdout: a row a (grid point, label), means over seeds; below it the legend, the baselines, one
/// sentence on the leader and its time, then errors and notes.  No line is wider than the style's width.
std::string table(const Results& results, const TableStyle& style);

/// Writes to a temporary name beside `path` and renames, so that no reader ever sees half a file. What has the name,
/// such as a link, a pipe or a device, is replaced, and a link's target stays as it is. Errors: base::EnvironmentError
/// naming the file and the system's reason.
void write_file(const std::string& path, const std::string& text);
/// As above; `write` is called once, and hands over the contents.
void write_file(const std::string& path, const std::function<void(const Sink& sink)>& write);
/// As above, unless the file is there as an earlier call with this hash has left it. made_of: a hash of all that the
/// contents follow from. A file that was removed, cut off or edited is written again.
void renew_file(const std::string& path, const std::string& made_of,
                const std::function<void(const Sink& sink)>& write);
/// As write_file, for a file that the command line itself names: a device, a pipe or a link's target is written to, and
/// not replaced. A pipe's reader is waited for, with a word.
void write_named_file(const std::string& path, const std::string& text);
/// As renew_file, for a file that the command line itself names.
void renew_named_file(const std::string& path, const std::string& made_of,
                      const std::function<void(const Sink& sink)>& write);
/// The contents of a file of results, in which a machine's death may have left anything.
/// Errors: EnvironmentError and ScenarioError as of base::read_file, whose limit is the free memory.
std::string read_file(const std::string& path);
/// Writes results.json and the CSV files into the directory, which is made if it does not exist. Files of equal results
/// that nobody has changed stay as they are.
void write_all(const Results& results, const std::string& directory);

}  // namespace simgrad::outputs
