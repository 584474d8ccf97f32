// The mean time to the end against the closed form for exponential failures.
#include <cmath>

#include "capacity/fleet.h"
#include "catch.h"
#include "cluster/failures/processes.h"
#include "outputs/statistics.h"
#include "training/checkpoints/checkpoint_clock.h"

namespace expected_time_test {

using namespace simgrad;
using namespace simgrad::capacity;

namespace {

/// A job of four servers with a failure every 10 s; there is always a spare.
struct Sample {
  double mtbf_s = 10.0;
  double checkpoint_s = 0.5;
  double restart_s = 1.0;
  double work_s = 30.0;

  std::vector<double> times_s(double interval_s, int seeds) const {
    constexpr int hosts = 4;
    cluster::ExponentialFailures failures;
    failures.mean_s = hosts * mtbf_s;
    cluster::ConstantRepair repair;
    repair.time_s = 0.01;
    const FleetOptions options{.hosts = hosts,
                               .spares = 8,
                               .horizon_s = 1e9,
                               .until_done = true,
                               .restart_s = restart_s,
                               .checkpoint_s = checkpoint_s};
    std::vector<double> all;
    for (int seed = 1; seed <= seeds; ++seed)
      all.push_back(simulate(options,
                             {.failures = failures, .repair = repair, .seed = static_cast<std::uint64_t>(seed)},
                             {{.hosts = hosts, .work_s = work_s, .interval_s = interval_s}})
                        .end_s);
    return all;
  }

  /// Source: J. T. Daly, "A higher order estimate of the optimum checkpoint interval for restart dumps", Future
  /// Generation Computer Systems 22, 2006: a segment of length L takes M e^(R/M) (e^(L/M) - 1) on average. Here the
  /// last segment has no checkpoint.
  double expected_s(double interval_s) const {
    const double segments = std::ceil(work_s / interval_s);
    const double last_s = work_s - (segments - 1.0) * interval_s;
    return mtbf_s * std::exp(restart_s / mtbf_s) *
           ((segments - 1.0) * std::expm1((interval_s + checkpoint_s) / mtbf_s) + std::expm1(last_s / mtbf_s));
  }
};

double mean(const std::vector<double>& numbers) {
  double sum = 0.0;
  for (const double number : numbers) sum += number;
  return sum / static_cast<double>(numbers.size());
}

}  // namespace

TEST_CASE("under exponential failures the mean time to the end is Daly's") {
  constexpr int seeds = 3000;
  for (const double interval_s : {1.0, 3.0, 10.0}) {
    CAPTURE(interval_s);
    const Sample sample;
    const outputs::Interval found = outputs::interval(sample.times_s(interval_s, seeds));
    const double half_s = found.high - found.mean;
    CHECK(std::abs(found.mean - sample.expected_s(interval_s)) < 2.0 * half_s);  // four standard errors
    CHECK(half_s < 0.03 * found.mean);
  }
}

TEST_CASE("a restart that takes longer lengthens the mean time as Daly says") {
  Sample sample;
  sample.restart_s = 4.0;
  const outputs::Interval found = outputs::interval(sample.times_s(3.0, 3000));
  CHECK(std::abs(found.mean - sample.expected_s(3.0)) < 2.0 * (found.high - found.mean));
}

TEST_CASE("Young's and Daly's intervals are within a per cent of the best of a scan") {
  Sample sample;
  sample.checkpoint_s = 0.05;
  constexpr int seeds = 400;
  double best_s = 1e300;
  for (double interval_s = 0.25; interval_s < 4.0; interval_s *= 1.2)
    best_s = std::min(best_s, mean(sample.times_s(interval_s, seeds)));
  const double young_s = training::young_interval_s(sample.mtbf_s, sample.checkpoint_s);
  const double daly_s = training::daly_interval_s(sample.mtbf_s, sample.checkpoint_s);
  CHECK(young_s == Approx(std::sqrt(2 * 0.05 * 10.0)).epsilon(1e-12));
  CHECK(mean(sample.times_s(young_s, seeds)) < 1.01 * best_s);
  CHECK(mean(sample.times_s(daly_s, seeds)) < 1.01 * best_s);
  CHECK(mean(sample.times_s(4.0 * daly_s, seeds)) > 1.03 * best_s);  // the scan tells intervals apart
}

}  // namespace expected_time_test
