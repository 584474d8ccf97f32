#include "experiment/run/estimate.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "experiment/run/children.h"
#include "experiment/run/data_cache.h"
#include "experiment/run/run_store.h"
#include "experiment/run/runner.h"
#include "experiment/run/shards.h"
#include "outputs/text/number_text.h"
#include "outputs/timelines/timeline.h"

namespace simgrad::experiment {

namespace {

using Clock = std::chrono::steady_clock;

constexpr std::uintmax_t readable_bytes = 64 << 20;

/// One run of a kind, tried for a while.
struct TimedTrial {
  double wall_s = 0.0;
  double evaluations = 0.0;  ///< of the whole run
};

/// Nothing if the run did not show within the time how far it was.
std::optional<TimedTrial> trial(const RunPlan& run, const Data& data, int threads, double slice_s) {
  Children child(1);
  child.start(0, [&](training::Pulse* pulse) {
    try {
      simulate(run, data, threads, pulse);
    } catch (const CollectivesMeet& meet) {
      return std::string("meet") + meet.what();
    }
    return std::string();
  });
  const auto start = Clock::now();
  const auto elapsed_s = [&] { return std::chrono::duration<double>(Clock::now() - start).count(); };
  constexpr double share_least = 0.001, patience = 4.0;
  for (;;) {
    const auto ended = child.reap(slice_s / 10.0);
    if (ended && !ended->error.empty()) return std::nullopt;
    if (ended && !ended->answer.empty())
      return trial(another_way(run, ended->answer.substr(4)), data, threads, slice_s);
    if (ended) return TimedTrial{ended->wall_s, static_cast<double>(ended->pulse.evaluations)};
    const training::Pulse pulse = child.running().front().pulse;
    const double taken_s = elapsed_s();
    if (taken_s >= slice_s && pulse.share > share_least)
      return TimedTrial{taken_s / pulse.share, static_cast<double>(pulse.evaluations) / pulse.share};
    if (taken_s >= patience * slice_s) return std::nullopt;
  }
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

std::string kind_of(const RunPlan& run) { return fmt::format("{}/{}", run.label, run.workers); }

/// Whether the record of a run that has not failed is there, and the timeline that is kept.
bool is_finished(const std::string& out, const RunPlan& run) {
  const RecordedRun stored = stored_run(out, run.id);
  return stored.run && stored.run->record.status != record::Status::failed &&
         (!run.keeps_timeline || outputs::has_timeline(out, run.id));
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

Estimate estimate(const Plan& plan, int jobs, int threads, double budget_s, const std::string& out) {
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
  // Every n-th kind, if there are too many for the budget; the others are taken for the mean.
  constexpr std::size_t trials_most = 24;
  const std::size_t every = (kinds.size() + trials_most - 1) / trials_most;
  const double slice_s = budget_s / static_cast<double>(std::min(kinds.size(), trials_most));
  std::map<std::string, TimedTrial> tried;
  DataCache data_cache;
  std::size_t k = 0;
  for (const auto& [kind, run] : kinds)
    if (k++ % every == 0)
      if (const auto result = trial(*run, data_cache.get(*run), threads_each, slice_s)) tried[kind] = *result;
  if (tried.empty()) {
    found.unknown = fmt::format("no run that was tried made a step in {:.1f} s, or it failed", 4.0 * slice_s);
    return found;
  }
  TimedTrial mean;
  for (const auto& [kind, each] : tried) {
    mean.wall_s += each.wall_s / static_cast<double>(tried.size());
    mean.evaluations += each.evaluations / static_cast<double>(tried.size());
  }
  double longest_s = 0.0;
  auto timelines = timelines_by_work(plan);
  for (const RunPlan* run : works) {
    const auto at = tried.find(kind_of(*run));
    const TimedTrial& taken = at == tried.end() ? mean : at->second;
    found.wall_s += taken.wall_s / at_a_time;
    longest_s = std::max(longest_s, taken.wall_s);
    found.bytes += bytes_of(taken, *run, timelines[run->work]);
  }
  found.wall_s = std::max(found.wall_s, longest_s);
  return found;
}

Estimate sum(const std::vector<Estimate>& estimates) {
  Estimate all;
  for (const Estimate& each : estimates) {
    all.runs += each.runs;
    all.finished += each.finished;
    all.wall_s += each.wall_s;
    all.bytes += each.bytes;
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
  return fmt::format("{}: about {} of real time, and {} of files beside the report{}", runs,
                     outputs::duration(estimate.wall_s), outputs::byte_count(estimate.bytes), finished);
}

}  // namespace simgrad::experiment
