// Experiments of more runs than are tried to be made faster.
#include "catch.h"
#include "cli/sharded.h"

namespace many_runs_test {

using namespace simgrad::tests;

TEST_CASE("more than 1000 runs have no counterfactuals, and run and merge say so") {
  const Scratch scratch;
  scratch.write("x.toml", with(small, "steps = 10", "steps = 1"));
  const std::string remark = "simgrad: 1001 runs are more than 1000: nothing is tried that would make them faster\n";
  const std::string run = "simgrad run x.toml --no-baseline --seeds 1..1001 ";
  REQUIRE(call(run + "--shard 1/1", scratch.path()).exit_code == 0);
  CHECK(program("merge out/x/shard-1-of-1", scratch).err == remark);
  CHECK_FALSE(results_in(scratch).contains("counterfactuals"));
  CHECK(contains(call(run, scratch.path()).err, remark));
  CHECK_FALSE(results_in(scratch).contains("counterfactuals"));
}

}  // namespace many_runs_test
