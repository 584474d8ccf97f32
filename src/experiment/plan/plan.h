/// A scenario expanded into its runs: every grid point x every strategy x every seed, and their baselines.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "experiment/plan/settings.h"
#include "scenario/document.h"

namespace simgrad::experiment {

class SeededText;

/// A run before it is simulated.
struct RunPlan {
  std::string id;    ///< a hash of all that determines the record
  std::string work;  ///< runs with equal work compute the same numbers on the same clock and are done once
  std::shared_ptr<const Settings> settings;
  std::string label;
  std::string kind;
  std::shared_ptr<const strategies::Strategy> strategy;
  cluster::Recovery recovery = cluster::Recovery::restart;
  nlohmann::ordered_json options;
  nlohmann::ordered_json parameters = nlohmann::ordered_json::object();
  std::uint64_t seed = 1;
  std::int64_t workers = 1;
  /// The jobs that are simulated together, of which this run is one. Empty in a scenario without jobs.
  std::vector<JobPlan> jobs;
  std::size_t job = 0;                     ///< in Settings::jobs
  std::shared_ptr<const Settings> fabric;  ///< the whole scenario's; `settings` are the job's
  std::string alone;                       ///< the work of the same job with the cluster to itself
  std::string baseline;                    ///< the id of its baseline
  std::shared_ptr<const SeededText> data;  ///< what data_key() is made of; null: of the settings
  bool every_rank = false;                 ///< ranks that are alike are simulated one by one all the same
  bool keeps_timeline = false;             ///< its timeline is a file beside its record (kept_timelines.h)

  std::string data_key() const;  ///< runs with equal keys see the same data
  std::string data_key(std::uint64_t of_seed) const;
};

struct Plan {
  std::string name;  ///< the stem of the scenario's file
  std::string title;
  std::string command;              ///< the command that gives these results again; empty unless the caller sets it
  nlohmann::ordered_json scenario;  ///< resolved, of the first grid point
  std::shared_ptr<const scenario::Document> document;  ///< the file with --set laid over it, without its grid
  std::vector<scenario::Axis> grid;
  std::vector<scenario::Axis> space;  ///< [plan.space], which `simgrad plan` searches
  std::vector<std::string> files;     ///< hashes of the contents of the files that it names, ascending
  bool all_ranks = false;             ///< the tables of results have a row for each rank and link
  std::vector<std::uint64_t> seeds;   ///< given by --seeds; without the option a run has its grid point's seed
  std::vector<Expectation> expectations;
  std::vector<RunPlan> runs;
  std::vector<RunPlan> alone;      ///< jobs by themselves, each once: for interference, not for the table
  std::vector<RunPlan> baselines;  ///< the runs that speed-ups need, each once
};

/// The part of the plan that the command line decides.
struct Selection {
  std::vector<std::string> sets = {};        ///< key=value
  std::vector<std::string> grids = {};       ///< key=value,value
  std::string seeds = {};                    ///< "1..5", "3", "1,4", or empty
  std::vector<std::string> strategies = {};  ///< labels, else kinds
  bool baselines = true;
  bool all_ranks = false;      ///< as in Plan
  std::string timelines = {};  ///< kept ones: "all", a number of cases, or empty for the default
};

/// Errors: ScenarioError with every fault of the file; EnvironmentError for files that cannot be read.
Plan make_plan(const std::string& file, const Selection& selection);

}  // namespace simgrad::experiment
