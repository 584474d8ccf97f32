// The expectations of the shipped scenarios, in four parts that can be tested at the same time.
#include "catch.h"
#include "house/repository.h"
#include "share.h"

namespace expectations_test {

using namespace simgrad::tests;

namespace {

/// Checks every fourth scenario that has expectations, from number `part` on.
void check_part(std::size_t part) {
  std::string files;
  std::size_t number = 0;
  Share share(7);
  for (const auto& path : scenario_files()) {
    if (contents(path.string()).find("\n[[expect]]") == std::string::npos) continue;
    if (number++ % 4 == part && share.next()) files += " '" + path.string() + "'";
  }
  REQUIRE_FALSE(files.empty());
  const Called called = call("simgrad check --quiet" + files, source_dir().string());
  INFO(called.out << called.err);
  CHECK(called.exit_code == 0);
}

}  // namespace

TEST_CASE("what scenarios expect of themselves holds, part 1 of 4") { check_part(1); }
TEST_CASE("what scenarios expect of themselves holds, part 2 of 4") { check_part(2); }
TEST_CASE("what scenarios expect of themselves holds, part 3 of 4") { check_part(3); }
TEST_CASE("what scenarios expect of themselves holds, part 4 of 4") { check_part(0); }

}  // namespace expectations_test
