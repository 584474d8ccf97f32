// The closed form of a job's mean time among failures: against sums that are written out, and against the fleet.
#include <cmath>

#include "capacity/expected_time.h"
#include "capacity/fleet.h"
#include "catch.h"
#include "cluster/failures/processes.h"
#include "cluster/failures/spot.h"
#include "outputs/statistics.h"

namespace closed_form_test {

using namespace simgrad;
using namespace simgrad::capacity;

namespace {

constexpr double never_s = std::numeric_limits<double>::infinity();

/// The sum over all states of n servers, each of which is down with probability q, of those with `wanted`.
template <class Wanted>
double over_states(int n, double q, const Wanted& wanted) {
  double sum = 0.0;
  for (unsigned state = 0; state < 1U << n; ++state) {
    double probability = 1.0;
    int down = 0;
    for (int server = 0; server < n; ++server) {
      const bool fails = (state >> server & 1U) != 0;
      probability *= fails ? q : 1.0 - q;
      down += fails ? 1 : 0;
    }
    if (wanted(down)) sum += probability;
  }
  return sum;
}

/// A job of four servers, with repairs of 5 s. The fleet has been running for a while.
outputs::Interval simulated_s(double mtbf_s, int spares, const Computing& work, double detection_s, double restart_s) {
  constexpr int seeds = 3000;
  cluster::ExponentialFailures failures;
  failures.mean_s = mtbf_s;
  cluster::ConstantRepair repair;
  repair.time_s = 5.0;
  const FleetOptions options{.hosts = 4,
                             .spares = spares,
                             .horizon_s = 1e9,
                             .until_done = true,
                             .detection_s = detection_s,
                             .restart_s = restart_s,
                             .checkpoint_s = work.checkpoint_s,
                             .checkpoint_write_s = work.write_s};
  std::vector<double> times_s;
  for (int seed = 1; seed <= seeds; ++seed)
    times_s.push_back(
        simulate(options,
                 {.failures = failures, .repair = repair, .seed = static_cast<std::uint64_t>(seed), .warm_up_s = 200.0},
                 {{.hosts = 4, .work_s = work.work_s, .interval_s = work.interval_s}})
            .end_s);
  return outputs::interval(times_s);
}

}  // namespace

TEST_CASE("the mean time is the sum of the segments' times by Daly, and with writing behind the work by Vaidya") {
  const double M = 7.0, D = 0.3, R = 1.1;
  for (const double write_s : {0.0, 0.4, 3.5}) {
    const Computing work{.work_s = 20.5, .interval_s = 3.0, .checkpoint_s = 0.25, .write_s = write_s};
    const double stall_s = std::max(0.0, write_s - 3.0);
    double sum_s = 0.0;
    for (int segment = 1; segment <= 6; ++segment)
      sum_s += M * std::exp((D + R + write_s) / M) * (std::exp((3.0 + 0.25 + (segment > 1 ? stall_s : 0.0)) / M) - 1.0);
    sum_s += M * std::exp((D + R + write_s) / M) * (std::exp(2.5 / M) - 1.0);
    const JobFailures failures{.mtbf_s = M, .detection_s = D, .restart_s = R};
    CHECK(expected_time_s(work, failures) == Approx(sum_s).epsilon(1e-12));
  }
}

TEST_CASE("without failures the mean time is that of the work and its checkpoints, without checkpoints one segment's") {
  const Computing work{.work_s = 20.0, .interval_s = 4.0, .checkpoint_s = 0.5};
  CHECK(expected_time_s(work, {}) == 20.0 + 4.0 * 0.5);  // none behind the last interval
  CHECK(expected_time_s(work, {.mtbf_s = 1e12, .restart_s = 1.0}) == Approx(22.0).epsilon(1e-9));
  const Computing whole{.work_s = 20.0, .interval_s = never_s, .checkpoint_s = 0.5};
  CHECK(expected_time_s(whole, {.mtbf_s = 5.0}) == Approx(5.0 * (std::exp(4.0) - 1.0)).epsilon(1e-12));
  CHECK(std::isinf(expected_time_s({.work_s = 1e9, .interval_s = never_s}, {.mtbf_s = 1.0})));
}

TEST_CASE("waiting for repairs takes the share of time in which too few servers are up") {
  for (const double q : {0.01, 0.2})
    for (const int spares : {0, 1, 3}) {
      CAPTURE(q, spares);
      CHECK(enough_up(4, spares, q) ==
            Approx(over_states(4 + spares, q, [&](int down) { return down <= spares; })).epsilon(1e-12));
      const double all_taken = over_states(3 + spares, q, [&](int down) { return down == spares; });
      const double enough = over_states(3 + spares, q, [&](int down) { return down <= spares; });
      CHECK(no_spare_left(4, spares, q) == Approx(spares == 0 ? 1.0 : all_taken / enough).epsilon(1e-12));
    }
  CHECK(enough_up(400, 16, 0.0) == 1.0);
  CHECK(no_spare_left(400, 16, 0.0) == 0.0);
  const Computing work{.work_s = 8.0, .interval_s = 2.0, .checkpoint_s = 0.1};
  const JobFailures always{.mtbf_s = 9.0, .detection_s = 0.5, .restart_s = 1.0};
  JobFailures seldom = always;
  seldom.enough = 0.8;
  CHECK(expected_time_s(work, seldom) == Approx(expected_time_s(work, always) / 0.8).epsilon(1e-12));
  // A quarter of the failures wait for a repair, in which the detection passes.
  JobFailures waiting = always, quicker = always;
  waiting.no_spare = 0.25;
  waiting.repair_s = 60.0;
  quicker.detection_s = 0.375;
  CHECK(expected_time_s(work, waiting) == Approx(expected_time_s(work, quicker)).epsilon(1e-12));
}

TEST_CASE("a server's life is its process's, on the spot market that of interruptions") {
  cluster::ExponentialFailures failures;
  failures.mean_s = 300.0;
  cluster::ExponentialRepair repair;
  repair.mean = 20.0;
  const ServerLife life = server_life(failures, repair, 1);
  CHECK(life.mtbf_s == 300.0);
  CHECK(life.repair_s == 20.0);
  CHECK(life.down_share() == Approx(20.0 / 320.0).epsilon(1e-12));
  cluster::SpotMarket spot;
  spot.interruption_s = 500.0;
  spot.replacement_s = 25.0;
  CHECK(server_life(spot, cluster::NoRepair(), 1).mtbf_s == 500.0);
  CHECK(server_life(spot, cluster::NoRepair(), 1).repair_s == Approx(25.0).epsilon(1e-9));
  CHECK(std::isinf(server_life(cluster::NoFailures(), repair, 1).mtbf_s));
  const JobFailures job = failures_of_job(life, 4, 1, 2.0, 3.0);
  CHECK(job.mtbf_s == 75.0);
  CHECK(job.enough == enough_up(4, 1, 20.0 / 320.0));
}

TEST_CASE("the fleet's mean time is the closed form's for several times between failures") {
  const Computing work{.work_s = 60.0, .interval_s = 4.0, .checkpoint_s = 0.3};
  for (const double mtbf_s : {400.0, 100.0, 50.0})
    for (const int spares : {4, 1, 0}) {
      CAPTURE(mtbf_s, spares);
      const outputs::Interval found = simulated_s(mtbf_s, spares, work, 0.5, 1.0);
      const ServerLife life{.mtbf_s = mtbf_s, .repair_s = 5.0};
      const double expected = expected_time_s(work, failures_of_job(life, 4, spares, 0.5, 1.0));
      CHECK(std::abs(found.mean - expected) < 2.0 * (found.high - found.mean));  // four standard errors
      CHECK(found.high - found.mean < 0.02 * found.mean);
    }
}

}  // namespace closed_form_test
