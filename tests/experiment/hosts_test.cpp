// Classes of hosts in a scenario: what they contradict, and what becomes of the baseline.
#include <fmt/format.h>

#include "base/errors.h"
#include "catch.h"
#include "experiment/scenario.h"

namespace hosts_test {

using namespace simgrad;
using namespace simgrad::experiment;

namespace {

const std::string server = "[[strategy]]\nkind = \"parameter_server\"\n";

void check_refused(const std::vector<std::string>& sets, const std::string& strategy, const std::string& why) {
  try {
    planned(small + strategy, {.sets = sets});
    FAIL("accepted: " << sets.front());
  } catch (const base::ScenarioError& error) {
    const std::string text = error.what();
    CAPTURE(text);
    CHECK(text.find(why) != std::string::npos);
  }
}

}  // namespace

TEST_CASE("classes of hosts that contradict the ranks or themselves are refused") {
  check_refused({"cluster.hosts=[{class=\"a\",count=3},{class=\"b\",count=2}]"}, ring_allreduce,
                "the classes have 5 hosts for workers, but workers = 4");
  check_refused({"cluster.hosts=[{class=\"a\"},{class=\"a\"}]"}, ring_allreduce,
                "two classes of hosts are called \"a\"");
  check_refused({"cluster.hosts=[{count=2}]"}, ring_allreduce, "a class of hosts needs a name");
  check_refused({"cluster.hosts=[{class=\"a\",count=3},{}]"}, ring_allreduce, "a class of hosts needs a name");
  check_refused({"cluster.hosts=[{class=\"a\",idle=\"200W\",busy=\"100W\"}]"}, ring_allreduce,
                "busy = 100 W is less than idle = 200 W");
  check_refused({"cluster.hosts=[{class=\"a\",count=2,role=\"server\"}]"}, server,
                "2 hosts for servers, but no strategy has more than 1");
  check_refused({"cluster.hosts=[{class=\"a\",speed=\"0GF\"}]"}, ring_allreduce, "speed");
  CHECK(planned(small + server, {.sets = {"cluster.hosts=[{class=\"a\",role=\"server\"}]"}}).runs.size() == 1);
}

TEST_CASE("shares by speed are refused where nobody knows whose they are") {
  check_refused({"training.partition={kind=\"iid\",shares=\"speed\"}", "cluster.failures.recovery=shrink",
                 "cluster.failures.crash=[{rank=1,at=\"1s\"}]"},
                ring_allreduce, "recovery = \"shrink\" goes on with fewer");
  check_refused({"training.partition={kind=\"iid\",shares=\"speed\"}"},
                "[[strategy]]\nkind = \"mapreduce\"\nsplits = 2\n", "splits = 2 are taken by the next free worker");
}

TEST_CASE("the baseline is one host of the first worker's class, whose runs a single worker's are not") {
  const Plan plan =
      planned(small + single,
              {.sets = {"cluster.hosts=[{class=\"gpu\",speed=\"8GF\",price=\"2$/h\"}]", "prices.worker=\"1$/h\""}});
  CHECK(plan.baselines.at(0).settings->cluster.host_spec.speed_flops_per_s == 8e9);
  REQUIRE(plan.baselines.at(0).settings->cluster.host_classes.size() == 1);  // for its price
  CHECK(plan.baselines.at(0).settings->cluster.host_classes[0].price_dollars_per_hour == 2.0);
  CHECK(plan.runs.at(0).work != plan.baselines.at(0).work);
}

TEST_CASE("an impossible topology is refused at its place, servers counted") {
  check_refused({"cluster.topology={kind=\"torus\",shape=[2,2]}"}, server,
                "shape = [2, 2] has 4 hosts, but the ranks (servers included) are 5");
  check_refused({"cluster.topology={kind=\"fat_tree\",k=3}"}, ring_allreduce,
                "switches of 3 ports; expected an even number");
  check_refused({"cluster.topology={kind=\"wan\"}"}, ring_allreduce, "a wan needs sites");
  check_refused({"cluster.topology={kind=\"wan\",sites=[{name=\"a\",hosts=4}],pairs=[{from=\"a\",to=\"b\"}]}"},
                ring_allreduce, "there is no site \"b\"");
  check_refused({"cluster.efficiency=1.5"}, ring_allreduce, "efficiency");
  check_refused({"cluster.slow_links=[{link=\"nic-0\",factor=2}]"}, ring_allreduce, "factor");
  CHECK(planned(small + ring_allreduce, {.sets = {"cluster.topology={kind=\"torus\",shape=[2,2]}"}}).runs.size() == 1);
}

}  // namespace hosts_test
