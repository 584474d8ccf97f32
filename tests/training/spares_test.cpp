// Places, and the servers that take them.
#include "training/session/spares.h"

#include "catch.h"

namespace spares_test {

using simgrad::training::Spares;

TEST_CASE("a place that lacks a server gets the free one of the lowest number") {
  Spares spares(3, 2);
  CHECK(spares.servers() == 5);
  CHECK(spares.down(1, true) == 1);
  CHECK_FALSE(spares.server_in(1));
  CHECK(spares.lacking());
  CHECK(spares.fill() == std::vector{1});
  CHECK(spares.server_in(1) == 3);
  CHECK_FALSE(spares.lacking());
  CHECK(spares.expects());
}

TEST_CASE("a server fails in reserve, too, and a repaired one is a spare wherever it was") {
  Spares spares(2, 1);
  CHECK_FALSE(spares.down(2, true));  // no place lacks one
  CHECK(spares.down(0, true) == 0);
  CHECK(spares.fill().empty());
  spares.repaired(2);
  CHECK(spares.fill() == std::vector{0});
  spares.repaired(0);
  CHECK_FALSE(spares.expects());
  CHECK(spares.down(1, false) == 1);
  CHECK(spares.fill() == std::vector{1});
  CHECK(spares.server_in(1) == 0);
  CHECK(spares.down(0, false) == 1);
  CHECK_FALSE(spares.expects());  // nobody repairs it
}

}  // namespace spares_test
