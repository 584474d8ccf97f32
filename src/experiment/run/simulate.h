/// The simulation of one run, from its plan to its record.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>

#include "cluster/fabric/cluster.h"
#include "cluster/recording/timeline_recorder.h"
#include "data/dataset.h"
#include "experiment/plan/plan.h"
#include "experiment/run/collective_ways.h"
#include "record/record.h"
#include "training/learning/learning.h"
#include "training/session/pulse.h"

namespace simgrad::experiment {

/// The training rows and the test rows; null in a timing-only run.
using Data = std::shared_ptr<const data::Split>;

/// The largest state that is kept.
inline constexpr std::int64_t state_bytes_most = std::int64_t{64} << 20;

/// Data that take more memory than the limit of a run.
class OverRunMemory : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Loads the run's data; null in a timing-only run. Loading takes half of the free memory at most.
/// memory_bytes: the limit of a run, which holds while its data are loaded, too.  threads: as in Preparation.
/// Errors: ScenarioError, EnvironmentError; OverRunMemory.
Data load_data(const RunPlan& run, std::optional<double> memory_bytes = {}, int threads = 1);

/// The shape of the data, as the model sees it.
models::Problem problem_of(const data::Split& data);

/// As above, of the run's data, which are read only if no generator says their shape.  Errors: as load_data.
models::Problem problem_of_run(const RunPlan& run);

/// The set-up of the run's learning.  data: as load_data returned them.
training::Learning::Setup learning_setup(const RunPlan& run, const Data& data);

/// The model as a run has left it.
struct LastModel {
  std::span<const double> w;     ///< the parameters that were evaluated last
  const record::Record& record;  ///< of the run
};

/// Writes the model of a run.
struct ModelKeeper {
  std::function<void(const LastModel& model)> keep;
  std::string fault = {};  ///< of a file that could not be written
};

/// The source of a run's numbers.
struct Numbers {
  training::Trajectory* trajectory = nullptr;  ///< numbers that are known, and those computed; null: none are kept
  bool all_known = false;  ///< nothing is computed; the run fails, and the trajectory is lacking(), if one is missing
  /// The state to go on from: only what follows from it is computed, and the run fails likewise if a number is missing.
  std::shared_ptr<const values::Contents> state = {};
  values::Contents* last_state = nullptr;  ///< takes the state to go on from; left as it is if that is too large
  ModelKeeper* keeper = nullptr;           ///< takes the model at the end, if there is one; null: nobody does
};

/// The state that a run was to go on from is of another training: tensors of equal lineage have other lengths there.
class StateMisfits : public std::runtime_error {
 public:
  StateMisfits() : std::runtime_error("the state does not fit this training") {}
};

/// Runs `run`, and all jobs beside it if it is one of several, in this process, which must not have simulated anything
/// before. A run that fails (a deadlock, an exception in a rank, the watchdog) is a record that says so.
/// data: of this run; other jobs' are loaded.  threads: for the numbers, 0 inline.  pulse: written as the run goes on;
/// may be null.  limits: timelines to record.  numbers: of a run without jobs.
/// Errors: CollectivesMeet, if the run asks for cluster.collectives = "auto"; StateMisfits.
record::Record simulate(const RunPlan& run, const Data& data, int threads, training::Pulse* pulse,
                        const std::vector<cluster::TimelineLimits>& limits = {}, const Numbers& numbers = {});

}  // namespace simgrad::experiment
