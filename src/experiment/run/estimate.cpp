#include "experiment/run/estimate.h"

#include <fmt/format.h>
#include <sys/resource.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <vector>

#include "experiment/plan/numbers_key.h"
#include "experiment/run/children.h"
#include "experiment/run/data_cache.h"
#include "experiment/run/extrapolation.h"
#include "experiment/run/run_store.h"
#include "experiment/run/runner.h"
#include "experiment/run/shards.h"
#include "outputs/summary.h"
#include "outputs/text/number_text.h"
#include "outputs/timelines/timeline.h"

namespace simgrad::experiment {

namespace {

constexpr std::uintmax_t readable_bytes = 64 << 20;

/// The processor time of all children that have ended.
double ended_children_s() {
  struct rusage used = {};
  getrusage(RUSAGE_CHILDREN, &used);
  const auto seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + 1e-6 * static_cast<double>(time.tv_usec);
  };
  return seconds(used.ru_utime) + seconds(used.ru_stime);
}

/// The most memory that a child that has ended had at a time.
double largest_child_bytes() {
  constexpr double bytes_of_unit = 1024.0;  // as Linux counts
  struct rusage used = {};
  getrusage(RUSAGE_CHILDREN, &used);
  return bytes_of_unit * static_cast<double>(used.ru_maxrss);
}

/// Nothing if the run has failed. Of one that has not shown how far it was, no more than the start is known.
/// threads: for its numbers.  limit_s: real time.
std::optional<TimedTrial> looked_at(const RunPlan& run, const Data& data, int threads, double slice_s, double limit_s) {
  Children child(1);
  child.start(0, [&](training::Pulse* pulse) {
    try {
      simulate(run, data, threads, pulse);
    } catch (const CollectivesMeet& meet) {
      return std::string("meet") + meet.what();
    }
    return std::string();
  });
  constexpr double looks = 20.0;
  const double before_s = ended_children_s();
  std::optional<Moment> first;  // after the first step: the start is over
  for (;;) {
    const auto ended = child.reap(std::max(slice_s / looks, 1e-3));
    if (ended && !ended->error.empty()) return std::nullopt;
    if (ended && !ended->answer.empty())
      return looked_at(another_way(run, ended->answer.substr(4)), data, threads, slice_s, limit_s);
    if (ended) {
      Moment last{ended->pulse, ended->wall_s};
      last.pulse.processor_s = ended_children_s() - before_s;  // with all that comes after the last step
      return complete(last, threads);
    }
    const auto [task, elapsed_s, pulse] = child.running().front();
    const Moment now{pulse, elapsed_s};
    if (!first && pulse.share > 0.0) first = now;
    const bool paced = first && pulse.share > first->pulse.share;
    if (paced && now.since({}) >= slice_s) return whole(*first, now, threads);
    if (elapsed_s < limit_s) continue;
    // A single step may have taken all of the time.
    return paced ? whole(*first, now, threads) : first ? whole({}, *first, threads) : TimedTrial{.silent = true};
  }
}

/// As above; a run that has shown nothing takes at least the processor time that it has had.
std::optional<TimedTrial> trial(const RunPlan& run, const Data& data, int threads, double slice_s, double limit_s) {
  const double before_s = ended_children_s();
  std::optional<TimedTrial> found = looked_at(run, data, threads, slice_s, limit_s);
  if (found && found->silent) found->real_s = found->taken_s = ended_children_s() - before_s;
  return found;
}

/// Tries runs of different kinds, one after the other; those that end early leave their time to the others. Those that
/// show nothing may take three times the budget in all.
/// Returns trials by kind, without those that have failed.
std::map<std::string, TimedTrial> trials_of(const std::map<std::string, const RunPlan*>& kinds, int threads,
                                            double budget_s) {
  // Every n-th kind, if there are too many for the budget.
  constexpr std::size_t trials_most = 24;
  constexpr double patience = 4.0;
  const std::size_t every = (kinds.size() + trials_most - 1) / trials_most;
  std::size_t k = 0, left = (kinds.size() + every - 1) / every;
  double overtime_s = 3.0 * budget_s;
  std::map<std::string, TimedTrial> tried;
  DataCache data_cache;
  for (const auto& [kind, run] : kinds) {
    if (k++ % every != 0) continue;
    const double slice_s = budget_s / static_cast<double>(left--);
    const auto result =
        trial(*run, data_cache.get(*run), threads, slice_s, std::max(patience * slice_s, 0.5 * overtime_s));
    const double taken_s = result ? result->taken_s : slice_s;
    budget_s -= std::min(slice_s, taken_s);
    overtime_s -= std::clamp(taken_s - slice_s, 0.0, overtime_s);
    if (result) tried[kind] = *result;
  }
  return tried;
}

/// The files of a run: its record twice, its rows of CSV, the timelines that are kept. The numbers of bytes are those
/// of shipped scenarios. A timeline has a bounded number of spans.
double bytes_of(const TimedTrial& trial, const RunPlan& run, std::size_t timelines) {
  constexpr double json_a_row = 140.0, csv_a_row = 60.0, json_a_rank = 900.0, csv_a_rank = 350.0;
  constexpr double timeline_a_rank = 1e3, timeline_most = 9e3;
  const double timeline = std::min(timeline_most, timeline_a_rank * static_cast<double>(run.workers));
  const double records =
      2.0 * (2000.0 + json_a_row * trial.evaluations + json_a_rank * static_cast<double>(run.workers));
  return records + csv_a_row * trial.evaluations + csv_a_rank * static_cast<double>(run.workers) +
         timeline * static_cast<double>(timelines);
}

/// Runs of one kind take as long as each other, whatever their seeds. Two points of a grid may be unlike by far: one of
/// computed collectives, one message by message.
std::string kind_of(const RunPlan& run) {
  return fmt::format("{}/{}/{}", run.label, run.workers, outputs::compact(run.parameters));
}

/// Returns what is known of a run: the trial of its kind, else the mean of its strategy's, else of all.
TimedTrial known_of(const RunPlan& run, const std::map<std::string, TimedTrial>& tried) {
  if (const auto own = tried.find(kind_of(run)); own != tried.end()) return own->second;
  std::map<std::string, TimedTrial> alike;
  const std::string strategy = fmt::format("{}/{}/", run.label, run.workers);
  for (auto at = tried.lower_bound(strategy); at != tried.end() && at->first.starts_with(strategy); ++at)
    alike.insert(*at);
  return mean_of(alike.empty() ? tried : alike);
}

/// Whether the record of a run that has not failed is there, and the timeline that is kept.
bool is_finished(const std::string& out, const RunPlan& run) {
  const std::string stem = stem_of(run);
  const RecordedRun stored = stored_run(out, stem);
  return stored.run && stored.run->record.status != record::Status::failed &&
         (!run.keeps_timeline || outputs::has_timeline(out, stem));
}

/// The timelines that are kept, by the work of their runs.
std::map<std::string, std::size_t> timelines_by_work(const Plan& plan) {
  std::map<std::string, std::size_t> timelines;
  for (const RunPlan& run : plan.runs) timelines[run.work] += run.keeps_timeline ? 1 : 0;
  return timelines;
}

/// Leaves out the pieces of work whose runs are all in the directory.
void leave_out_finished(std::vector<const RunPlan*>& works, const Plan& plan, const std::string& out) {
  std::map<std::string, bool> finished;  // by work; a baseline has a record of its own where no run does its work
  for (const RunPlan& run : plan.runs) {
    const auto [at, fresh] = finished.try_emplace(run.work, true);
    at->second = at->second && is_finished(out, run);
  }
  std::erase_if(works, [&](const RunPlan* work) {
    const auto known = finished.find(work->work);
    return known == finished.end() ? is_finished(out, *work) : known->second;
  });
}

bool too_large(const RunPlan& run) {
  if (!run.settings->training.numbers) return false;
  const auto bytes = file_bytes(*run.settings);
  return bytes && *bytes > readable_bytes;
}

}  // namespace

