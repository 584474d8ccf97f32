/// The runs of a plan, or of a part of it, in child processes: what is missing is simulated.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "experiment/run/best_so_far.h"
#include "experiment/run/children.h"
#include "experiment/run/data_cache.h"
#include "experiment/run/finished_runs.h"
#include "experiment/run/pace.h"
#include "experiment/run/race.h"
#include "experiment/run/run_store.h"
#include "experiment/run/runner.h"
#include "experiment/run/schedule.h"
#include "experiment/run/shared_numbers.h"
#include "experiment/run/unwritten.h"

namespace simgrad::experiment {

class Execution {
 public:
  Execution(const Plan& plan, std::vector<const RunPlan*> pieces, const RunnerOptions& options, Unwritten& unwritten);

  /// Reads the data of all runs.  Errors: ScenarioError for data that do not suit.
  void read_data() { check_data(queue_, data_cache_, options_.tell); }

  /// Runs what is missing, and writes the record of each run as soon as it is there.
  void run();

  const FinishedRuns& finished() const { return finished_; }

  /// Takes runs that a race has dropped out of the results: an earlier command may have left some.
  void leave_out_dropped(outputs::Results& results, const Plan& plan) const;
  DataCache& data_cache() { return data_cache_; }

 private:
  /// Whether the race has come to the seed of the run, and nobody is computing the run's numbers.
  bool may_start(std::size_t task);

  /// Starts a run in a child. Returns false if there is no room for one now. Data that cannot be loaded any more are
  /// the failure of this run; others go on.
  bool start(Children& children, std::size_t task);

  /// The threads for the numbers of a run: those of the processors that runs which wait for it leave idle, too.
  int threads_of(const RunPlan& plan, NumbersFrom from, const Children& children);

  /// Takes the runs whose records are in the directory off the queue.
  void take_finished();

  /// The record of a piece of work, as one of the runs that it stands for has left it.
  std::optional<outputs::Run> taken(const RunPlan& plan);
  /// Whether all timelines of a piece of work that are kept are in the directory.
  bool has_timelines(const RunPlan& plan) const;
  /// Whether all models of a piece of work that are kept are there.
  bool has_models(const RunPlan& plan) const;
  /// The run as it was finished before, if it was simulated again for its timeline or model alone; else the run itself.
  outputs::Run as_finished_before(const RunPlan& plan, outputs::Run run);

  void collect(const Children::Ended& ended);

  /// The run needs a number that no other run has computed.
  void do_with_numbers(std::size_t task);

  /// Transfers of the run's collectives may meet on that link.
  void do_another_way(std::size_t task, const std::string& link);

  /// Runs of a kind whose time is not known come first, then the longest.
  void note_pace(std::size_t task, double wall_s);

  /// Adds a finished piece of work, and writes the records of its runs, and of those that are final by it.
  void finish(const RunPlan& plan, outputs::Run run);

  /// Tells the race of finished runs, and takes runs of strategies that it drops off the schedule.
  void race(const std::vector<const RunPlan*>& runs);

  bool dropped(const RunPlan& work);

  void write(const outputs::Run& run);

  /// Says how many runs have numbers that this command has not computed.
  void tell_of_kept_numbers() const;

  void report_progress(const Children& children);

  /// Tells what makes a run slow that has not got far; one such sentence an experiment is enough.
  void tell_slow_runs(const Children& children);

  void tell_once(const std::string& text);

  const RunnerOptions& options_;
  Unwritten& unwritten_;
  FinishedRuns finished_;
  std::vector<const RunPlan*> queue_;
  std::unordered_map<std::string, std::vector<const RunPlan*>> runs_;  ///< by work: the plan's
  RunStore store_;
  std::size_t taken_ = 0;  ///< pieces of work whose records were there
  std::unordered_map<std::string, outputs::Run>
      without_file_;  ///< by work: finished before, but a timeline or a model is lacking
  int failed_ = 0;
  BestSoFar best_;
  std::optional<Race> race_;
  std::size_t left_out_ = 0;  ///< pieces of work that the race has taken off the schedule
  std::optional<Pace> pace_;
  std::optional<Schedule> schedule_;
  SharedNumbers shared_numbers_;
  std::vector<NumbersFrom> numbers_from_;          ///< by task, as it was started
  std::size_t with_kept_numbers_ = 0;              ///< runs with numbers that an earlier command has left
  std::map<std::size_t, std::string> meeting_on_;  ///< by task: the link for which it goes message by message
  DataCache data_cache_;
  double share_ = 0.0;  ///< the greatest told
  bool told_ = false;   ///< that a run is slow
  int jobs_ = 1;
  int threads_ = 0;
};

}  // namespace simgrad::experiment
