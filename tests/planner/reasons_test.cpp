// The reasons for which candidates cannot be run.
#include "planner/reasons.h"

#include "catch.h"

namespace reasons_test {

using namespace simgrad::planner;

TEST_CASE("Faults that differ in their numbers alone are one reason") {
  CHECK(reason_of("a batch of 12 rows does not divide into 5 parts; take 4") ==
        reason_of("a batch of 1536 rows does not divide into 48 parts; take 32"));
  CHECK(reason_of("3 workers") != reason_of("3 servers"));
}

TEST_CASE("A fault about memory says by how much it misses") {
  const std::string fault =
      "zero: a worker needs 120 GB = parameters 100 GB + gradients 20 GB, but its device has 80 GB";
  CHECK(excess_of(fault) == Approx(0.5).epsilon(1e-12));
  CHECK(excess_of("3 workers") == 0.0);
  CHECK(reason_of(fault) == reason_of("allreduce: a worker needs 90 GB = parameters 90 GB, but its device has 80 GB"));
}

TEST_CASE("Reasons are counted, and each shows the candidate that misses by least") {
  const std::vector<Refused> refused{{.index = 0, .strategy = "a", .reason = "memory", .fault = "", .excess = 0.4},
                                     {.index = 1, .strategy = "b", .reason = "batch", .fault = "", .excess = 0.0},
                                     {.index = 2, .strategy = "c", .reason = "memory", .fault = "", .excess = 0.1}};
  const std::vector<Reason> reasons = counted(refused);
  REQUIRE(reasons.size() == 2);
  CHECK(reasons[0].text == "memory");
  CHECK(reasons[0].count == 2);
  CHECK(reasons[0].nearest->strategy == "c");
  CHECK(reasons[1].count == 1);
}

}  // namespace reasons_test
