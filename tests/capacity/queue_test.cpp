// The order in which jobs start.
#include "capacity/queue.h"

#include "catch.h"

namespace queue_test {

using namespace simgrad::capacity;

using Places = std::vector<std::size_t>;

TEST_CASE("without backfilling no job overtakes another") {
  const std::vector<Queued> queue{{.hosts = 2, .duration_s = 5}, {.hosts = 4, .duration_s = 5}, {.hosts = 1}};
  CHECK(starts(queue, {}, 8, 0.0, false) == Places{0, 1, 2});
  CHECK(starts(queue, {}, 4, 0.0, false) == Places{0});
  CHECK(starts(queue, {}, 1, 0.0, false).empty());
}

TEST_CASE("backfilling takes jobs that end before the first of the queue has room") {
  // 2 of 6 servers are free. The first of the queue needs 5, and has them at 10 s, when 4 more are free.
  const std::vector<Busy> busy{{.hosts = 4, .end_s = 10.0}};
  const auto second = [&](int hosts, double duration_s) {
    return starts({{.hosts = 5, .duration_s = 1.0}, {.hosts = hosts, .duration_s = duration_s}}, busy, 2, 0.0, true);
  };
  CHECK(second(2, 10.0) == Places{1});
  CHECK(second(2, 10.5).empty());         // would hold 2 servers when the first leaves 1
  CHECK(second(1, 1000.0) == Places{1});  // the one that the first leaves
  CHECK(second(3, 1.0).empty());          // there are 2
}

TEST_CASE("two backfilled jobs do not share the servers that the first of the queue leaves") {
  const std::vector<Busy> busy{{.hosts = 4, .end_s = 10.0}};
  const Queued small{.hosts = 1, .duration_s = 1000.0};
  CHECK(starts({{.hosts = 5, .duration_s = 1.0}, small, small}, busy, 2, 0.0, true) == Places{1});
}

TEST_CASE("a job that starts now counts for the room of the next") {
  // 4 servers: the first takes 3 until 7 s, the second needs 4 and waits, the third fits on the last until 7 s.
  const auto with = [](double duration_s) {
    return starts(
        {{.hosts = 3, .duration_s = 7.0}, {.hosts = 4, .duration_s = 1.0}, {.hosts = 1, .duration_s = duration_s}}, {},
        4, 0.0, true);
  };
  CHECK(with(7.0) == Places{0, 2});
  CHECK(with(7.5) == Places{0});
}

TEST_CASE("jobs that end at one moment all make room for the first of the queue, and for jobs behind it") {
  // One server is free. At 10 s three jobs end, and leave 1 + 3 x 2 for the first of the queue, which needs 3.
  const std::vector<Busy> busy{{.hosts = 2, .end_s = 10.0}, {.hosts = 2, .end_s = 10.0}, {.hosts = 2, .end_s = 10.0}};
  CHECK(starts({{.hosts = 3, .duration_s = 1.0}, {.hosts = 1, .duration_s = 1000.0}}, busy, 1, 0.0, true) == Places{1});
  CHECK(starts({{.hosts = 7, .duration_s = 1.0}, {.hosts = 1, .duration_s = 1000.0}}, busy, 1, 0.0, true).empty());
}

TEST_CASE("where repairs alone make room no job is backfilled") {
  CHECK(starts({{.hosts = 5, .duration_s = 1.0}, {.hosts = 1, .duration_s = 1.0}}, {}, 2, 0.0, true).empty());
}

}  // namespace queue_test
