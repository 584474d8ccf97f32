// Prices in a scenario: what they contradict, what they leave alone, and what a run costs with them.
#include "base/errors.h"
#include "catch.h"
#include "experiment/scenario.h"

namespace prices_test {

using namespace simgrad;
using namespace simgrad::experiment;

namespace {

std::string refusal(const std::vector<std::string>& sets) {
  try {
    planned(small + ring_allreduce, {.sets = sets});
  } catch (const base::ScenarioError& error) {
    return error.what();
  }
  return "accepted";
}

bool says(const std::string& text, const std::string& what) { return text.find(what) != std::string::npos; }

}  // namespace

TEST_CASE("prices of classes that there are not are refused, and of classes twice") {
  CHECK(says(refusal({"prices.hosts=[{class=\"gpus\",price=\"1$/h\"}]", "cluster.hosts=[{class=\"gpu\",count=4}]"}),
             "no host is of the class \"gpus\"; did you mean \"gpu\"?"));
  CHECK(says(refusal({"prices.hosts=[{class=\"host\",price=\"1$/h\"},{class=\"host\",price=\"2$/h\"}]"}),
             "priced twice"));
  CHECK(says(refusal({"prices.links=[{class=\"wan\",egress=\"1$/GB\"}]"}),
             "no link is of the class \"wan\"; known: nic"));
  CHECK(refusal({"prices.links=[{class=\"rack\",egress=\"1$/GB\"}]",
                 "cluster.topology={kind=\"two_tier\",hosts_per_rack=2}"}) == "accepted");
  CHECK(says(refusal({"prices.links=[{class=\"nic\",egress=\"1$/GB\"},{class=\"nic\",egress=\"2$/GB\"}]"}),
             "priced twice"));
}

TEST_CASE("a class that is left without a price beside others is refused") {
  const std::string two = "cluster.hosts=[{class=\"gpu\",count=2}]";
  CHECK(says(refusal({two, "prices.hosts=[{class=\"gpu\",price=\"1$/h\"}]"}), "but those of \"host\" have none"));
  CHECK(refusal({two, "prices.hosts=[{class=\"gpu\",price=\"1$/h\"}]", "prices.worker=\"1$/h\""}) == "accepted");
  CHECK(refusal({two, "prices.hosts=[{class=\"gpu\",idle=\"1W\",busy=\"2W\"}]"}) == "accepted");
}

TEST_CASE("an entry that prices nothing is refused") {
  CHECK(says(refusal({"prices.hosts=[{class=\"host\"}]"}), "\"host\" is given no price"));
  CHECK(says(refusal({"prices.links=[{class=\"nic\"}]"}), "\"nic\" is given no price"));
}

TEST_CASE("watts come in pairs, a PUE is at least one, prices are not negative and have units") {
  CHECK(says(refusal({"prices.busy=\"300W\""}), "\"idle\" is not given"));
  CHECK(says(refusal({"prices.idle=\"300W\"", "prices.busy=\"200W\""}), "\"busy\" must be at least \"idle\""));
  CHECK(says(refusal({"prices.pue=0.9"}), "pue"));
  CHECK(says(refusal({"prices.worker=\"-1$/h\""}), "worker"));
  CHECK(says(refusal({"prices.worker=1.0"}), "2.48$/h"));
}

TEST_CASE("workers have one price: their own, their device's or their whole host's") {
  const std::string worker = "prices.worker=\"1$/h\"", device = "prices.device=\"1$/h\"", host = "prices.host=\"1$/h\"";
  CHECK(says(refusal({worker, device}), "prices.device and prices.worker both price the workers; give one of them"));
  CHECK(says(refusal({device, host}), "prices.device and prices.host both price"));
  CHECK(says(refusal({worker, host}), "prices.host and prices.worker both price"));
  const std::string two = "cluster.hosts=[{class=\"gpu\",count=2}]",
                    gpu = "prices.hosts=[{class=\"gpu\",price=\"1$/h\"}]";
  CHECK(refusal({two, gpu, host}) == "accepted");
  CHECK(refusal({two, gpu, device}) == "accepted");
}

TEST_CASE("a whole host's price is refused beside jobs, of which several may be on a host") {
  const std::string jobs = "[[job]]\nname = \"a\"\nstrategy = \"allreduce\"\nworkers = 2\n";
  const auto priced = [&](const char* price) { return planned(small + ring_allreduce + jobs, {.sets = {price}}); };
  CHECK(priced("prices.device=1$/h").runs.size() == 1);
  CHECK_THROWS_WITH(priced("prices.host=1$/h"), ContainsSubstring("may belong to several jobs; give prices.device"));
}

TEST_CASE("a price makes another run, but not other work") {
  const Plan free = planned(small + ring_allreduce, {});
  const Plan dear = planned(small + ring_allreduce, {.sets = {"prices.worker=\"5$/h\""}});
  CHECK(free.runs.at(0).id != dear.runs.at(0).id);
  CHECK(free.runs.at(0).work == dear.runs.at(0).work);
  CHECK(free.baselines.at(0).work == dear.baselines.at(0).work);
}

TEST_CASE("the spot market wants a price of its own, and no other failures of hosts") {
  const std::vector<std::string> spot{"cluster.failures.market=spot", "prices.worker=\"1$/h\""};
  CHECK(says(refusal(spot), "but those of \"host (spot)\" have none"));
  CHECK(refusal({spot[0], spot[1], "prices.spot=\"0.3$/h\""}) == "accepted");
  CHECK(says(refusal({spot[0], "cluster.failures.hosts=exponential"}), "market = \"spot\" takes them away as well"));
  CHECK(says(refusal({spot[0], "cluster.failures.spot.interruption=\"0s\""}), "interruption"));
}

}  // namespace prices_test
