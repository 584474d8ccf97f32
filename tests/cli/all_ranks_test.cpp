// ranks.csv and links.csv of a sweep with many ranks: quantiles, and every row with --all-ranks.
#include "catch.h"
#include "cli/scenario.h"

namespace all_ranks_test {

using namespace simgrad::tests;

TEST_CASE("option --all-ranks writes a row for each rank of a large sweep, without simulating again") {
  const Scratch scratch;
  scratch.write("x.toml", with(with(with(small, "workers = 4", "workers = 11000"), "steps = 10", "steps = 1"), "= 200",
                               "= 20000"));
  const std::string options = " --set training.numbers=false --no-baseline --no-why --seeds 1..2";
  const auto run = [&](const std::string& more) {
    const Called called = program("run x.toml" + options + more, scratch);
    INFO(called.err);
    REQUIRE(called.exit_code == 0);
    return called.err;
  };
  const auto rows = [&](const std::string& file) { return lines_of(contents(scratch.path() + "/" + file)).size() - 1; };
  run(" --out few");
  CHECK(rows("few/ranks.csv") == 2 * 7);
  CHECK(rows("few/links.csv") == 2 * 7);
  CHECK_FALSE(contains(contents(scratch.path() + "/few/results.json"), "all_ranks"));
  CHECK(contains(run(" --all-ranks --out few"), "2 of 2 runs are in few already"));
  CHECK(rows("few/ranks.csv") == 22'000);
  CHECK(rows("few/links.csv") == 44'000);
  CHECK(contains(contents(scratch.path() + "/few/results.json"), "\n  \"all_ranks\": true,\n"));
}

}  // namespace all_ranks_test
