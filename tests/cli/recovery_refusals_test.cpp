// Recoveries that a strategy does not allow, and crashes that contradict them.
#include "cli/refusal.h"

namespace recovery_refusals_test {

using namespace simgrad::tests;

namespace {

std::string failing(const std::string& failures, const std::string& strategy = "kind = \"allreduce\"") {
  return with(with(small, "[data]", failures + "\n[data]"), "kind = \"allreduce\"", strategy);
}

}  // namespace

TEST_CASE("a recovery that the strategy does not allow is refused at its own place, with those that it does") {
  check_refused(
      failing("[cluster.failures]\nrecovery = \"continue\""),
      {"x.toml:11:1: allreduce cannot recover by \"continue\"; expected one of restart, wait, shrink, elastic (as "
       "`recovery` of that [[strategy]])"});
  check_refused(failing("", "kind = \"single\"\nrecovery = \"shrink\""),
                {"x.toml:27:1: single(recovery=shrink) cannot recover by \"shrink\"; expected one of restart, wait"});
}

TEST_CASE("a strategy's own recovery counts, not the cluster's") {
  const std::string crash = "[[cluster.failures.crash]]\nrank = 1\nat = \"1ms\"";
  check_refused(failing(crash, "kind = \"allreduce\"\nrecovery = \"wait\""),
                {"x.toml:10:20: recovery \"wait\" waits for a host that is never repaired"});
  const Scratch scratch;
  scratch.write("x.toml", failing(crash, "kind = \"allreduce\"\nrecovery = \"elastic\""));
  CHECK(program("validate x.toml", scratch).exit_code == 0);
}

TEST_CASE("a crash of a server that no strategy has is refused") {
  const std::string crash = "[[cluster.failures.crash]]\nrank = 1\nrole = \"server\"\nat = \"1ms\"\nrepair = \"1ms\"";
  check_refused(failing(crash, "kind = \"parameter_server\""),
                {"x.toml:10:20: a crash of server 1, but no strategy here has that many"});
}

}  // namespace recovery_refusals_test
