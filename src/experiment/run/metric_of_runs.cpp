#include "experiment/run/metric_of_runs.h"

#include <fmt/format.h>

#include <cmath>

#include "outputs/divergence.h"
#include "outputs/fields.h"
#include "outputs/seed_means.h"

namespace simgrad::experiment {

bool compares(std::string_view metric) {
  for (const char* beginning : {"simulated_s", "time_to_target", "speedup_", "efficiency", "cost_", "energy_", "co2e_"})
    if (metric.starts_with(beginning)) return true;
  return false;
}

bool to_target(std::string_view metric) { return metric.find("to_target") != std::string_view::npos; }

std::string divergence_text(const outputs::Run& run) {
  return fmt::format("the run diverged at step {} (seed {})", *outputs::diverged_step(run.record), run.seed);
}

std::string failure_text(const outputs::Run& run) {
  return fmt::format("the run failed: {} (seed {})", run.record.error, run.seed);
}

std::string why_null(const std::string& metric) {
  return to_target(metric) ? "the target was not reached" : "the run has no such number";
}

MeanOfSeeds mean_of(const std::string& metric, const Runs& seeds) {
  MeanOfSeeds mean;
  std::vector<double> numbers;
  for (const outputs::Run* run : seeds) {
    if (run->record.status == record::Status::failed)  // its numbers describe no training
      return {.fault = failure_text(*run)};
    const auto value = outputs::field(*run, metric);
    if (run->record.status == record::Status::diverged && (!value || compares(metric)))
      return {.fault = divergence_text(*run)};
    if (!value) return {.fault = fmt::format("found null: {} (seed {})", why_null(metric), run->seed)};
    mean.values[run->seed] = *value;
    numbers.push_back(*value);
  }
  const auto of_times = outputs::mean_of_ratio(seeds, metric);
  mean.of_seeds = of_times && std::isfinite(of_times->mean) ? *of_times : outputs::interval(numbers);
  return mean;
}

}  // namespace simgrad::experiment