Estimate estimate(const Plan& plan, int jobs, int threads, double budget_s, const std::string& out,
                  bool share_numbers) {
  std::vector<const RunPlan*> works = pieces_of_work(plan);
  const std::size_t all = works.size();
  if (!out.empty()) leave_out_finished(works, plan, out);
  const auto [at_a_time, threads_each] = jobs_and_threads(jobs, threads, works.size());
  Estimate found{.runs = static_cast<int>(works.size()), .finished = static_cast<int>(all - works.size())};
  if (works.empty()) return found;
  std::map<std::string, const RunPlan*> kinds;
  for (const RunPlan* run : works) {
    if (too_large(*run)) {
      found.unknown = "the data are too large to try a run";
      return found;
    }
    kinds.try_emplace(kind_of(*run), run);
  }
  const std::map<std::string, TimedTrial> tried = trials_of(kinds, threads_each, budget_s);
  if (std::ranges::all_of(tried, [](const auto& each) { return each.second.silent; })) {
    found.unknown = "no trial finished a step within some seconds, or all of them failed";
    return found;
  }
  found.run_bytes = largest_child_bytes();
  std::set<std::string> keys;
  auto timelines = timelines_by_work(plan);
  for (const RunPlan* run : works) {
    const TimedTrial taken = known_of(*run, tried);
    // The first of the runs with one key computes the numbers of all.
    const std::string key = share_numbers ? numbers_key(*run) : std::string();
    const bool known = !key.empty() && !keys.insert(key).second;
    found.wall_s += (taken.real_s - (known ? taken.numbers_s : 0.0)) / at_a_time;
    found.at_least = found.at_least || taken.silent;
    found.at_most = found.at_most || (!taken.ended && run->settings->stop.loss);
    found.longest_s = std::max(found.longest_s, taken.real_s);
    found.bytes += bytes_of(taken, *run, timelines[run->work]);
  }
  found.wall_s = std::max(found.wall_s, found.longest_s);
  return found;
}

Estimate sum(const std::vector<Estimate>& estimates) {
  Estimate all;
  for (const Estimate& each : estimates) {
    all.runs += each.runs;
    all.finished += each.finished;
    all.wall_s += each.wall_s;
    all.longest_s = std::max(all.longest_s, each.longest_s);
    all.bytes += each.bytes;
    all.run_bytes = std::max(all.run_bytes, each.run_bytes);
    all.at_least = all.at_least || each.at_least;
    all.at_most = all.at_most || each.at_most;
    if (all.unknown.empty()) all.unknown = each.unknown;
  }
  return all;
}

std::string text(const Estimate& estimate) {
  const std::string finished = estimate.finished == 0
                                   ? ""
                                   : fmt::format("; {} {} finished and not done again", estimate.finished,
                                                 estimate.finished == 1 ? "is" : "are");
  const std::string runs = fmt::format("{} run{} to simulate", estimate.runs, estimate.runs == 1 ? "" : "s");
  if (estimate.runs == 0) return runs + finished;
  if (!estimate.unknown.empty()) return fmt::format("{}; time not estimated: {}{}", runs, estimate.unknown, finished);
  return fmt::format("{}: {} {}{} of real time, and {} of files in addition to the report{}", runs,
                     estimate.at_least ? "at least" : "about", outputs::duration(estimate.wall_s),
                     estimate.at_most && !estimate.at_least ? ", or less where a target loss ends runs," : "",
                     outputs::byte_count(estimate.bytes), finished);
}

}  // namespace simgrad::experiment
