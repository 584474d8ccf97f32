// Several trainings in one engine: closed forms of turns and of shared processors, late starts, refusals.
#include <cmath>

#include "experiment/jobs_scenario.h"

namespace jobs_test {

using namespace simgrad;
using namespace simgrad::experiment;

TEST_CASE("two equal jobs on the same hosts that take turns: 2 K steps, the first one done a step earlier") {
  const auto t = times(text_of("sharing = \"gang\"", job("a", same_hosts) + job("b", same_hosts)));
  const double step = t[2] / K;
  CHECK(t[3] == Approx(t[2]).epsilon(1e-12));
  CHECK(t[0] == Approx((2 * K - 1) * step).epsilon(1e-9));
  CHECK(t[1] == Approx(2 * K * step).epsilon(1e-9));
}

TEST_CASE("turns of five steps: the first job's last turn ends five steps before the second's") {
  const auto t = times(text_of("sharing = \"gang\"\nquantum = 5", job("a", same_hosts) + job("b", same_hosts)));
  const double step = t[2] / K;
  CHECK(t[0] == Approx(15 * step).epsilon(1e-9));
  CHECK(t[1] == Approx(20 * step).epsilon(1e-9));
}

TEST_CASE("two jobs that only compute share a host's speed: each takes twice its time") {
  const std::string alone = "strategy = \"single\"\nworkers = 1\nhosts = [2]";
  const auto t = times(text_of("", job("a", alone) + job("b", alone)));
  CHECK(t[0] == Approx(2 * t[2]).epsilon(1e-9));
  CHECK(t[1] == Approx(2 * t[3]).epsilon(1e-9));
}

TEST_CASE("jobs on hosts of their own do not disturb each other on a star, and time counts from a job's start") {
  const std::string pair = "strategy = \"allreduce\"\nworkers = 2\n";
  const auto t = times(text_of("", job("a", pair) + job("b", pair + "start = \"1s\"\nsteps = 4")));
  CHECK(t[0] == Approx(t[2]).epsilon(1e-9));
  CHECK(t[1] == Approx(t[3]).epsilon(1e-9));
  CHECK(t[1] == Approx(0.4 * t[0]).epsilon(1e-9));
  const auto late = times(text_of("", job("b", pair + "start = \"1s\"")));  // nobody is there before
  CHECK(late[0] == Approx(t[0]).epsilon(1e-9));
}

TEST_CASE("a job meets the same stragglers by itself as beside the others, and another job meets others") {
  const std::string pair = "strategy = \"allreduce\"\nworkers = 2\n";
  const auto t = times(text_of("stragglers = \"log_normal\"", job("a", pair) + job("b", pair)));
  CHECK(t[0] == Approx(t[2]).epsilon(1e-9));
  CHECK(t[1] == Approx(t[3]).epsilon(1e-9));
  CHECK(std::abs(t[0] - t[1]) > 1e-3 * t[0]);
}

TEST_CASE("the resolved scenario of jobs is the same plan again") {
  const std::string pair = "strategy = \"allreduce\"\nworkers = 2\n";
  const Plan plan = planned(text_of("", job("a", pair) + job("b", pair + "hosts = [0, 1]")));
  const Plan again = planned(simgrad::scenario::toml(plan.scenario));
  REQUIRE(again.runs.size() == 2);
  CHECK(again.runs[0].id == plan.runs[0].id);
  CHECK(again.runs[1].id == plan.runs[1].id);
}

TEST_CASE("option --strategy and jobs are refused together") {
  CHECK_THROWS_WITH(
      planned(text_of("", job("a", "strategy = \"allreduce\"\nworkers = 2")), {.strategies = {"allreduce"}}),
      ContainsSubstring("--strategy allreduce: the scenario's [[job]]s run together"));
}

TEST_CASE("options that contradict jobs are refused with their positions") {
  const std::string pair = "strategy = \"allreduce\"\nworkers = 2\n";
  check_refused("", job("a", pair) + job("a", pair), "two jobs are called \"a\"");
  check_refused("", job("a", "strategy = \"alreduce\"\nworkers = 2"), "did you mean \"allreduce\"?");
  check_refused("", job("a", pair) + job("b", "strategy = \"allreduce\"\nworkers = 3"), "only 2 have no job yet");
  check_refused("", job("a", pair + "hosts = [3, 4]"), "host 4, but the cluster has hosts 0 to 3");
  check_refused("", job("a", pair + "hosts = [3]"), "1 hosts, but 2 workers and their servers live on 2");
  check_refused("", job("a", pair + "hosts = [0, 1]\nplacement = \"spread\""), "leave one of them out");
  check_refused("relative_speeds = [0.5]", job("a", pair), "cluster.relative_speeds goes by ranks");
  check_refused("sharing = \"gang\"", "", "sharing = \"gang\" is how several [[job]]s share hosts");
  check_refused("quantum = 2", job("a", pair), "\"quantum\" is how long a turn is");
  check_refused("sharing = \"gang\"",
                "[[strategy]]\nkind = \"parameter_server\"\nconsistency = \"asp\"\n" +
                    job("a", "strategy = \"parameter_server\"\nworkers = 2"),
                "takes turns step by step");
}

}  // namespace jobs_test
