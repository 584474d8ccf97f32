// Which units are gathered ahead of the passes that read them.
#include "catch.h"
#include "training/learning/units.h"

namespace unit_visits_test {

using namespace simgrad;
using training::ModelUnit;
using training::UnitVisits;
using Ends = std::vector<std::size_t>;

TEST_CASE("units that one pass reads take their places together, and are not gathered beside themselves") {
  const std::vector<ModelUnit> units{{.count = 10}, {.first = 10, .count = 10}, {.first = 20, .count = 10}};
  // Forwards through units 0 and 1, which one pass reads, and through unit 2; then backwards.
  const UnitVisits visits({0, 1, 2, 2, 0, 1}, {1, 2, 1, 1, 1, 2});
  CHECK(visits.ends_of_gathers(1, true, units) == Ends{1, 2, 3, 4, 5, 6});
  CHECK(visits.ends_of_gathers(2, true, units) == Ends{2, 2, 3, 5, 6, 6});
  CHECK(visits.ends_of_gathers(3, true, units) == Ends{3, 3, 3, 6, 6, 6});
  const UnitVisits at_the_end({0, 1, 0, 1}, {1, 2, 1, 2});
  CHECK(at_the_end.ends_of_gathers(3, true, units) == Ends{2, 2, 4, 4});
}

TEST_CASE("a head waits with the embedding that it multiplies by until that of the embedding's own pass is dropped") {
  // An embedding of 100 numbers, 80 of which the head reads, a block and the head.
  const std::vector<ModelUnit> units{
      {.count = 100}, {.first = 100, .count = 10}, {.first = 110, .count = 5, .tied = 80}};
  const UnitVisits visits = UnitVisits::there_and_back(3);
  CHECK(visits.ends_of_gathers(3, true, units) == Ends{2, 3, 3, 5, 6, 6});
  for (const auto& [visit, numbers] : {std::pair<std::size_t, std::int64_t>{0, 100}, {1, 10}, {2, 85}, {3, 85}})
    CHECK(visits.gathered(visit, true, units) == numbers);
  // Where units stay, the head finds the matrix.
  CHECK(visits.gathered(2, false, units) == 5);
  CHECK(visits.ends_of_gathers(3, false, units).front() == 3);
  // A stage that has a copy gathers it for the head alone.
  CHECK(UnitVisits({1, 2, 2, 1}, {1, 1, 1, 1}).gathered(1, false, units) == 85);
}

}  // namespace unit_visits_test
