#include "experiment/run/runner.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <map>
#include <set>
#include <system_error>
#include <thread>
#include <utility>

#include "base/errors.h"
#include "base/files.h"
#include "base/version.h"
#include "experiment/checks/fit_check.h"
#include "experiment/run/children.h"
#include "experiment/run/finished_runs.h"
#include "experiment/run/simulate.h"
#include "outputs/summary.h"

namespace simgrad::experiment {

namespace {

/// The data of the present run. Runs are in an order that changes them seldom.
class DataCache {
 public:
  const Data& get(const RunPlan& run) {
    if (const std::string key = run.data_key(); key != key_ || !loaded_) {
      data_ = nullptr;  // before the next are loaded
      data_ = load_data(run);
      key_ = key;
      loaded_ = true;
    }
    return data_;
  }

 private:
  std::string key_;
  Data data_;
  bool loaded_ = false;
};

/// Adds a fault of the data. The text of a file's fault has its position; other faults stand at [data].
void add_fault(const Settings& settings, const std::string& text, scenario::Faults& faults) {
  const std::vector<std::string> files = settings.data.source->files();
  const bool placed = std::ranges::any_of(files, [&](const std::string& file) { return text.starts_with(file); });
  faults.add(placed ? scenario::Position() : settings.places.data, text);
}

/// Loads every file, and makes every kind of data, once before the first run starts, so that their faults come first.
void check_data(const std::vector<const RunPlan*>& runs, DataCache& data_cache) {
  // Seeds draw different rows, but equally many: data that differ by their seed only are checked once.
  std::map<std::string, std::vector<const RunPlan*>> users;
  std::vector<std::string> order;
  for (const RunPlan* run : runs) {
    RunPlan unseeded = *run;
    unseeded.seed = 0;
    std::vector<const RunPlan*>& all = users[unseeded.data_key()];
    if (all.empty()) order.push_back(unseeded.data_key());
    all.push_back(run);
  }
  scenario::Faults faults;
  for (auto key = order.rbegin(); key != order.rend(); ++key) {  // backwards: the first run's data stay in the cache
    const Settings& first = *users[*key].front()->settings;
    try {
      const Data& data = data_cache.get(*users[*key].front());
      if (!data) continue;
      for (const RunPlan* run : users[*key]) check_fit(*run->settings, problem_of(*data), data->train.rows, faults);
    } catch (const base::ScenarioError& error) {
      for (const std::string& text : error.faults()) add_fault(first, text, faults);
    }
  }
  faults.raise_if_any();
}

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
                      const RunnerOptions& options, double* progress) {
  outputs::Run run = described(plan);
  const auto start = std::chrono::steady_clock::now();
  const auto limits = runs.empty() ? std::vector<cluster::TimelineLimits>() : options.recordings.limits();
  run.record = simulate(plan, data, threads, progress, limits);
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
      : options_(options), unwritten_(unwritten), finished_(plan) {
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
    const int cores = std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
    jobs_ = std::min(options.jobs > 0 ? options.jobs : cores, std::max(1, static_cast<int>(queue_.size())));
    threads_ = options.threads >= 0 ? options.threads : cores / jobs_;
  }

  /// Runs everything, and writes the file of each run as soon as the run is final.
  void run() {
    DataCache data_cache;
    check_data(queue_, data_cache);
    base::make_directory(options_.out + "/runs");
    prepare(options_.out, options_.recordings);
    Children children(jobs_);
    for (std::size_t next = 0; (next < queue_.size() || !children.empty()) && !interrupted();) {
      if (next < queue_.size() && !children.full()) {
        start(children, next, data_cache.get(*queue_[next]));
        ++next;
      } else if (const auto ended = children.reap(0.2)) {
        collect(*ended);
      }
      report_progress(children);
    }
    while (const auto ended = children.reap(0.0)) collect(*ended);  // children that ended before the interrupt
  }

  const FinishedRuns& finished() const { return finished_; }

  /// Writes the files of finished runs that an interrupt has left without their comparisons.
  void write_others(const std::vector<outputs::Run>& runs) {
    for (const outputs::Run& run : runs)
      if (!written_.contains(run.id)) write(run);
  }

 private:
  void start(Children& children, std::size_t task, const Data& data) {
    const RunPlan& plan = *queue_[task];
    children.start(
        task, [&](double* progress) { return simulated(plan, runs_[plan.work], data, threads_, options_, progress); });
  }

  void collect(const Children::Ended& ended) {
    const RunPlan& plan = *queue_[ended.task];
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
    if (std::ranges::find(runs_[plan.work], &plan) == runs_[plan.work].end()) write(run);  // not one of the table
    for (const RunPlan* final : finished_.add(plan.work, std::move(run))) write(finished_.run(*final));
  }

  void write(const outputs::Run& run) {
    written_.insert(run.id);
    unwritten_.attempt([&] {
      outputs::write_file(fmt::format("{}/runs/{}.json", options_.out, run.id),
                          outputs::compact(outputs::to_json(run)));
    });
  }

  void report_progress(const Children& children) {
    if (!options_.progress) return;
    const auto all = static_cast<int>(queue_.size());
    const auto done = static_cast<int>(finished_.size());
    // A child that has finished its run has yet to end.
    const double share = (done + children.progress()) / all;
    options_.progress(done, all, done == all ? 1.0 : std::min(share, 0.99));
  }

  const RunnerOptions& options_;
  Unwritten& unwritten_;
  FinishedRuns finished_;
  std::vector<const RunPlan*> queue_;
  std::map<std::string, std::vector<const RunPlan*>> runs_;  ///< by work: the plan's
  std::set<std::string> written_;                            ///< ids
  int jobs_ = 1;
  int threads_ = 0;
};

}  // namespace

void check_files(const Plan& plan, std::uintmax_t most_bytes) {
  std::vector<const RunPlan*> readable;
  for (const RunPlan& run : plan.runs) {
    const Settings& settings = *run.settings;
    if (!settings.training.numbers || !settings.data.source) continue;
    const std::vector<std::string> files = settings.data.source->files();
    std::uintmax_t bytes = 0;
    bool sized = !files.empty();
    for (const std::string& file : files) {
      std::error_code none;  // a pipe has no size
      bytes += std::filesystem::file_size(file, none);
      sized = sized && !none;
    }
    if (sized && bytes <= most_bytes) readable.push_back(&run);
  }
  DataCache data_cache;
  check_data(readable, data_cache);
}

outputs::Results run_plan(const Plan& plan, const RunnerOptions& options) {
  watch_for_interrupts();
  Unwritten unwritten(options);
  Execution execution(plan, options, unwritten);
  execution.run();
  outputs::Results results;
  results.name = plan.name;
  results.title = plan.title;
  results.version = version;
  results.command = plan.command;
  results.scenario = plan.scenario;
  results.runs = execution.finished().runs(plan.runs);
  results.baselines = execution.finished().runs(plan.baselines);
  results.complete = results.runs.size() == plan.runs.size() && results.baselines.size() == plan.baselines.size();
  // An interrupt before any run is finished keeps the files of an earlier call.
  if (results.runs.empty() && interrupted()) return results;
  execution.write_others(results.runs);
  unwritten.attempt([&] { outputs::write_all(results, options.out); });
  unwritten.raise_if_untold();
  return results;
}

}  // namespace simgrad::experiment
