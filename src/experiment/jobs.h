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

/// What a table of a job says, as keys and TOML values, the nested ones dotted.
using Written = std::vector<std::pair<std::string, std::string>>;

/// One [[job]]: a training with a strategy of the scenario, on some hosts of its cluster. What it is of,
/// `read_training` reads; here it only stands.
struct JobEntry : base::Described {
  std::string name;
  std::string strategy;  ///< a label of a [[strategy]], else its kind
  std::int64_t workers = 1;
  double start_s = 0.0;
  Placement placement = Placement::packed;
  std::vector<double> hosts;  ///< where its workers and then its servers live; empty: as `placement` says
  std::optional<std::int64_t> batch_size;
  std::optional<std::int64_t> steps;
  Written data, model, training, stop;  ///< laid over the scenario's

  void describe(base::Describer& d) override;
};

/// One job of a run: which, of which strategy, where.
struct JobPlan {
  std::size_t job = 0;       ///< in Settings::jobs
  std::size_t strategy = 0;  ///< in Settings::strategies
  std::vector<int> hosts;    ///< of its workers, then of its servers
};

/// The index of the scenario's strategy of that label, else of that kind.
std::optional<std::size_t> strategy_of(const Settings& settings, const std::string& name);

/// What a scenario with jobs may not say.
void check_jobs(const Settings& settings, const scenario::Document& document, scenario::Faults& faults);

/// Where every job goes.  Faults: strategies and hosts that there are not, equal names.
std::vector<JobPlan> place_jobs(const Settings& settings, const scenario::Document* document, scenario::Faults* faults);

}  // namespace simgrad::experiment
