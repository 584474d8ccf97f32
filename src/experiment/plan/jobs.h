/// Several trainings on one fabric: [[job]].
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/describe.h"
#include "scenario/document.h"

namespace simgrad::experiment {

struct Settings;

enum class Placement { packed, spread };

/// The keys and TOML values of a job's own table; nested keys are dotted.
using Written = std::vector<std::pair<std::string, std::string>>;

/// One [[job]]: a training with a strategy of the scenario, on some hosts of its cluster. Its own tables are kept as
/// text here; `read_trainings` reads them.
struct JobEntry : base::Described {
  std::string name;
  std::string strategy;  ///< a label of a [[strategy]], else its kind
  std::int64_t workers = 1;
  double start_s = 0.0;
  Placement placement = Placement::packed;
  std::vector<double> hosts;  ///< the hosts of its workers, then of its servers; empty: by `placement`
  std::optional<std::int64_t> batch_size;
  std::optional<std::int64_t> steps;
  Written data, model, training, stop;  ///< laid over the scenario's

  void describe(base::Describer& d) override;
};

/// A job with its place in the cluster.
struct JobPlan {
  std::size_t job = 0;       ///< in Settings::jobs
  std::size_t strategy = 0;  ///< in Settings::strategies
  std::vector<int> hosts;    ///< the workers', then the servers'
};

/// The index of the scenario's strategy with that label, else with that kind.
std::optional<std::size_t> strategy_of(const Settings& settings, const std::string& name);

/// Adds a fault for options that contradict jobs, and for places that the jobs cannot have.
void check_jobs(const Settings& settings, const scenario::Document& document, scenario::Faults& faults);

/// The place of every job.  Faults: unknown strategies, missing hosts, equal names.
std::vector<JobPlan> place_jobs(const Settings& settings, const scenario::Document* document, scenario::Faults* faults);

}  // namespace simgrad::experiment
