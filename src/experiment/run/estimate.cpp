#include "experiment/run/estimate.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <vector>

#include "experiment/run/children.h"
#include "experiment/run/data_cache.h"
#include "experiment/run/runner.h"
#include "outputs/text/number_text.h"

namespace simgrad::experiment {

namespace {

using Clock = std::chrono::steady_clock;

constexpr std::uintmax_t readable_bytes = 64 << 20;

/// One run of a kind, tried for a while.
struct Trial {
  double wall_s = 0.0;
  double evaluations = 0.0;  ///< of the whole run
};

/// Nothing if the run did not show within the time how far it was.
std::optional<Trial> trial(const RunPlan& run, const Data& data, int threads, double slice_s) {
  Children child(1);
  child.start(0, [&](training::Pulse* pulse) {
    simulate(run, data, threads, pulse);
    return std::string();
  });
  const auto start = Clock::now();
  const auto elapsed_s = [&] { return std::chrono::duration<double>(Clock::now() - start).count(); };
  constexpr double share_least = 0.001, patience = 4.0;
  for (;;) {
    const auto ended = child.reap(slice_s / 10.0);
    if (ended && !ended->error.empty()) return std::nullopt;
    if (ended) return Trial{ended->wall_s, static_cast<double>(ended->pulse.evaluations)};
    const training::Pulse pulse = child.running().front().pulse;
    const double taken_s = elapsed_s();
    if (taken_s >= slice_s && pulse.share > share_least)
      return Trial{taken_s / pulse.share, static_cast<double>(pulse.evaluations) / pulse.share};
    if (taken_s >= patience * slice_s) return std::nullopt;
  }
}

/// The files of a run: its record twice, its rows of CSV, the timelines of its first steps. The numbers of bytes are
/// those of shipped scenarios.
double bytes_of(const Trial& trial, const RunPlan& run) {
  constexpr double json_a_row = 140.0, csv_a_row = 60.0, json_a_rank = 900.0, csv_a_rank = 350.0, timeline = 90e3;
  const double records =
      2.0 * (2000.0 + json_a_row * trial.evaluations + json_a_rank * static_cast<double>(run.workers));
  return records + csv_a_row * trial.evaluations + csv_a_rank * static_cast<double>(run.workers) + timeline;
}

std::string kind_of(const RunPlan& run) { return fmt::format("{}/{}", run.label, run.workers); }

/// The pieces of work of a plan, each once.
std::vector<const RunPlan*> works_of(const Plan& plan) {
  std::vector<const RunPlan*> works;
  std::set<std::string> known;
  for (const auto* runs : {&plan.baselines, &plan.alone, &plan.runs})
    for (const RunPlan& run : *runs)
      if (known.insert(run.work).second) works.push_back(&run);
  return works;
}

bool too_large(const RunPlan& run) {
  if (!run.settings->training.numbers) return false;
  const auto bytes = file_bytes(*run.settings);
  return bytes && *bytes > readable_bytes;
}

}  // namespace

Estimate estimate(const Plan& plan, int jobs, int threads, double budget_s) {
  const std::vector<const RunPlan*> works = works_of(plan);
  const auto [at_a_time, threads_each] = jobs_and_threads(jobs, threads, works.size());
  Estimate found{.runs = static_cast<int>(works.size())};
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
  std::map<std::string, Trial> tried;
  DataCache data_cache;
  std::size_t k = 0;
  for (const auto& [kind, run] : kinds)
    if (k++ % every == 0)
      if (const auto result = trial(*run, data_cache.get(*run), threads_each, slice_s)) tried[kind] = *result;
  if (tried.empty()) {
    found.unknown = fmt::format("no run that was tried made a step in {:.1f} s, or it failed", 4.0 * slice_s);
    return found;
  }
  Trial mean;
  for (const auto& [kind, each] : tried) {
    mean.wall_s += each.wall_s / static_cast<double>(tried.size());
    mean.evaluations += each.evaluations / static_cast<double>(tried.size());
  }
  double longest_s = 0.0;
  for (const RunPlan* run : works) {
    const auto at = tried.find(kind_of(*run));
    const Trial& taken = at == tried.end() ? mean : at->second;
    found.wall_s += taken.wall_s / at_a_time;
    longest_s = std::max(longest_s, taken.wall_s);
    found.bytes += bytes_of(taken, *run);
  }
  found.wall_s = std::max(found.wall_s, longest_s);
  return found;
}

std::string text(const Estimate& estimate) {
  const std::string runs = fmt::format("{} run{} to simulate", estimate.runs, estimate.runs == 1 ? "" : "s");
  if (!estimate.unknown.empty()) return fmt::format("{}; time not estimated: {}", runs, estimate.unknown);
  return fmt::format("{}: about {} of real time, and {} of files beside the report", runs,
                     outputs::duration(estimate.wall_s), outputs::byte_count(estimate.bytes));
}

}  // namespace simgrad::experiment
