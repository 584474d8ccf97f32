#include "outputs/seed_means.h"

#include <algorithm>
#include <cmath>

namespace simgrad::outputs {
namespace {

constexpr double least_speedup = 1e-6;
constexpr Interval none{nan, nan, nan};

/// The speed-up times the run's time is the time of its baseline. Files of older releases have speed-ups of runs that
/// diverged, too.
Interval speedup(const Group& runs, std::optional<double> Run::*of_seed, RunNumber time) {
  std::vector<double> alone, parallel;
  for (const Run* run : runs) {
    const auto ratio = run->*of_seed, s = time(*run);
    if (run->record.status == record::Status::diverged || !ratio || !s || !std::isfinite(*ratio * *s)) continue;
    alone.push_back(*ratio * *s);
    parallel.push_back(*s);
  }
  if (alone.empty()) return none;
  // One seed's ratio stays as it is, to the last bit.
  return alone.size() == 1 && runs.size() == 1 ? Interval{*(runs.front()->*of_seed), nan, nan}
                                               : ratio_of_means(alone, parallel);
}

Interval by_throughput(const Group& runs) { return speedup(runs, &Run::speedup_throughput, s_per_sample); }

Interval scaled(Interval all, double by) { return {all.mean * by, all.low * by, all.high * by}; }

}  // namespace

double samples_seen(const record::Record& record) {
  return static_cast<double>(record.samples_seen.value_or(record.samples));
}

std::optional<double> s_per_sample(const Run& run) {
  const double samples = samples_seen(run.record);
  return run.record.simulated_s > 0.0 && samples > 0.0 ? std::optional(run.record.simulated_s / samples) : std::nullopt;
}

Interval mean_of_seeds(const Group& runs, RunNumber number) {
  std::vector<double> numbers;
  for (const Run* run : runs)
    if (const std::optional<double> x = number(*run); x && std::isfinite(*x)) numbers.push_back(*x);
  return numbers.empty() ? none : interval(numbers);
}

Interval samples_per_s(const Group& runs) {
  const Interval s = mean_of_seeds(runs, s_per_sample);
  return {1.0 / s.mean, 1.0 / s.high, s.low > 0.0 ? 1.0 / s.low : nan};
}

bool has_idle_baseline(const Group& runs) { return by_throughput(runs).mean < least_speedup; }

Interval speedup_throughput(const Group& runs) { return has_idle_baseline(runs) ? none : by_throughput(runs); }

Interval speedup_to_target(const Group& runs) {
  if (has_idle_baseline(runs)) return none;
  return speedup(runs, &Run::speedup_time_to_target, [](const Run& run) { return run.record.time_to_target_s; });
}

Interval efficiency(const Group& runs) {
  return runs.empty() ? none : scaled(speedup_throughput(runs), 1.0 / static_cast<double>(runs.front()->workers));
}

std::optional<Interval> mean_of_ratio(const Group& runs, std::string_view field) {
  if (field == "speedup_throughput") return by_throughput(runs);
  if (field == "efficiency") return scaled(by_throughput(runs), 1.0 / static_cast<double>(runs.front()->workers));
  if (field == "speedup_time_to_target")
    return speedup(runs, &Run::speedup_time_to_target, [](const Run& run) { return run.record.time_to_target_s; });
  return std::nullopt;
}

}  // namespace simgrad::outputs
