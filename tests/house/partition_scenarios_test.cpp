// The claims of the scenarios about who has which rows.
#include "house/results.h"

namespace partition_scenarios_test {

using namespace simgrad;
using namespace simgrad::tests;

TEST_CASE("who_has_which_rows: the replicas of gossip drift apart with their rows, and an allreduce never notices") {
  const auto results = results_of("who_has_which_rows.toml");
  const auto at = [&](const char* label, const std::string& partition) -> const record::Record& {
    return run_of(*results, label, "{\"training.partition\":" + partition + "}").record;
  };
  const std::string dirichlet = R"({"kind":"dirichlet","alpha":0.3})";
  for (const std::string& partition : {dirichlet, std::string("\"by_label\"")})
    CHECK(at("allreduce", partition).final_loss.value() ==
          Approx(at("allreduce", "\"iid\"").final_loss.value()).epsilon(1e-9));
  const auto distance = [&](const std::string& partition) {
    return at("gossip", partition).curve.back().consensus_distance.value();
  };
  CHECK(distance(dirichlet) > 2.0 * distance("\"iid\""));
  CHECK(distance("\"by_label\"") > 1.5 * distance(dirichlet));
  CHECK(at("gossip", dirichlet).final_loss > at("gossip", "\"iid\"").final_loss);
  CHECK(at("gossip", "\"by_label\"").final_loss > at("gossip", dirichlet).final_loss);
  // Unequal shards: the step lasts as long as the largest.
  CHECK(at("allreduce", dirichlet).simulated_s > at("allreduce", "\"iid\"").simulated_s);
}

}  // namespace partition_scenarios_test
