// Waiting in the queue against the closed form for Poisson arrivals and exponential work.
#include <cmath>

#include "capacity/scripted.h"
#include "capacity/study.h"
#include "catch.h"
#include "outputs/statistics.h"

namespace waiting_test {

using namespace simgrad;
using namespace simgrad::capacity;

namespace {

/// The mean wait of so many servers.
/// Source: A. K. Erlang, "Solution of some problems in the theory of probabilities of significance in automatic
/// telephone exchanges", 1917 (the C formula).
double erlang_wait_s(int servers, double arrivals_per_s, double work_s) {
  const double load = arrivals_per_s * work_s;
  double term = 1.0, sum = 0.0;
  for (int k = 0; k < servers; term *= load / ++k) sum += term;
  const double waits = term / (1.0 - load / servers);
  return waits / (sum + waits) / (servers / work_s - arrivals_per_s);
}

}  // namespace

TEST_CASE("jobs of one server wait as long as Erlang's C formula says") {
  CHECK(erlang_wait_s(1, 0.5, 1.0) == Approx(1.0).epsilon(1e-12));  // M/M/1: rho / (mu - lambda)
  for (const int servers : {1, 3}) {
    experiment::CapacitySection capacity;
    capacity.horizon_s = 1e5;
    experiment::CapacityArrivals arrivals;
    arrivals.every_s = 2.0 / servers;
    arrivals.work_s = 1.0;
    capacity.arrivals = {arrivals};
    const cluster::NoFailures failures;
    const cluster::NoRepair repair;
    std::vector<double> means;
    for (std::uint64_t seed = 1; seed <= 12; ++seed) {
      const Work work = workload(capacity, {}, seed);
      const FleetOutcome outcome = simulate({.hosts = servers, .horizon_s = capacity.horizon_s},
                                            {.failures = failures, .repair = repair}, work.jobs);
      double sum = 0.0;
      for (const double wait_s : waits_s(work, outcome)) sum += wait_s;
      means.push_back(sum / static_cast<double>(work.jobs.size()));
    }
    const outputs::Interval found = outputs::interval(means);
    CHECK(std::abs(found.mean - erlang_wait_s(servers, 0.5 * servers, 1.0)) < 2.0 * (found.high - found.mean));
    CHECK(found.high - found.mean < 0.03 * found.mean);
  }
}

}  // namespace waiting_test
