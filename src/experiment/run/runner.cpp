#include "experiment/run/runner.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <optional>
#include <set>
#include <stdexcept>
#include <string>
#include <thread>
#include <tuple>
#include <utility>
#include <vector>

#include "base/errors.h"
#include "base/files.h"
#include "base/version.h"
#include "experiment/run/children.h"
#include "experiment/run/counterfactuals.h"
#include "experiment/run/data_cache.h"
#include "experiment/run/finished_runs.h"
#include "experiment/run/pace.h"
#include "experiment/run/results_directory.h"
#include "experiment/run/run_store.h"
#include "experiment/run/simulate.h"
#include "experiment/run/slowness.h"
#include "outputs/summary.h"

namespace simgrad::experiment {

namespace {

/// Moves runs with equal data together; keeps the order otherwise.
void group_by_data(std::vector<const RunPlan*>& runs) {
  std::map<std::string, std::size_t> first_seen;
  std::vector<std::pair<std::size_t, const RunPlan*>> ranked;
  for (const RunPlan* run : runs)
    ranked.emplace_back(first_seen.try_emplace(run->data_key(), first_seen.size()).first->second, run);
  std::ranges::stable_sort(ranked, {}, &std::pair<std::size_t, const RunPlan*>::first);
  std::ranges::transform(ranked, runs.begin(), &std::pair<std::size_t, const RunPlan*>::second);
}

/// Simulates one piece of work in a child. Returns {"run": ..., "unwritten": "the fault of a recording's file, or
/// none"}. runs: those of the plan that the work stands for.
std::string simulated(const RunPlan& plan, const std::vector<const RunPlan*>& runs, const Data& data, int threads,
                      const RunnerOptions& options, training::Pulse* pulse) {
  outputs::Run run = described(plan);
  const auto start = std::chrono::steady_clock::now();
  const auto limits = runs.empty() ? std::vector<cluster::TimelineLimits>() : options.recordings.limits();
  run.record = simulate(plan, data, threads, pulse, limits);
  run.wall_s = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  nlohmann::ordered_json answer{{"run", outputs::to_json(run)}, {"unwritten", ""}};
  try {
    if (!runs.empty()) write_recordings(options.out, runs, run.record, options.recordings);
  } catch (const base::EnvironmentError& fault) {
    answer["unwritten"] = fault.what();
  }
  return outputs::compact(answer);
}

/// The files that could not be written: reported as they are found, or thrown at the end.
class Unwritten {
 public:
  explicit Unwritten(const RunnerOptions& options) : options_(options) {}

  void add(const std::string& fault) {
    if (options_.unwritten) options_.unwritten(fault);
    if (first_.empty()) first_ = fault;
  }
  template <class Write>
  void attempt(Write write) {
    try {
      write();
    } catch (const base::EnvironmentError& fault) {
      add(fault.what());
    }
  }
  void raise_if_untold() const {
    if (!options_.unwritten && !first_.empty()) throw base::EnvironmentError(first_);
  }

 private:
  const RunnerOptions& options_;
  std::string first_;
};

class Execution {
 public:
  Execution(const Plan& plan, const RunnerOptions& options, Unwritten& unwritten)
      : options_(options), unwritten_(unwritten), finished_(plan), store_(options.out, options.tell) {
    std::set<std::string> works;
    const auto add = [&](const RunPlan& run) {
      if (works.insert(run.work).second) queue_.push_back(&run);
    };
    for (const RunPlan& run : plan.baselines) add(run);
    for (const RunPlan& run : plan.alone) add(run);
    for (const RunPlan& run : plan.runs) {
      add(run);
      runs_[run.work].push_back(&run);
    }
    group_by_data(queue_);
  }

  /// Reads the data of all runs.  Errors: ScenarioError for data that do not suit.
  void read_data() { check_data(queue_, data_cache_, options_.tell); }

  /// Runs what is missing, and writes the record of each run as soon as it is there.
  void run() {
    if (!options_.again) take_finished();
    prepare(options_.out, options_.recordings);
    std::tie(jobs_, threads_) = jobs_and_threads(options_.jobs, options_.threads, queue_.size());
    std::vector<std::string> groups;
    for (const RunPlan* run : queue_) groups.push_back(fmt::format("{}/{}", run->label, run->workers));
    pace_.emplace(std::move(groups), jobs_);
    Children children(jobs_);
    for (std::size_t next = 0; (next < queue_.size() || !children.empty()) && !interrupted();) {
      if (next < queue_.size() && !children.full()) {
        if (start(children, next)) ++next;
      } else if (const auto ended = children.reap(0.2)) {
        collect(*ended);
      }
      report_progress(children);
      tell_slow_runs(children);
    }
    while (const auto ended = children.reap(0.0)) collect(*ended);  // children that ended before the interrupt
  }

  const FinishedRuns& finished() const { return finished_; }
  DataCache& data_cache() { return data_cache_; }

 private:
  /// Starts a run in a child. Returns false if there is no room for one now. Data that cannot be loaded any more are
  /// the failure of this run; others go on.
  bool start(Children& children, std::size_t task) {
    const RunPlan& plan = *queue_[task];
    Data data;
    try {
      data = data_cache_.get(plan);
    } catch (const std::runtime_error& fault) {
      collect({.task = task, .error = fault.what()});
      return true;
    }
    return children.start(task, [&](training::Pulse* pulse) {
      return simulated(plan, runs_[plan.work], data, threads_, options_, pulse);
    });
  }

