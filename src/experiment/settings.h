/// A scenario, typed: everything one grid point says, checked.
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
#include "experiment/expectations.h"
#include "experiment/jobs.h"
#include "models/model.h"
#include "outputs/prices.h"
#include "scenario/document.h"
#include "strategies/strategy.h"
#include "training/options.h"

namespace simgrad::experiment {

/// The section [model]: a kind and its options.
struct ModelSection : base::Described {
  base::Slot<models::Model> model{models::registry()};

  void describe(base::Describer& d) override;
};

/// What one strategy does after a failure: its own way, or the cluster's.
enum class OwnRecovery { cluster, restart, wait, shrink, elastic, in_place };

/// One [[strategy]].
struct StrategyEntry : base::Described {
  base::Slot<strategies::Strategy> strategy{strategies::registry()};
  std::optional<std::string> label;  ///< default: the kind, then the options that differ from their defaults
  OwnRecovery recovery = OwnRecovery::cluster;

  void describe(base::Describer& d) override;
  std::string name() const;
  /// How many hosts its workers and its servers live on, in a cluster of so many workers.
  std::int64_t hosts(std::int64_t workers) const;
  cluster::Recovery effective(const cluster::Options& cluster) const;
};

struct Settings : base::Described {
  std::int64_t schema = 1;
  std::string title;
  std::int64_t seed = 1;
  cluster::Options cluster;
  data::Options data;
  ModelSection model;
  training::Options training;
  training::StopOptions stop;
  training::EvaluateOptions evaluate;
  outputs::Prices prices;
  std::vector<StrategyEntry> strategies;
  std::vector<JobEntry> jobs;             ///< none: every strategy is a run of its own
  std::vector<Expectation> expectations;  ///< of the whole grid; `check` tests them
  std::vector<Settings> trainings;        ///< of every job, its own: the scenario's, with what the job says itself

  /// Where the scenario says what only the data can contradict.
  struct Places {
    scenario::Position data, size, test_fraction, model, batch, workers, partition, recovery, crashes, checkpoint;
    /// A [[strategy]] and those of its options that are written.
    struct Strategy {
      scenario::Position table;
      std::map<std::string, scenario::Position> options;
    };
    std::vector<Strategy> strategies;
  };
  Places places;

  // Found out about the files it names, for identities and baselines.
  std::string data_contents;         ///< a hash of each file; empty without one
  std::string failure_contents;      ///< a hash; empty without a trace of failures
  std::string platform_contents;     ///< a hash; empty without a platform
  std::string trace_contents;        ///< a hash of each file of speeds; empty without one
  double nominal_flops_per_s = 0.0;  ///< of one worker

  void describe(base::Describer& d) override;

  data::Task task() const;
  /// The hosts that the cluster's workers and any strategy's servers live on.
  std::int64_t hosts_needed() const;
  /// The global batch of a step for that many training rows.
  std::int64_t batch(std::int64_t rows) const;
  /// What the model is fitted to, where no data are loaded.
  models::Problem problem() const;
};

/// Reads and checks one grid point. Faults are added, not thrown.  names: of the strategies that will run; none: all.
Settings read_settings(const scenario::Document& document, scenario::Faults& faults,
                       const std::vector<std::string>& names = {});

/// The first half of it: reads, and checks the list of strategies.
Settings read_sections(const scenario::Document& document, scenario::Faults& faults);

/// The second half, for one training: its numbers, data, model and batches, and the workers and strategies for them.
/// Fills in defaults that depend on other options.
void check_training(Settings& settings, const scenario::Document& document, scenario::Faults& faults);

/// How many training rows there will be, where that is known before any data are loaded.
std::optional<std::int64_t> known_rows(const Settings& settings);

/// Adds a fault where the model, the batch, the workers or a strategy do not suit so many training rows of that
/// problem.
void check_fit(const Settings& settings, const models::Problem& problem, std::int64_t rows, scenario::Faults& faults);

}  // namespace simgrad::experiment
