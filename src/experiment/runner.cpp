#include "experiment/runner.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <map>
#include <set>
#include <thread>
#include <utility>

#include "base/errors.h"
#include "base/files.h"
#include "base/version.h"
#include "experiment/children.h"
#include "experiment/simulate.h"

namespace simgrad::experiment {

namespace {

/// The data of the run at hand; runs are done in an order that changes them seldom.
class Shelf {
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

/// The fault of a file names its place in the file; any other is of the scenario's [data].
void add_fault(const Settings& settings, const std::string& text, scenario::Faults& faults) {
  const std::vector<std::string> files = settings.data.source->files();
  const bool placed = std::ranges::any_of(files, [&](const std::string& file) { return text.starts_with(file); });
  faults.add(placed ? scenario::Position() : settings.places.data, text);
}

/// Every file is read, and every kind of data made, once before the first run starts: their faults come first.
void check_data(const std::vector<const RunPlan*>& runs, Shelf& shelf) {
  // A seed draws other rows, but not another number of them: data are told apart as those of one seed.
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
  for (auto key = order.rbegin(); key != order.rend();
       ++key) {  // so that the first run's data are on the shelf at last
    const Settings& first = *users[*key].front()->settings;
    try {
      const Data& data = shelf.get(*users[*key].front());
      if (!data) continue;
      for (const RunPlan* run : users[*key]) check_fit(*run->settings, problem_of(*data), data->train.rows, faults);
    } catch (const base::ScenarioError& error) {
      for (const std::string& text : error.faults()) add_fault(first, text, faults);
    }
  }
  faults.raise_if_any();
}

/// Runs on the same data one after the other; otherwise in their order.
void group_by_data(std::vector<const RunPlan*>& runs) {
  std::map<std::string, std::size_t> first_seen;
  std::vector<std::pair<std::size_t, const RunPlan*>> ranked;
  for (const RunPlan* run : runs)
    ranked.emplace_back(first_seen.try_emplace(run->data_key(), first_seen.size()).first->second, run);
  std::ranges::stable_sort(ranked, {}, &std::pair<std::size_t, const RunPlan*>::first);
  std::ranges::transform(ranked, runs.begin(), &std::pair<std::size_t, const RunPlan*>::second);
}

std::string file_of(const RunnerOptions& options, const std::string& id) {
  return fmt::format("{}/runs/{}.json", options.out, id);
}

outputs::Run described(const RunPlan& plan) {
  outputs::Run run;
  run.id = plan.id;
  run.strategy = plan.kind;
  run.label = plan.label;
  run.options = plan.options;
  run.parameters = plan.parameters;
  run.seed = plan.seed;
  run.workers = plan.workers;
  return run;
}

/// runs: the plan's that it stands for.
void simulate_into(const RunPlan& plan, const std::vector<const RunPlan*>& runs, const Data& data, int threads,
                   const RunnerOptions& options, double* progress) {
  outputs::Run run = described(plan);
  const auto start = std::chrono::steady_clock::now();
  const auto tapes = runs.empty() ? std::vector<cluster::TimelineLimits>() : options.recordings.tapes();
  run.record = simulate(plan, data, threads, progress, tapes);
  run.wall_s = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  // First, so that the record stands whatever becomes of the recordings.
  outputs::write_file(file_of(options, plan.id), outputs::to_json(run).dump());
  try {
    if (!runs.empty()) write_recordings(options.out, runs, run.record, options.recordings);
  } catch (const base::EnvironmentError& fault) {
    throw UnwrittenError(fault.what());
  }
}

/// What each piece of work came to, by its name.
using Done = std::map<std::string, outputs::Run>;

/// The files that could not be written: told as they are found, or thrown in the end.
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
      : options_(options), unwritten_(unwritten) {
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

  Done run() {
    Shelf shelf;
    check_data(queue_, shelf);
    base::make_directory(options_.out + "/runs");
    prepare(options_.out, options_.recordings);
    Children children(jobs_);
    for (std::size_t next = 0; (next < queue_.size() || !children.empty()) && !interrupted();) {
      if (next < queue_.size() && !children.full()) {
        start(children, next, shelf.get(*queue_[next]));
        ++next;
      } else if (const auto ended = children.reap(0.2)) {
        collect(*ended);
      }
      tell(children);
    }
    while (const auto ended = children.reap(0.0)) collect(*ended);  // those that had ended when an interrupt came
    return std::move(done_);
  }

 private:
  void start(Children& children, std::size_t task, const Data& data) {
    const RunPlan& plan = *queue_[task];
    children.start(
        task, [&](double* progress) { simulate_into(plan, runs_[plan.work], data, threads_, options_, progress); });
  }

  void collect(const Children::Ended& ended) {
    const RunPlan& plan = *queue_[ended.task];
    outputs::Run run = described(plan);
    if (!ended.unwritten.empty()) unwritten_.add(ended.unwritten);
    if (ended.error.empty()) {
      run = outputs::run_from_json(outputs::parse_json(outputs::read_file(file_of(options_, plan.id))));
    } else {
      run.record.status = record::Status::failed;
      run.record.error = ended.error;
      run.wall_s = ended.wall_s;
      outputs::write_file(file_of(options_, plan.id), outputs::to_json(run).dump());
    }
    done_.emplace(plan.work, std::move(run));
  }

  void tell(const Children& children) {
    if (!options_.progress) return;
    const auto all = static_cast<int>(queue_.size());
    const auto done = static_cast<int>(done_.size());
    // A child that is through with its run has yet to end.
    const double share = (done + children.progress()) / all;
    options_.progress(done, all, done == all ? 1.0 : std::min(share, 0.99));
  }

  const RunnerOptions& options_;
  Unwritten& unwritten_;
  std::vector<const RunPlan*> queue_;
  std::map<std::string, std::vector<const RunPlan*>> runs_;  ///< by work: the plan's
  int jobs_ = 1;
  int threads_ = 0;
  Done done_;
};

/// The runs of the plan that are done, in its order; one piece of work may stand for several.
std::vector<outputs::Run> collect(const std::vector<RunPlan>& plans, const Done& done) {
  std::vector<outputs::Run> runs;
  for (const RunPlan& plan : plans) {
    const auto found = done.find(plan.work);
    if (found == done.end()) continue;
    outputs::Run run = described(plan);
    run.record = found->second.record;
    run.wall_s = found->second.wall_s;
    if (run.record.status != record::Status::failed) run.bill = outputs::bill(run.record, plan.settings->prices);
    runs.push_back(std::move(run));
  }
  return runs;
}

}  // namespace

void compare_with_baselines(const Plan& plan, outputs::Results& results) {
  std::map<std::string, const outputs::Run*> by_id;
  for (const outputs::Run& run : results.baselines) by_id[run.id] = &run;
  std::map<std::string, std::string> baseline_of;
  for (const RunPlan& run : plan.runs) baseline_of[run.id] = run.baseline;
  const auto rate = [](const record::Record& record) {
    return record.simulated_s > 0.0 ? static_cast<double>(record.samples) / record.simulated_s : 0.0;
  };
  for (outputs::Run& run : results.runs) {
    const auto found = by_id.find(baseline_of[run.id]);
    if (found == by_id.end() || run.record.status == record::Status::failed ||
        found->second->record.status == record::Status::failed)
      continue;
    const record::Record& alone = found->second->record;
    if (rate(alone) > 0.0 && rate(run.record) > 0.0) {
      run.speedup_throughput = rate(run.record) / rate(alone);
      run.efficiency = *run.speedup_throughput / static_cast<double>(run.workers);
    }
    const auto& target = run.record.time_to_target_s;
    if (target && alone.time_to_target_s && *target > 0.0)
      run.speedup_time_to_target = *alone.time_to_target_s / *target;
  }
}

namespace {

/// How much longer a job takes beside the others than by itself: to the target, or to its end.
void compare_with_alone(const Plan& plan, const Done& done, outputs::Results& results) {
  std::map<std::string, std::string> alone;
  for (const RunPlan& run : plan.runs) alone[run.id] = run.alone;
  for (outputs::Run& run : results.runs) {
    const auto found = done.find(alone[run.id]);
    if (found == done.end() || run.record.status == record::Status::failed ||
        found->second.record.status == record::Status::failed)
      continue;
    const record::Record& by_itself = found->second.record;
    const bool targets = run.record.time_to_target_s && by_itself.time_to_target_s;
    const double before = targets ? *by_itself.time_to_target_s : by_itself.simulated_s;
    const double now = targets ? *run.record.time_to_target_s : run.record.simulated_s;
    if (!(before > 0.0)) continue;
    run.interference = now / before;
    run.record.notes.push_back(
        fmt::format("{}: {:.4g} s beside the other jobs, {:.4g} s by itself: interference {:.3f}", run.label, now,
                    before, *run.interference));
  }
}

}  // namespace

outputs::Results run_plan(const Plan& plan, const RunnerOptions& options) {
  watch_for_interrupts();
  Unwritten unwritten(options);
  const Done done = Execution(plan, options, unwritten).run();
  outputs::Results results;
  results.name = plan.name;
  results.title = plan.title;
  results.version = version;
  results.command = plan.command;
  results.scenario = plan.scenario;
  results.runs = collect(plan.runs, done);
  results.baselines = collect(plan.baselines, done);
  results.complete = results.runs.size() == plan.runs.size() && results.baselines.size() == plan.baselines.size();
  compare_with_baselines(plan, results);
  compare_with_alone(plan, done, results);
  // An interrupt before anything is finished leaves what an earlier call wrote.
  if (results.runs.empty() && interrupted()) return results;
  for (const outputs::Run& run : results.runs)
    unwritten.attempt([&] { outputs::write_file(file_of(options, run.id), outputs::to_json(run).dump()); });
  unwritten.attempt([&] { outputs::write_all(results, options.out); });
  unwritten.raise_if_untold();
  return results;
}

}  // namespace simgrad::experiment