  /// Takes the runs whose records are in the directory off the queue.
  void take_finished() {
    if (options_.recordings.more()) return;  // a trace or a list of events is made by simulating
    std::vector<const RunPlan*> missing;
    for (const RunPlan* plan : queue_)
      if (auto run = taken(*plan))
        finish(*plan, std::move(*run));
      else
        missing.push_back(plan);
    taken_ = queue_.size() - missing.size();
    if (taken_ > 0 && options_.tell)
      options_.tell(
          fmt::format("{} of {} runs are in {} already; --force does them again", taken_, queue_.size(), options_.out));
    queue_ = std::move(missing);
  }

  /// The record of a piece of work, as one of the runs that it stands for has left it.
  std::optional<outputs::Run> taken(const RunPlan& plan) {
    const std::vector<const RunPlan*>& runs = runs_[plan.work];
    if (!std::ranges::all_of(runs, [&](const RunPlan* run) { return recorded(options_.out, run->id); })) return {};
    for (const RunPlan* run : runs)
      if (auto record = store_.take(run->id)) return record;
    return store_.take(plan.id);
  }

  void collect(const Children::Ended& ended) {
    const RunPlan& plan = *queue_[ended.task];
    pace_->ended(ended.task, ended.wall_s);
    tell_once(evaluation_advice(plan, ended.pulse));
    outputs::Run run = described(plan);
    if (ended.error.empty()) {
      const nlohmann::ordered_json answer = outputs::parse_json(ended.answer);
      run = outputs::run_from_json(answer.at("run"));
      if (const std::string fault = answer.at("unwritten"); !fault.empty()) unwritten_.add(fault);
    } else {
      run.record.status = record::Status::failed;
      run.record.error = ended.error;
      run.wall_s = ended.wall_s;
    }
    finish(plan, std::move(run));
  }

  /// Adds a finished piece of work, and writes the records of its runs, and of those that are final by it.
  void finish(const RunPlan& plan, outputs::Run run) {
    const std::vector<const RunPlan*>& runs = runs_[plan.work];
    if (std::ranges::find(runs, &plan) == runs.end()) write(run);  // not one of the table
    const std::vector<const RunPlan*> final = finished_.add(plan.work, std::move(run));
    for (const RunPlan* each : runs) write(finished_.run(*each));
    for (const RunPlan* each : final) write(finished_.run(*each));
  }

  void write(const outputs::Run& run) {
    unwritten_.attempt([&] { store_.put(run); });
  }

  void report_progress(const Children& children) {
    if (!options_.progress) return;
    for (const Children::Running& run : children.running()) pace_->at(run.task, run.pulse.share, run.elapsed_s);
    const auto all = static_cast<int>(queue_.size());
    const auto done = static_cast<int>(finished_.size() - taken_);
    // A child that has finished its run has yet to end. A run that goes back to a checkpoint was further before.
    const double share = done == all ? 1.0 : std::min((done + children.progress()) / all, 0.99);
    share_ = std::max(share_, share);
    options_.progress({.done = done, .all = all, .share = share_, .left_s = pace_->left_s()});
  }

  /// Tells what makes a run slow that has not got far; one such sentence an experiment is enough.
  void tell_slow_runs(const Children& children) {
    for (const Children::Running& run : children.running())
      tell_once(slow_run(*queue_[run.task], run.pulse, run.elapsed_s, threads_));
  }

  void tell_once(const std::string& text) {
    if (text.empty() || told_ || !options_.tell) return;
    told_ = true;
    options_.tell(text);
  }

  const RunnerOptions& options_;
  Unwritten& unwritten_;
  FinishedRuns finished_;
  std::vector<const RunPlan*> queue_;
  std::map<std::string, std::vector<const RunPlan*>> runs_;  ///< by work: the plan's
  RunStore store_;
  std::size_t taken_ = 0;  ///< pieces of work whose records were there
  std::optional<Pace> pace_;
  DataCache data_cache_;
  double share_ = 0.0;  ///< the greatest told
  bool told_ = false;   ///< that a run is slow
  int jobs_ = 1;
  int threads_ = 0;
};

}  // namespace

std::pair<int, int> jobs_and_threads(int jobs, int threads, std::size_t runs) {
  const int cores = std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
  const int at_a_time = std::min(jobs > 0 ? jobs : cores, std::max(1, static_cast<int>(runs)));
  return {at_a_time, threads >= 0 ? threads : cores / at_a_time};
}

outputs::Results run_plan(const Plan& plan, const RunnerOptions& options) {
  watch_for_interrupts();
  Unwritten unwritten(options);
  Execution execution(plan, options, unwritten);
  execution.read_data();
  const ResultsDirectory directory(options.out, plan, options.again, options.tell);
  if (!interrupted()) execution.run();  // not at an interrupt while another command had the directory
  outputs::Results results;
  results.name = plan.name;
  results.title = plan.title;
  results.version = version;
  results.command = plan.command;
  results.scenario = plan.scenario;
  results.runs = execution.finished().runs(plan.runs);
  results.baselines = execution.finished().runs(plan.baselines);
  results.complete = results.runs.size() == plan.runs.size() && results.baselines.size() == plan.baselines.size();
  if (options.counterfactuals && results.complete)
    results.counterfactuals = counterfactuals(plan, results, execution.data_cache(), options.jobs, options.threads);
  // An interrupt before any run is finished keeps the files of an earlier call.
  if (results.runs.empty() && interrupted()) return results;
  unwritten.attempt([&] { outputs::write_all(results, options.out); });
  unwritten.raise_if_untold();
  return results;
}

}  // namespace simgrad::experiment
