#include "experiment/run/execution.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <limits>
#include <new>
#include <set>
#include <stdexcept>
#include <tuple>
#include <utility>

#include "base/errors.h"
#include "base/files.h"
#include "data/limits.h"
#include "experiment/run/effort.h"
#include "experiment/run/piece_of_work.h"
#include "experiment/run/slowness.h"
#include "experiment/saved/model_file.h"
#include "outputs/summary.h"
#include "outputs/timelines/timeline.h"

namespace simgrad::experiment {

Execution::Execution(const Plan& plan, std::vector<const RunPlan*> pieces, const RunnerOptions& options,
                     Unwritten& unwritten)
    : options_(options),
      unwritten_(unwritten),
      finished_(plan),
      queue_(std::move(pieces)),
      store_(options.out, options.tell),
      shared_numbers_(options.out, {.reads = !options.again, .states = !options.limits.memory_bytes}, options.tell),
      data_cache_(options.limits.memory_bytes, jobs_and_threads(1, options.threads, 1).second) {
  if (options.race) race_.emplace(plan);
  for (const RunPlan& run : plan.runs) runs_[run.work].push_back(&run);
}

void Execution::run() {
  if (!options_.again) take_finished();
  std::erase_if(queue_, [&](const RunPlan* run) { return dropped(*run); });
  prepare(options_.out, options_.recordings);
  if (std::ranges::any_of(queue_, [](const RunPlan* run) { return run->settings->save_model; }))
    base::make_directory(options_.out + "/models");
  std::tie(jobs_, threads_) = jobs_and_threads(options_.jobs, options_.threads, queue_.size());
  std::vector<std::string> groups;
  for (const RunPlan* run : queue_) groups.push_back(fmt::format("{}/{}", run->label, run->workers));
  pace_.emplace(groups, jobs_);
  schedule_.emplace(queue_);
  numbers_from_.resize(queue_.size());
  if (options_.share_numbers)
    for (const RunPlan* run : queue_) shared_numbers_.expect(*run);
  Children children(jobs_, options_.limits);
  const auto over = [&] { return interrupted() || (options_.goes_on && !options_.goes_on()); };
  while ((!schedule_->empty() || !children.empty()) && !over()) {
    const auto next =
        children.full() ? std::nullopt : schedule_->take([&](std::size_t task) { return may_start(task); });
    if (next) {
      if (!start(children, *next)) schedule_->put_back(*next);
    } else {
      base::check(!children.empty(), "some run may start while none is under way");
      if (const auto ended = children.reap(0.2)) collect(*ended);
    }
    report_progress(children);
    tell_slow_runs(children);
  }
  while (const auto ended = children.reap(0.0)) collect(*ended);  // children that ended before that
  tell_of_kept_numbers();
}

void Execution::tell_of_kept_numbers() const {
  if (with_kept_numbers_ == 0 || !options_.tell) return;
  options_.tell(
      fmt::format("the numbers of {} run{} come from {}/trajectories, where an earlier command has left them; "
                  "--own-numbers computes them",
                  with_kept_numbers_, with_kept_numbers_ == 1 ? "" : "s", options_.out));
}

void Execution::leave_out_dropped(outputs::Results& results, const Plan& plan) const {
  if (!race_) return;
  std::set<std::string> dropped;
  for (const RunPlan& run : plan.runs)
    if (race_->dropped(run)) dropped.insert(run.id);
  std::erase_if(results.runs, [&](const outputs::Run& run) { return dropped.contains(run.id); });
  results.dropped = race_->all_dropped();
  results.complete =
      results.runs.size() == plan.runs.size() - dropped.size() && results.baselines.size() == plan.baselines.size();
}

bool Execution::may_start(std::size_t task) {
  const RunPlan& plan = *queue_[task];
  const std::vector<const RunPlan*>& runs = runs_[plan.work];
  const bool open =
      !race_ || runs.empty() || std::ranges::any_of(runs, [&](const RunPlan* run) { return race_->open(*run); });
  return open && shared_numbers_.source(plan) != NumbersFrom::another_run;
}

namespace {

/// A heap of its own pays for a small simulation; numbers beside the times of another model take a child more.
base::ChildOptions child_options(const RunPlan& plan) {
  constexpr std::int64_t small = 1024;  // workers
  return {.own_heap = plan.workers <= small && !plan.settings->model.proxied()};
}

}  // namespace

bool Execution::start(Children& children, std::size_t task) {
  const RunPlan& plan = *queue_[task];
  Data data;
  try {
    data = data_cache_.get(plan);
  } catch (const std::runtime_error& fault) {
    collect({.task = task, .error = fault.what()});
    return true;
  } catch (const std::bad_alloc&) {
    collect({.task = task, .error = "not enough memory for the data"});
    return true;
  }
  const NumbersFrom from = shared_numbers_.source(plan);
  Numbers numbers{.trajectory = nullptr, .all_known = from == NumbersFrom::known};
  if (from != NumbersFrom::itself) numbers.trajectory = &shared_numbers_.trajectory(plan);
  StateFiles states;
  if (from == NumbersFrom::state) states.from = shared_numbers_.state_file(plan);
  if (shared_numbers_.leaves_state(plan)) states.to = shared_numbers_.state_file(plan);
  states.shared = shared_numbers_.shared(plan);
  const int threads = threads_of(plan, from, children);
  const auto body = [&](training::Pulse* pulse) {
    const auto meet = meeting_on_.find(task);
    const RunPlan& chosen = meet == meeting_on_.end() ? plan : another_way(plan, meet->second);
    return simulated(chosen, runs_[plan.work], data, numbers, states, threads, options_, pulse);
  };
  const double data_bytes = data ? data::held_bytes(*data) : 0.0;
  const bool started = children.start(task, body, child_options(plan), data_bytes);
  if (!started) return false;
  numbers_from_[task] = from;
  shared_numbers_.started(plan, from);
  if (from == NumbersFrom::known) pace_->regroup(task, fmt::format("{}/{} timeline", plan.label, plan.workers));
  if (from == NumbersFrom::state) pace_->regroup(task, fmt::format("{}/{} from a state", plan.label, plan.workers));
  return true;
}

int Execution::threads_of(const RunPlan& plan, NumbersFrom from, const Children& children) {
  // Only a run that others may wait for leaves processors idle.
  if (options_.threads >= 0 || jobs_ == 1 || !shared_numbers_.shared(plan) || from == NumbersFrom::known)
    return threads_;
  std::size_t at_a_time = children.running().size() + 1;
  const auto beside = [&](std::size_t other) {
    return !shared_numbers_.are_common(*queue_[other], plan) && may_start(other);
  };
  at_a_time += schedule_->count_if(beside, static_cast<std::size_t>(jobs_));
  return jobs_and_threads(std::min(jobs_, static_cast<int>(at_a_time)), -1, at_a_time).second;
}

void Execution::take_finished() {
  if (options_.recordings.more()) return;  // a trace or a list of events is made by simulating
  std::vector<const RunPlan*> missing;
  bool timelines = false, models = false;  // that are lacking
  for (const RunPlan* plan : queue_) {
    auto run = taken(*plan);
    const bool lacks_timeline = !has_timelines(*plan), lacks_model = !has_models(*plan);
    if (run && !lacks_timeline && !lacks_model) {
      finish(*plan, std::move(*run));
      continue;
    }
    timelines = timelines || (run && lacks_timeline);
    models = models || (run && lacks_model);
    if (run) without_file_.emplace(plan->work, std::move(*run));
    missing.push_back(plan);
  }
  taken_ = queue_.size() - missing.size();
  if (taken_ > 0 && options_.tell)
    options_.tell(
        fmt::format("{} of {} runs are in {} already; --force does them again", taken_, queue_.size(), options_.out));
  if (!without_file_.empty() && options_.tell)
    options_.tell(fmt::format("{} of {} runs are simulated again for their {}; their results stay",
                              without_file_.size(), queue_.size(),
                              !models      ? "timelines"
                              : !timelines ? "models"
                                           : "timelines and models"));
  queue_ = std::move(missing);
}

std::optional<outputs::Run> Execution::taken(const RunPlan& plan) {
  const std::vector<const RunPlan*>& runs = runs_[plan.work];
  for (const RunPlan* run : runs)
    if (auto record = store_.take(*run)) return record;
  return store_.take(plan);
}

bool Execution::has_timelines(const RunPlan& plan) const {
  const auto runs = runs_.find(plan.work);
  return runs == runs_.end() || std::ranges::all_of(runs->second, [&](const RunPlan* run) {
           return !run->keeps_timeline || outputs::has_timeline(options_.out, stem_of(*run));
         });
}

bool Execution::has_models(const RunPlan& plan) const {
  const auto runs = runs_.find(plan.work);
  return runs == runs_.end() || std::ranges::all_of(runs->second, [&](const RunPlan* run) {
           return !run->settings->save_model || has_model(options_.out, stem_of(*run));
         });
}

outputs::Run Execution::as_finished_before(const RunPlan& plan, outputs::Run run) {
  auto before = without_file_.extract(plan.work);
  if (before.empty()) return run;
  if (run.record.status == record::Status::failed && options_.tell)
    options_.tell(
        fmt::format("{}: no timeline or model, since the run failed this time: {}", run_name(plan), run.record.error));
  return std::move(before.mapped());
}

void Execution::collect(const Children::Ended& ended) {
  const RunPlan& plan = *queue_[ended.task];
  outputs::Run run = described(plan);
  std::string numbers;
  if (ended.error.empty()) {
    const nlohmann::ordered_json answer = outputs::parse_json(ended.answer);
    if (answer.contains("lacking")) {
      if (const std::string told = answer.at("told"); !told.empty() && options_.tell) options_.tell(told);
      return do_with_numbers(ended.task);
    }
    if (answer.contains("meet")) return do_another_way(ended.task, answer.at("meet"));
    run = outputs::run_from_json(answer.at("run"));
    if (const auto meet = meeting_on_.find(ended.task); meet != meeting_on_.end())
      run.record.notes.push_back(note_on_another_way(meet->second));
    if (const std::string fault = answer.at("unwritten"); !fault.empty()) unwritten_.add(fault);
    numbers = answer.at("numbers");
    if (const std::string told = answer.at("told"); !told.empty() && options_.tell) options_.tell(told);
  } else {
    run.record.status = record::Status::failed;
    run.record.error = ended.error;
    run.wall_s = ended.wall_s;
  }
  if (shared_numbers_.from_file(plan)) ++with_kept_numbers_;
  unwritten_.attempt([&] {
    shared_numbers_.ended(plan, numbers_from_[ended.task], numbers, run.record.status != record::Status::failed,
                          effort_s(plan, run.record));
  });
  note_pace(ended.task, ended.wall_s);
  tell_once(evaluation_advice(plan, ended.pulse));
  finish(plan, as_finished_before(plan, std::move(run)));
}

void Execution::do_with_numbers(std::size_t task) {
  const RunPlan& plan = *queue_[task];
  shared_numbers_.lacked(plan, numbers_from_[task]);
  pace_->regroup(task, fmt::format("{}/{}", plan.label, plan.workers));
  schedule_->put_back(task);
}

void Execution::do_another_way(std::size_t task, const std::string& link) {
  const RunPlan& plan = *queue_[task];
  meeting_on_[task] = link;
  shared_numbers_.put_back(plan);
  pace_->regroup(task, fmt::format("{}/{} another way", plan.label, plan.workers));
  schedule_->put_back(task);
}

void Execution::note_pace(std::size_t task, double wall_s) {
  const bool first_of_its_kind = !pace_->expected_s(task);
  pace_->ended(task, wall_s);
  if (!first_of_its_kind) return;
  schedule_->sort_by(
      [&](std::size_t run) { return pace_->expected_s(run).value_or(std::numeric_limits<double>::infinity()); });
}

void Execution::finish(const RunPlan& plan, outputs::Run run) {
  const std::vector<const RunPlan*>& runs = runs_[plan.work];
  if (std::ranges::find(runs, &plan) == runs.end()) write(run);  // not one of the table
  if (run.record.status == record::Status::failed) ++failed_;
  if (!runs.empty()) best_.add(*runs.front(), run.record);
  const std::vector<const RunPlan*> final = finished_.add(plan.work, std::move(run));
  if (race_) race(runs);
  for (const RunPlan* each : runs) write(finished_.run(*each));
  for (const RunPlan* each : final)
    if (each->work != plan.work) write(finished_.run(*each));
}

void Execution::race(const std::vector<const RunPlan*>& runs) {
  bool some = false;
  for (const RunPlan* run : runs) some = race_->finished(*run, finished_.run(*run)) || some;
  if (!some || !schedule_) return;
  left_out_ += schedule_->remove_if([&](std::size_t task) {
    if (!dropped(*queue_[task])) return false;
    shared_numbers_.forget(*queue_[task]);
    pace_->removed(task);
    return true;
  });
}

bool Execution::dropped(const RunPlan& work) {
  const std::vector<const RunPlan*>& runs = runs_[work.work];
  return race_ && !runs.empty() && std::ranges::all_of(runs, [&](const RunPlan* run) { return race_->dropped(*run); });
}

void Execution::write(const outputs::Run& run) {
  unwritten_.attempt([&] { store_.put(run); });
}

void Execution::report_progress(const Children& children) {
  if (!options_.progress) return;
  for (const Children::Running& run : children.running()) pace_->at(run.task, run.pulse.share, run.elapsed_s);
  const auto all = static_cast<int>(queue_.size() - left_out_);
  const auto done = static_cast<int>(finished_.size() - taken_);
  // A child that has finished its run has yet to end. A run that goes back to a checkpoint was further before.
  const double share = done == all ? 1.0 : std::min((done + children.progress()) / all, 0.99);
  share_ = std::max(share_, share);
  Advance advance{.done = done,
                  .all = all,
                  .failed = failed_,
                  .share = share_,
                  .left_s = pace_->left_s(),
                  .running = {},
                  .best = best_.text()};
  for (const Children::Running& run : children.running())
    advance.running.push_back({run_name(*queue_[run.task]), std::clamp(run.pulse.share, 0.0, 1.0), run.elapsed_s});
  options_.progress(advance);
}

void Execution::tell_slow_runs(const Children& children) {
  for (const Children::Running& run : children.running())
    tell_once(slow_run(*queue_[run.task], run.pulse, run.elapsed_s, threads_));
}

void Execution::tell_once(const std::string& text) {
  if (text.empty() || told_ || !options_.tell) return;
  told_ = true;
  options_.tell(text);
}

}  // namespace simgrad::experiment
