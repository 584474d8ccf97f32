#include "strategies/job_tracker.h"

#include "catch.h"

using simgrad::strategies::JobTracker;

TEST_CASE("splits are dealt in the order in which workers ask, each once") {
  JobTracker tracker(2, 5, false);
  // 0 and 1 are being mapped
  CHECK(tracker.finished(1).split == 2);
  CHECK(tracker.finished(2).split == 3);
  CHECK(tracker.finished(0).split == 4);
  for (const int split : {4, 3}) {
    const JobTracker::Order order = tracker.finished(split);
    CHECK(order.accepted);
    CHECK_FALSE(order.split);
  }
  CHECK(tracker.copies() == 0);
}

TEST_CASE("idle workers map copies of the slowest splits, one each, when that is wanted") {
  JobTracker tracker(4, 6, true);
  CHECK(tracker.finished(1).split == 4);
  CHECK(tracker.finished(2).split == 5);
  CHECK(tracker.finished(4).split == 0);  // 0 and 3 have been mapped for longest
  CHECK(tracker.finished(5).split == 3);
  CHECK(tracker.copies() == 2);
}

TEST_CASE("the first result of a split counts, and the other is dropped") {
  JobTracker tracker(2, 3, true);
  CHECK(tracker.finished(1).split == 2);
  CHECK(tracker.finished(2).split == 0);
  const JobTracker::Order copy = tracker.finished(0);
  CHECK(copy.accepted);
  CHECK_FALSE(copy.split);  // all is done
  const JobTracker::Order original = tracker.finished(0);
  CHECK_FALSE(original.accepted);
  CHECK_FALSE(original.split);
}
