// Computing and checkpoints between two failures.
#include "capacity/computing.h"

#include <limits>

#include "catch.h"

namespace computing_test {

using namespace simgrad::capacity;

constexpr double exact = 1e-12;

TEST_CASE("a checkpoint lies between two intervals, and none at the end") {
  // 10 s in intervals of 3 s: behind 3, 6 and 9 s. In intervals of 5 s: behind the first of two.
  CHECK(Computing{.work_s = 10.0, .interval_s = 3.0, .checkpoint_s = 0.5}.checkpoints() == 3.0);
  CHECK(Computing{.work_s = 10.0, .interval_s = 3.0, .checkpoint_s = 0.5}.duration_s() == Approx(11.5).epsilon(exact));
  CHECK(Computing{.work_s = 10.0, .interval_s = 5.0, .checkpoint_s = 0.5}.checkpoints() == 1.0);
  CHECK(Computing{.work_s = 3.0 * 0.1, .interval_s = 0.1}.checkpoints() == 2.0);  // 0.1 x 3 is above 0.3
  CHECK(Computing{.work_s = 10.0, .interval_s = 20.0, .checkpoint_s = 0.5}.checkpoints() == 0.0);
  CHECK(Computing{.work_s = 10.0, .checkpoint_s = 0.5}.duration_s() == 10.0);
}

TEST_CASE("progress is saved, unsaved, or a checkpoint, and adds up to the time") {
  const Computing computing{.work_s = 10.0, .interval_s = 3.0, .checkpoint_s = 0.5};
  const auto check = [&](double elapsed_s, double saved_s, double unsaved_s, double checkpoints_s) {
    CAPTURE(elapsed_s);
    const Computing::Progress progress = computing.after(elapsed_s);
    CHECK(progress.saved_s == Approx(saved_s).margin(exact));
    CHECK(progress.unsaved_s == Approx(unsaved_s).margin(exact));
    CHECK(progress.checkpoints_s == Approx(checkpoints_s).margin(exact));
  };
  check(0.0, 0.0, 0.0, 0.0);
  check(2.0, 0.0, 2.0, 0.0);
  check(3.25, 0.0, 3.0, 0.25);  // in the first checkpoint, which is not whole
  check(3.75, 3.0, 0.25, 0.5);
  check(7.25, 6.0, 0.25, 1.0);
  check(11.5, 9.0, 1.0, 1.5);
}

TEST_CASE("a checkpoint that is written while the work goes on counts later") {
  // Checkpoints end at 3.5, 7 and 10.5 s, and are safe 1 s later.
  const Computing computing{.work_s = 10.0, .interval_s = 3.0, .checkpoint_s = 0.5, .write_s = 1.0};
  CHECK(computing.duration_s() == Approx(11.5).epsilon(exact));
  const auto check = [&](double elapsed_s, double saved_s, double unsaved_s, double checkpoints_s) {
    CAPTURE(elapsed_s);
    const Computing::Progress progress = computing.after(elapsed_s);
    CHECK(progress.saved_s == Approx(saved_s).margin(exact));
    CHECK(progress.unsaved_s == Approx(unsaved_s).margin(exact));
    CHECK(progress.checkpoints_s == Approx(checkpoints_s).margin(exact));
  };
  check(4.25, 0.0, 3.75, 0.5);
  check(4.75, 3.0, 1.25, 0.5);
  check(7.75, 3.0, 3.75, 1.0);
  check(8.25, 6.0, 1.25, 1.0);
  check(11.5, 9.0, 1.0, 1.5);
}

TEST_CASE("a checkpoint waits until the one before is safe") {
  // The first ends at 2.5 s and is safe at 5.5 s; the second begins then, 1 s after its interval, and ends at 6 s.
  const Computing computing{.work_s = 5.0, .interval_s = 2.0, .checkpoint_s = 0.5, .write_s = 3.0};
  CHECK(computing.duration_s() == Approx(5.0 + 2 * 0.5 + 1.0).epsilon(exact));
  const Computing::Progress waiting = computing.after(5.25);
  CHECK(waiting.saved_s == 0.0);
  CHECK(waiting.unsaved_s == Approx(4.0));
  CHECK(waiting.checkpoints_s == Approx(0.5 + 0.75));
  CHECK(computing.after(5.75).saved_s == Approx(2.0));
}

TEST_CASE("without checkpoints nothing is saved") {
  const Computing::Progress progress = Computing{.work_s = 10.0}.after(4.0);
  CHECK(progress.saved_s == 0.0);
  CHECK(progress.unsaved_s == 4.0);
  CHECK(progress.checkpoints_s == 0.0);
}

}  // namespace computing_test
