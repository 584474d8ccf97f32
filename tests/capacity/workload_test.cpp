// The jobs of a scenario's section as the fleet's simulation takes them.
#include "capacity/workload.h"

#include <cmath>

#include "base/errors.h"
#include "catch.h"
#include "cluster/failures/processes.h"

namespace workload_test {

using namespace simgrad;
using namespace simgrad::capacity;
using experiment::CapacityArrivals;
using experiment::CapacityJob;
using experiment::CapacitySection;

namespace {

constexpr double exact = 1e-12;

CapacitySection section(double mtbf_s = 1000.0, double checkpoint_s = 2.0) {
  CapacitySection capacity;
  capacity.hosts = 8;
  capacity.checkpoint_s = checkpoint_s;
  capacity.failures.choose("exponential");
  dynamic_cast<cluster::ExponentialFailures&>(*capacity.failures.object()).mean_s = mtbf_s;
  return capacity;
}

}  // namespace

TEST_CASE("a job's interval is that of its servers' MTBF, in whole steps, rounded up") {
  const CapacitySection capacity = section();
  const double young_s = std::sqrt(2.0 * 2.0 * 1000.0 / 4);  // 31.6 s
  CHECK(interval_s("young", 4, 0.0, capacity) == Approx(young_s).epsilon(exact));
  CHECK(interval_s("young", 4, 5.0, capacity) == Approx(35.0).epsilon(exact));
  CHECK(interval_s("young", 4, 50.0, capacity) == Approx(50.0).epsilon(exact));  // one step at least
  CHECK(interval_s("30s", 4, 5.0, capacity) == Approx(30.0).epsilon(exact));
  CHECK(interval_s("0.3s", 4, 0.1, capacity) == Approx(0.3).epsilon(exact));  // 3 x 0.1 is above 0.3
  CHECK(std::isinf(interval_s({}, 4, 5.0, capacity)));
  // J. T. Daly (2006): sqrt(2 d M) (1 + sqrt(d / 2M) / 3 + d / 18M) - d.
  const double M = 250.0, d = 2.0;
  CHECK(interval_s("daly", 4, 0.0, capacity) ==
        Approx(std::sqrt(2 * d * M) * (1 + std::sqrt(d / (2 * M)) / 3 + d / (18 * M)) - d).epsilon(exact));
}

TEST_CASE("the intervals of Young and of Daly are at least as long as a checkpoint is written behind the work") {
  CapacitySection capacity = section();
  capacity.checkpoint_write_s = 40.0;
  for (const char* rule : {"young", "daly"}) {
    CHECK(interval_s(rule, 4, 0.0, capacity) == 40.0);
    CHECK(interval_s(rule, 4, 0.0, capacity, CheckpointTimes{.held_up_s = 2.0, .write_s = 50.0}) == 50.0);
    CHECK(interval_s(rule, 4, 0.0, capacity, CheckpointTimes{.held_up_s = 200.0, .write_s = 50.0}) > 100.0);
  }
  CHECK(interval_s("30s", 4, 0.0, capacity) == 30.0);  // as it is asked for
}

TEST_CASE("a size in samples or tokens is whole steps, rounded up") {
  const std::map<int, Step> steps{{2, {.duration_s = 3.0, .samples = 10.0, .tokens = 40.0}}};
  experiment::JobSize size;
  size.samples = 21.0;
  CHECK(amount_of(size, 2, steps).work_s == 9.0);
  CHECK(amount_of(size, 2, steps).step_s == 3.0);
  size.step_s = 7.0;  // the step's samples are simulated, its time is given
  CHECK(amount_of(size, 2, steps).work_s == 21.0);
  size = {};
  size.tokens = 80.0;
  CHECK(amount_of(size, 2, steps).work_s == 6.0);
  size = {};
  size.steps = 5;
  size.step_s = 2.0;
  CHECK(amount_of(size, 9, {}).work_s == 10.0);
  size = {};
  size.tokens = 1.0;
  CHECK_THROWS_AS(amount_of(size, 2, {{2, {.duration_s = 3.0, .samples = 10.0}}}), base::ScenarioError);
}

TEST_CASE("jobs of both kinds are in the order of arrival, with their priorities") {
  CapacitySection capacity = section();
  capacity.horizon_s = 1000.0;
  CapacityJob job;
  job.work_s = 5.0;
  job.arrival_s = 500.0;
  job.priority = 3;
  CapacityArrivals arrivals;
  arrivals.work_s = 7.0;
  arrivals.rate = "1/s";
  arrivals.spread = experiment::Spread::none;
  arrivals.priority = -2;
  capacity.jobs = {job};
  capacity.arrivals = {arrivals};
  const Work work = workload(capacity, {}, 1);
  REQUIRE(work.jobs.size() > 900);  // 1000 in the mean
  int listed = 0;
  for (std::size_t j = 0; j < work.jobs.size(); ++j) {
    const Job& arrived_job = work.jobs[j];
    const bool of_list = work.names[j] == "job 1";
    listed += of_list ? 1 : 0;
    if (j > 0) CHECK(arrived_job.arrival_s >= work.jobs[j - 1].arrival_s);
    CHECK(arrived_job.priority == (of_list ? 3 : -2));
    CHECK(arrived_job.work_s == (of_list ? 5.0 : 7.0));
  }
  CHECK(listed == 1);
}

TEST_CASE("two lists of arrivals come at times of their own, and other seeds have others") {
  CapacitySection capacity = section();
  capacity.horizon_s = 100.0;
  CapacityArrivals arrivals;
  arrivals.work_s = 1.0;
  arrivals.every_s = 1.0;
  capacity.arrivals = {arrivals, arrivals};
  const Work work = workload(capacity, {}, 1), other = workload(capacity, {}, 2);
  for (std::size_t j = 1; j < work.jobs.size(); ++j) CHECK(work.jobs[j].arrival_s > work.jobs[j - 1].arrival_s);
  CHECK(work.jobs.front().arrival_s != other.jobs.front().arrival_s);
}

TEST_CASE("sizes of arrivals are exponential around the mean that is given, unless they all have it") {
  CapacitySection capacity = section();
  capacity.horizon_s = 20000.0;
  CapacityArrivals arrivals;
  arrivals.work_s = 7.0;
  arrivals.every_s = 1.0;
  capacity.arrivals = {arrivals};
  double sum = 0.0, squares = 0.0;
  const Work work = workload(capacity, {}, 1);
  for (const Job& job : work.jobs) {
    sum += job.work_s;
    squares += job.work_s * job.work_s;
  }
  const auto n = static_cast<double>(work.jobs.size());
  CHECK(std::abs(n - 20000.0) < 4.0 * std::sqrt(20000.0));               // four standard deviations
  CHECK(std::abs(sum / n - 7.0) < 4.0 * 7.0 / std::sqrt(n));             // likewise; the deviation is the mean
  CHECK(std::abs(squares / n - 98.0) < 4.0 * 49.0 * std::sqrt(20 / n));  // E X^2 = 2 m^2, Var X^2 = 20 m^4
}

}  // namespace workload_test
