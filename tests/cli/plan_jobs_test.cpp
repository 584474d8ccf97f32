// simgrad plan by several processes and threads.
#include "cli/planning.h"

namespace plan_jobs_test {

using namespace simgrad::tests;

TEST_CASE("The answer does not depend on how many processes and threads find it") {
  const std::string text = with(twelve, "seeds = 1", "seeds = 4");
  const Json one = plan_without_wall(plan_of(text, "--jobs 1 --threads 0"));
  CHECK(one == plan_without_wall(plan_of(text, "--jobs 2 --threads 0")));
  CHECK(one == plan_without_wall(plan_of(text, "--jobs 3 --threads 2")));
}

}  // namespace plan_jobs_test
