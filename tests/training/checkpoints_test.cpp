// Checkpoint intervals against golden values, and when a step's state is kept.
#include "catch.h"
#include "training/checkpoint_efficiency.h"
#include "training/checkpoints/checkpoint_clock.h"
#include "training/checkpoints/losses.h"

namespace checkpoints_test {

using namespace simgrad::training;
using simgrad::tests::checkpoint_efficiency;

TEST_CASE("Young's and Daly's intervals and the exact efficiency have their golden values") {
  constexpr double hour = 3600.0, C = 60.0, R = 300.0;
  CHECK(young_interval_s(7.9 * hour, C) == Approx(1847.4).epsilon(5e-5));
  CHECK(daly_interval_s(7.9 * hour, C) == Approx(1807.6).epsilon(5e-5));
  CHECK(checkpoint_efficiency(daly_interval_s(7.9 * hour, C), 7.9 * hour, C, R) == Approx(0.9266).epsilon(1e-4));
  CHECK(young_interval_s(1.8 * hour, C) == Approx(881.8).epsilon(1e-4));
  CHECK(daly_interval_s(1.8 * hour, C) == Approx(842.3).epsilon(1e-4));
  CHECK(checkpoint_efficiency(daly_interval_s(1.8 * hour, C), 1.8 * hour, C, R) == Approx(0.8307).epsilon(1e-4));
  // By hand: sqrt(2 x 1 x 50) = 10; 10 (1 + 0.1/3 + 0.01/9) - 1.
  CHECK(young_interval_s(50.0, 1.0) == Approx(10.0).epsilon(1e-12));
  CHECK(daly_interval_s(50.0, 1.0) == Approx(10.0 * (1 + 0.1 / 3 + 0.01 / 9) - 1).epsilon(1e-12));
  CHECK(daly_interval_s(1.0, 3.0) == 1.0);
}

TEST_CASE("the best interval is near Daly's") {
  constexpr double T = 100.0, C = 2.0, R = 5.0;
  const double best = checkpoint_efficiency(daly_interval_s(T, C), T, C, R);
  for (const double factor : {0.5, 0.8, 1.25, 2.0})
    CHECK(checkpoint_efficiency(factor * daly_interval_s(T, C), T, C, R) < best);
}

TEST_CASE("the first to arrive at a step decides for all whether it is kept") {
  CheckpointClock clock({}, 10.0);
  CHECK_FALSE(clock.due(1, 4.0, 1.0));
  CHECK(clock.due(2, 10.0, 1.0));
  CHECK(clock.due(2, 10.5, 1.0));
  CHECK_FALSE(clock.due(1, 12.0, 1.0));  // decided before
  CHECK_FALSE(clock.due(3, 20.5, 1.0));  // ten seconds after it was written
  CHECK(clock.due(4, 21.0, 1.0));
  clock.restart(2, 30.0);
  CHECK_FALSE(clock.due(3, 39.0, 1.0));
  CHECK(clock.due(4, 40.0, 1.0));
  CheckpointClock steps(3, {});
  CHECK_FALSE(steps.due(2, 0.0, 0.0));
  CHECK(steps.due(3, 0.0, 0.0));
}

TEST_CASE(
    "a crash that nobody has noticed when the run ends has cost nothing, and the one before it what it had cost") {
  Losses losses;
  losses.secured(10.0);
  losses.crashed(14.0);
  losses.resumed(20.0, 1.0, true);
  losses.crashed(23.0);
  CHECK(losses.lost_s() == 4.0 + 2.0);
  losses.ended_unnoticed();
  CHECK(losses.lost_s() == 4.0);
  CHECK(losses.recovery_s(24.0) == 21.0 - 14.0);
}

TEST_CASE("a checkpoint that is complete before the crash is noticed saves what would have been lost") {
  Losses losses;
  losses.secured(10.0);
  losses.crashed(14.0);  // while it is written, from 13 to 15
  losses.secured(15.0);
  losses.wrote(15.0, 2.0);
  losses.resumed(20.0, 1.0, true);
  CHECK(losses.checkpoint_s() == 2.0);
  // Useful until 13, written until 15, recovery until 21.
  CHECK(losses.lost_s() == 0.0);
  CHECK(losses.recovery_s(30.0) == Approx(21 - 15));
  losses.crashed(23.0);
  CHECK(losses.lost_s() == 2.0);
}

TEST_CASE("time that is lost, recovered in, and spent on checkpoints is told apart") {
  Losses losses;
  losses.wrote(10.0, 1.0);
  losses.secured(10.0);
  losses.crashed(14.0);
  CHECK(losses.lost_s() == 4.0);
  CHECK(losses.recovery_s(15.0) == 1.0);
  losses.resumed(16.0, 2.0, true);
  losses.crashed(17.0);  // while it restarts
  losses.resumed(20.0, 2.0, true);
  CHECK(losses.lost_s() == 4.0);
  CHECK(losses.recovery_s(30.0) == Approx((17 - 14) + (22 - 17)));
  CHECK(losses.checkpoint_s() == 1.0);
}

TEST_CASE("a restart counts until the end of the run, not beyond it") {
  Losses losses;
  losses.crashed(1.0);
  losses.resumed(2.0, 10.0, true);
  CHECK(losses.recovery_s(5.0) == 4.0);
  CHECK(losses.recovery_s(30.0) == 11.0);
}

TEST_CASE("ranks that write checkpoints at the same time spend that time once") {
  Losses losses;
  losses.wrote(10.0, 4.0);
  losses.wrote(12.0, 4.0);
  losses.wrote(20.0, 4.0);
  CHECK(losses.checkpoint_s() == 4.0 + 2.0 + 4.0);
}

TEST_CASE("a recovery whose ranks have lost their memory loses all work since the last checkpoint") {
  for (const bool remembered : {true, false}) {
    CAPTURE(remembered);
    Losses losses;
    losses.stored(10.0);
    losses.secured(13.0);  // remembered
    losses.crashed(14.0);
    losses.resumed(20.0, 0.0, true);  // at work again from 20, with the work of 13
    losses.secured(25.0);
    losses.crashed(26.0);
    losses.resumed(30.0, 0.0, remembered);
    // Work: 10 s are stored, 13 + 5 remembered, and one second more is done at the crash.
    CHECK(losses.lost_s() == Approx(remembered ? 1.0 + 1.0 : 1.0 + (19.0 - 10.0)));
    CHECK(losses.recovery_s(40.0) == Approx(6.0 + 4.0));
  }
}

TEST_CASE("a checkpoint that ends between a crash and its recovery counts no moment twice where ranks remember") {
  Losses losses;
  losses.secured(10.0);  // remembered; the checkpoint of that step is written from 9.5, by the first rank, to 12.5
  losses.crashed(12.0);
  losses.stored(12.5);
  losses.wrote(12.5, 3.0);
  losses.resumed(14.0, 1.0, true);
  // Written from 9.5 to 10, then lost until 12, then recovering until 15.
  CHECK(losses.checkpoint_s() == 0.5);
  CHECK(losses.lost_s() == 2.0);
  CHECK(losses.recovery_s(20.0) == 3.0);
}

}  // namespace checkpoints_test
