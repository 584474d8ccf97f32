#include "strategies/mapreduce/job_tracker.h"

#include "catch.h"

namespace job_tracker_test {

using simgrad::strategies::JobTracker;

TEST_CASE("splits are dealt in the order in which workers ask, each once") {
  JobTracker tracker(2, 5, {}, 0.0);
  CHECK(tracker.finished(1, 1.0).split == 2);
  CHECK(tracker.finished(1, 2.0).split == 3);
  CHECK(tracker.finished(0, 3.0).split == 4);
  for (const int worker : {0, 1}) {
    const JobTracker::Order order = tracker.finished(worker, 4.0);
    CHECK(order.accepted);
    CHECK_FALSE(order.split);
    CHECK_FALSE(tracker.next_copy_at());
  }
}

TEST_CASE("idle workers map copies of splits that are slow, longest first, one each, when that is wanted") {
  JobTracker tracker(4, 6, 1.5, 0.0);
  CHECK(tracker.finished(1, 1.0).split == 4);
  CHECK(tracker.finished(2, 1.0).split == 5);
  CHECK(tracker.finished(1, 2.0).split == 0);  // 0 and 3 have been mapped for 2 s, the others took one
  CHECK(tracker.finished(2, 2.0).split == 3);
}

TEST_CASE("an idle worker waits until a split is slow: slow_factor medians after it began") {
  JobTracker tracker(3, 4, 1.5, 0.0);
  CHECK(tracker.finished(0, 1.0).split == 3);
  CHECK_FALSE(tracker.finished(1, 1.2).split);  // 2 began at 0, 3 at 1
  CHECK(*tracker.next_copy_at() == Approx(1.5 * 1.1));
  CHECK_FALSE(tracker.finished(0, 1.6).split);  // 3, after 0.6 s: the median is 1
  CHECK(*tracker.next_copy_at() == Approx(1.5));
  const JobTracker::Copy copy = tracker.start_copy(1.6);
  CHECK(copy.worker == 1);
  CHECK(copy.split == 2);
  CHECK_FALSE(tracker.next_copy_at());  // nothing is mapped by one worker alone
  CHECK_FALSE(tracker.finished(2, 2.0).split);
  CHECK_FALSE(tracker.finished(1, 2.6).accepted);
}

TEST_CASE("the first result of a split counts, and the other is dropped") {
  JobTracker tracker(2, 3, 1.5, 0.0);
  CHECK(tracker.finished(1, 1.0).split == 2);
  CHECK(tracker.finished(1, 2.0).split == 0);
  const JobTracker::Order copy = tracker.finished(1, 3.0);
  CHECK(copy.accepted);
  CHECK_FALSE(copy.split);  // all is done
  const JobTracker::Order original = tracker.finished(0, 3.5);
  CHECK_FALSE(original.accepted);
  CHECK_FALSE(original.split);
}

TEST_CASE("what a lost worker was mapping, and had mapped without its result having come, is mapped again first") {
  JobTracker tracker(2, 4, {}, 0.0);
  CHECK(tracker.finished(0, 1.0).split == 2);  // split 0 is worker 0's
  tracker.received(0);
  CHECK(tracker.finished(0, 2.0).split == 3);  // split 2 is mapped, its result not there
  CHECK(tracker.lost(0, 2.5).empty());         // nobody is idle
  CHECK(tracker.finished(1, 3.0).split == 2);
  CHECK(tracker.finished(1, 4.0).split == 3);
  const JobTracker::Order last = tracker.finished(1, 5.0);
  CHECK(last.accepted);
  CHECK(!last.split);
}

TEST_CASE("an idle worker begins at once with what is lost, and so does one that is back") {
  JobTracker tracker(3, 3, {}, 0.0);
  CHECK(!tracker.finished(0, 1.0).split);
  const auto begun = tracker.lost(1, 2.0);
  REQUIRE(begun.size() == 1);
  CHECK(begun[0].worker == 0);
  CHECK(begun[0].split == 1);
  CHECK(tracker.lost(2, 2.0).empty());
  CHECK(tracker.back(1, 3.0) == 2);
  CHECK(tracker.finished(1, 4.0).accepted);
  CHECK(tracker.finished(0, 4.0).accepted);
}

}  // namespace job_tracker_test
