// Jobs on servers that fail when the test says.
#include "capacity/fleet.h"

#include "capacity/scripted.h"
#include "catch.h"

namespace fleet_test {

using namespace simgrad;
using namespace simgrad::capacity;
using simgrad::tests::never;
using simgrad::tests::outcome_of;

namespace {

constexpr double exact = 1e-9;

/// 2 servers and a spare; 1 s to notice, 2 s to restart, 0.5 s a checkpoint.
FleetOptions small(int spares = 1) {
  return {.hosts = 2,
          .spares = spares,
          .horizon_s = 1000.0,
          .until_done = true,
          .detection_s = 1.0,
          .restart_s = 2.0,
          .checkpoint_s = 0.5};
}

void check_sum(const FleetOutcome& outcome, int servers) {
  CHECK(outcome.host_time.total_s() == Approx(servers * outcome.end_s).epsilon(exact));
}

}  // namespace

TEST_CASE("without failures a job takes its work and its checkpoints") {
  const FleetOutcome outcome = outcome_of(small(), {{.hosts = 2, .work_s = 10.0, .interval_s = 3.0}});
  const double end_s = 10.0 + 3 * 0.5;
  CHECK(outcome.end_s == Approx(end_s).epsilon(exact));
  CHECK(outcome.host_time.useful_s == Approx(2 * 10.0).epsilon(exact));
  CHECK(outcome.host_time.checkpoints_s == Approx(2 * 1.5).epsilon(exact));
  CHECK(outcome.host_time.idle_s == Approx(end_s).epsilon(exact));  // the spare
  CHECK(outcome.host_time.goodput() == Approx(20.0 / (3 * end_s)).epsilon(exact));
  check_sum(outcome, 3);
}

TEST_CASE("a failure costs the work since the checkpoint, the detection and the restart") {
  // Computing until 3 s, a checkpoint until 3.5 s, computing until the failure at 5 s: 1.5 s are lost.
  const FleetOutcome outcome =
      outcome_of(small(), {{.hosts = 2, .work_s = 10.0, .interval_s = 3.0}}, {{{.down_s = 5.0, .up_s = 100.0}}});
  const double end_s = 5.0 + 1.0 + 2.0 + 7.0 + 2 * 0.5;  // 7 s of work are left, with two checkpoints
  CHECK(outcome.end_s == Approx(end_s).epsilon(exact));
  CHECK(outcome.host_time.recomputed_s == Approx(2 * 1.5).epsilon(exact));
  CHECK(outcome.host_time.useful_s == Approx(2 * 10.0).epsilon(exact));
  CHECK(outcome.host_time.checkpoints_s == Approx(2 * 1.5).epsilon(exact));
  CHECK(outcome.host_time.restart_s == Approx(1 * 1.0 + 2 * 2.0).epsilon(exact));  // one server, then two
  CHECK(outcome.host_time.waiting_s == 0.0);
  CHECK(outcome.host_time.down_s == Approx(end_s - 5.0).epsilon(exact));
  CHECK(outcome.jobs[0].failures == 1);
  check_sum(outcome, 3);
}

TEST_CASE("without a spare the job waits for the repair") {
  const FleetOutcome outcome =
      outcome_of(small(0), {{.hosts = 2, .work_s = 10.0, .interval_s = 3.0}}, {{{.down_s = 5.0, .up_s = 20.0}}});
  CHECK(outcome.end_s == Approx(20.0 + 2.0 + 7.0 + 2 * 0.5).epsilon(exact));
  CHECK(outcome.host_time.waiting_s == Approx(20.0 - 6.0).epsilon(exact));  // the other server
  CHECK(outcome.host_time.down_s == Approx(15.0).epsilon(exact));
  check_sum(outcome, 2);
}

TEST_CASE("a failure while a job restarts begins detection and restart anew") {
  // The failure at 5 s is noticed at 6 s. Server 1 fails at 7 s, before the restart's end at 8 s.
  const FleetOutcome outcome = outcome_of(small(2), {{.hosts = 2, .work_s = 10.0, .interval_s = 3.0}},
                                          {{{.down_s = 5.0, .up_s = never}}, {{.down_s = 7.0, .up_s = never}}});
  CHECK(outcome.end_s == Approx(7.0 + 1.0 + 2.0 + 7.0 + 2 * 0.5).epsilon(exact));
  CHECK(outcome.host_time.restart_s == Approx(1 * 1.0 + 2 * 1.0 + 1 * 1.0 + 2 * 2.0).epsilon(exact));
  CHECK(outcome.host_time.recomputed_s == Approx(2 * 1.5).epsilon(exact));
  check_sum(outcome, 4);
}

TEST_CASE("a checkpoint under way at the failure is lost") {
  const FleetOutcome outcome =
      outcome_of(small(), {{.hosts = 2, .work_s = 10.0, .interval_s = 3.0}}, {{{.down_s = 3.25, .up_s = never}}});
  CHECK(outcome.end_s == Approx(3.25 + 3.0 + 10.0 + 3 * 0.5).epsilon(exact));
  CHECK(outcome.host_time.recomputed_s == Approx(2 * 3.0).epsilon(exact));
  CHECK(outcome.host_time.checkpoints_s == Approx(2 * (0.25 + 1.5)).epsilon(exact));
  check_sum(outcome, 3);
}

TEST_CASE("a failure of a server without a job disturbs nobody") {
  const FleetOutcome outcome =
      outcome_of(small(), {{.hosts = 2, .work_s = 10.0}}, {{}, {}, {{.down_s = 1.0, .up_s = 4.0}}});
  CHECK(outcome.end_s == Approx(10.0).epsilon(exact));
  CHECK(outcome.failures == 1);
  CHECK(outcome.jobs[0].failures == 0);
  CHECK(outcome.host_time.down_s == Approx(3.0).epsilon(exact));
  CHECK(outcome.host_time.idle_s == Approx(7.0).epsilon(exact));
}

TEST_CASE("jobs wait in the order of arrival, and spares start none") {
  const FleetOutcome outcome = outcome_of(
      small(2), {{.hosts = 2, .arrival_s = 0.0, .work_s = 10.0}, {.hosts = 1, .arrival_s = 1.0, .work_s = 5.0}});
  CHECK(outcome.jobs[1].start_s == 10.0);  // though two servers are free from the beginning
  CHECK(outcome.jobs[1].end_s == 15.0);
  CHECK(outcome.end_s == 15.0);
  check_sum(outcome, 4);
}

TEST_CASE("of jobs that wait those of more priority start first, and none stops a running one") {
  const Job running{.hosts = 2, .work_s = 10.0};
  const auto waiting = [](double arrival_s, std::int64_t priority) {
    return Job{.hosts = 2, .arrival_s = arrival_s, .work_s = 1.0, .priority = priority};
  };
  const FleetOutcome outcome =
      outcome_of(small(0), {running, waiting(1.0, 0), waiting(2.0, 5), waiting(3.0, -1), waiting(4.0, 5)});
  CHECK(outcome.jobs[0].end_s == 10.0);
  CHECK(outcome.jobs[2].start_s == 10.0);
  CHECK(outcome.jobs[4].start_s == 11.0);
  CHECK(outcome.jobs[1].start_s == 12.0);
  CHECK(outcome.jobs[3].start_s == 13.0);
}

TEST_CASE("a server that is repaired goes to the job that waits before the queue has it") {
  FleetOptions options = small(0);
  options.hosts = 3;
  const FleetOutcome outcome =
      outcome_of(options, {{.hosts = 2, .work_s = 10.0}, {.hosts = 1, .arrival_s = 6.0, .work_s = 1.0}},
                 {{{.down_s = 5.0, .up_s = 30.0}}, {}, {{.down_s = 4.0, .up_s = 20.0}}});
  // Server 2 is back at 20 s and replaces server 0, which is back at 30 s and takes the second job.
  CHECK(outcome.jobs[0].end_s == Approx(20.0 + 2.0 + 10.0).epsilon(exact));
  CHECK(outcome.jobs[1].start_s == 30.0);
  check_sum(outcome, 3);
}

TEST_CASE("a job that has not noticed its failure yet finds the free server all the same") {
  FleetOptions options = small(0);
  options.hosts = 3;
  const FleetOutcome outcome =
      outcome_of(options, {{.hosts = 2, .work_s = 10.0}, {.hosts = 1, .arrival_s = 5.5, .work_s = 1.0}},
                 {{{.down_s = 5.0, .up_s = 30.0}}});
  CHECK(outcome.jobs[0].end_s == Approx(6.0 + 2.0 + 10.0).epsilon(exact));
  CHECK(outcome.jobs[1].start_s == Approx(18.0).epsilon(exact));  // when the first job ends
}

TEST_CASE("a failure while a job waits begins the detection anew") {
  // Server 0 fails at 5 s, server 1 at 10 s. Both are back before the job has noticed the second failure at 11 s.
  const FleetOutcome outcome = outcome_of(small(0), {{.hosts = 2, .work_s = 10.0}},
                                          {{{.down_s = 5.0, .up_s = 10.4}}, {{.down_s = 10.0, .up_s = 10.6}}});
  CHECK(outcome.end_s == Approx(11.0 + 2.0 + 10.0).epsilon(exact));
  CHECK(outcome.host_time.waiting_s == Approx(10.0 - 6.0).epsilon(exact));
  CHECK(outcome.host_time.idle_s == Approx(0.6 + 0.4).epsilon(exact));
  CHECK(outcome.jobs[0].failures == 2);
  check_sum(outcome, 2);
}

TEST_CASE("backfilling counts with the restart that is under way") {
  // The first job fails at 1 s, is noticed at 2 s, computes again from 4 s on, and ends at 14 s. The second needs all
  // servers then. The third may have the spare server's place until 14 s, and no longer.
  const auto third_start_s = [](double arrival_s, double work_s) {
    FleetOptions options = small();
    options.hosts = 4;
    options.backfill = true;
    const FleetOutcome outcome = outcome_of(options,
                                            {{.hosts = 3, .work_s = 10.0},
                                             {.hosts = 4, .arrival_s = 1.2, .work_s = 5.0},
                                             {.hosts = 1, .arrival_s = arrival_s, .work_s = work_s}},
                                            {{{.down_s = 1.0, .up_s = never}}});
    CHECK(outcome.jobs[0].end_s == Approx(14.0).epsilon(exact));
    CHECK(outcome.jobs[1].start_s == Approx(14.0).epsilon(exact));
    return outcome.jobs[2].start_s.value();
  };
  const double behind_s = 14.0 + 5.0;
  CHECK(third_start_s(3.5, 10.5) == 3.5);  // while the first job restarts
  CHECK(third_start_s(3.5, 10.6) == Approx(behind_s).epsilon(exact));
  CHECK(third_start_s(1.5, 12.5) == 1.5);  // before the first job's failure is noticed
  CHECK(third_start_s(1.5, 12.6) == Approx(behind_s).epsilon(exact));
}

TEST_CASE("a fleet ends at its horizon, and what runs then counts as useful") {
  FleetOptions options = small();
  options.until_done = false;
  options.horizon_s = 8.0;
  const FleetOutcome outcome = outcome_of(
      options, {{.hosts = 2, .work_s = 10.0, .interval_s = 3.0}, {.hosts = 1, .arrival_s = 2.0, .work_s = 1.0}});
  CHECK(outcome.end_s == 8.0);
  CHECK_FALSE(outcome.jobs[0].end_s);
  CHECK_FALSE(outcome.jobs[1].start_s);
  CHECK(outcome.host_time.useful_s == Approx(2 * (8.0 - 2 * 0.5)).epsilon(exact));
  check_sum(outcome, 3);
}

TEST_CASE("a warm-up begins with servers that are down already") {
  const tests::Scripted failures({{{.down_s = 2.0, .up_s = 3.0}, {.down_s = 95.0, .up_s = 104.0}}});
  const cluster::NoRepair repair;
  FleetOptions options = small(0);
  const FleetOutcome outcome =
      simulate(options, {.failures = failures, .repair = repair, .warm_up_s = 100.0}, {{.hosts = 2, .work_s = 10.0}});
  CHECK(outcome.jobs[0].start_s == Approx(4.0).epsilon(exact));
  CHECK(outcome.end_s == Approx(14.0).epsilon(exact));
  CHECK(outcome.host_time.down_s == Approx(4.0).epsilon(exact));
  CHECK(outcome.failures == 0);  // it failed before
}

TEST_CASE("a training that cannot end stops at the limit") {
  const FleetOutcome outcome =
      outcome_of(small(0), {{.hosts = 2, .work_s = 10.0}}, {{{.down_s = 5.0, .up_s = std::nullopt}}});
  CHECK_FALSE(outcome.jobs[0].end_s);
  CHECK(outcome.end_s == 1000.0);
  check_sum(outcome, 2);
}

}  // namespace fleet_test
