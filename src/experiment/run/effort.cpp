#include "experiment/run/effort.h"

#include <algorithm>
#include <limits>

#include "experiment/run/collective_ways.h"

namespace simgrad::experiment {

namespace {

/// Flops of all gradients, without those of sums and updates.
double gradient_flops(const RunPlan& run, const record::Record& record) {
  const Settings& settings = *run.settings;
  if (known_rows(settings)) return settings.model.model->gradient_flops(settings.problem(), record.samples);
  // The fastest worker is slowed down least.
  double least_s = std::numeric_limits<double>::infinity();
  double workers = 0.0;
  for (const record::RankUse& rank : record.ranks) {
    if (rank.role != "worker") continue;
    least_s = std::min(least_s, rank.compute_s);
    workers += 1.0;
  }
  return workers > 0.0 ? least_s * workers * settings.nominal_flops_per_s : 0.0;
}

/// Messages, or the members of computed collectives, each of which takes as long as some messages.
double transfers(const RunPlan& run, const record::Record& record) {
  constexpr double messages_a_member = 2.0;
  if (!were_computed(run, record)) return static_cast<double>(record.messages);
  double members = 0.0;
  for (const record::CollectiveUse& each : record.collectives)
    members += static_cast<double>(each.calls) * static_cast<double>(each.members);
  return messages_a_member * members;
}

}  // namespace

double effort_s(const RunPlan& run, const record::Record& record) {
  constexpr double event_s = 2e-6;     // a message, or an activity of a rank
  constexpr double numbers_s = 15e-6;  // what a rank computes in a step, without its flops
  constexpr double flops_per_s = 2.5e9;
  constexpr double activities_a_step = 4.0;
  const double rank_steps = static_cast<double>(record.ranks.size()) * static_cast<double>(record.steps);
  const double timing_s = event_s * (transfers(run, record) + activities_a_step * rank_steps);
  if (!run.settings->training.numbers) return timing_s;
  const double flops = gradient_flops(run, record);
  // A loss of all rows takes about a third of the flops of their gradients.
  const double passes = static_cast<double>(record.curve.size()) / 3.0;
  const double flops_a_pass = record.epochs > 0.0 ? flops / record.epochs : 0.0;
  return timing_s + numbers_s * rank_steps + (flops + passes * flops_a_pass) / flops_per_s;
}

}  // namespace simgrad::experiment
