/// A scenario, typed: all options of one grid point, checked.
#pragma once

#include <cstdint>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "base/describe.h"
#include "cluster/options.h"
#include "data/source.h"
#include "experiment/plan/capacity_section.h"
#include "experiment/plan/expectations.h"
#include "experiment/plan/goal.h"
#include "experiment/plan/jobs.h"
#include "models/model.h"
#include "models/profiles/timings.h"
#include "outputs/prices.h"
#include "scenario/document.h"
#include "serving/options.h"
#include "strategies/parallel/parallel.h"
#include "strategies/strategy.h"
#include "training/options.h"

namespace simgrad::experiment {

/// The section [model]: a kind and its options.
struct ModelSection : base::Described {
  base::Slot<models::Model> model{models::registry()};
  /// The model whose layers decide times, messages and bytes, while `model` decides the numbers.
  base::Slot<models::Model> timed_as{models::timings(), models::timed_as_itself};

  /// Whether numbers and times are those of two models.
  bool proxied() const { return timed_as.kind() != models::timed_as_itself; }
  void describe(base::Describer& d) override;
};

/// One [[strategy]].
struct StrategyEntry : base::Described {
  base::Slot<strategies::Strategy> strategy{strategies::registry()};
  std::optional<std::string> label;           ///< default: the kind, then the options that differ from their defaults
  std::optional<cluster::Recovery> recovery;  ///< default: the cluster's
  std::string known_name;                     ///< name(), once the scenario is read; empty before
  /// The strategy on a mesh, on hosts of several devices, or what serves in its place; null: as it is.
  std::shared_ptr<const strategies::Strategy> runs_as;

  void describe(base::Describer& d) override;
  /// The strategy as it runs.
  std::shared_ptr<const strategies::Strategy> as_run() const { return runs_as ? runs_as : strategy.shared(); }
  std::string name() const;
  /// The number of hosts of its workers and its servers, in a cluster of `workers` workers.
  std::int64_t hosts(std::int64_t workers) const;
  cluster::Recovery effective(const cluster::Options& cluster) const;
};

struct Settings : base::Described {
  std::int64_t schema = 1;
  std::string title;
  std::int64_t seed = 1;
  bool save_model = false;  ///< the trained parameters are kept in the directory of the results
  cluster::Options cluster;
  data::Options data;
  ModelSection model;
  training::Options training;
  strategies::Parallel parallel;
  training::StopOptions stop;
  training::EvaluateOptions evaluate;
  outputs::Prices prices;
  Goal goal;                 ///< of `simgrad plan`
  CapacitySection capacity;  ///< of `simgrad capacity`
  serving::Options serving;  ///< in place of strategies; any() is false in a scenario that trains
  std::vector<StrategyEntry> strategies;
  std::vector<JobEntry> jobs;             ///< none: every strategy is a run of its own
  std::vector<Expectation> expectations;  ///< about the whole grid; `check` tests them
  bool advises = true;                    ///< faults about memory say what would fit, which takes time to find
  std::vector<Settings> trainings;        ///< one for each job: the scenario's, with the job's own tables

  /// Positions of the options that only the data can contradict.
  struct Places {
    scenario::Position data, size, test_fraction, model, batch, workers, partition, recovery, crashes, checkpoint,
        served_model;
    /// A [[strategy]] and its options that are written.
    struct Strategy {
      scenario::Position table;
      std::map<std::string, scenario::Position> options;
    };
    std::vector<Strategy> strategies;
    std::map<std::string, scenario::Position> parallel;  ///< the section's options that are written
    scenario::Position parallel_table;
  };
  Places places;

  // Facts about the files that the scenario names, for identities and baselines.
  std::string data_contents;         ///< a hash of each file; empty without one
  std::string failure_contents;      ///< a hash; empty without a trace of failures
  std::string platform_contents;     ///< a hash; empty without a platform
  std::string measured_contents;     ///< a hash of the file of measured collectives; empty without one
  std::string trace_contents;        ///< a hash of each file of speeds; empty without one
  std::string requests_contents;     ///< a hash of the trace of requests; empty without one
  std::string served_contents;       ///< a hash of serving.model; empty without one
  double nominal_flops_per_s = 0.0;  ///< one worker's speed

  void describe(base::Describer& d) override;

  /// Where an option of a strategy is written, or one of [parallel] ("parallel.tensor"); else the table.
  scenario::Position place_of(std::size_t strategy, const std::string& option) const;
  data::Task task() const;
  /// The problem of a timing-only run whose model decides it, whatever the data; nothing: the data decide it.
  std::optional<models::Problem> own_problem() const;
  /// The number of hosts of the cluster's workers and of any strategy's servers.
  std::int64_t hosts_needed() const;
  /// The global batch of a step for `rows` training rows.
  std::int64_t batch(std::int64_t rows) const;
  /// The shape of the data, where none are loaded.
  models::Problem problem() const;
};

/// The sources of a mixture, as models see them; none of other data.
std::vector<models::SourceShape> sources_of(const data::Dataset& set);
/// The number of training rows, if it is known before any data are loaded.
std::optional<std::int64_t> known_rows(const Settings& settings);

}  // namespace simgrad::experiment
