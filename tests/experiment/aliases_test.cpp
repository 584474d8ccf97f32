// Names that other systems and papers use, as kinds in a scenario.
#include "scenario/aliases.h"

#include <algorithm>

#include "base/errors.h"
#include "catch.h"
#include "experiment/scenario.h"
#include "scenario/json.h"
#include "strategies/strategy.h"

namespace aliases_test {

using namespace simgrad;
using namespace simgrad::experiment;

namespace {

nlohmann::ordered_json strategy_of(const std::string& lines) {
  const Plan plan = planned(small + "[[strategy]]\n" + lines + "\n");
  const Plan again = planned(scenario::toml(plan.scenario));
  CHECK(again.runs.at(0).id == plan.runs.at(0).id);
  CHECK(again.runs.at(0).label == plan.runs.at(0).label);
  return plan.scenario.at("strategy").at(0);
}

}  // namespace

TEST_CASE("a strategy may be named as people know it, and is resolved with the options that the name stands for") {
  const auto ddp = strategy_of("kind = \"DDP\"");
  CHECK(ddp.at("kind") == "allreduce");
  CHECK(ddp.at("label") == "DDP");
  const auto horovod = strategy_of("kind = \"horovod\"");
  CHECK(horovod.at("kind") == "allreduce");
  CHECK(horovod.at("algorithm").at("kind") == "ring");
  CHECK(horovod.at("bucket_size") == "64MB");
  CHECK(strategy_of("kind = \"fedavg\"").at("kind") == "federated_averaging");
  const auto asp = strategy_of("kind = \"asp\"");
  CHECK(asp.at("kind") == "parameter_server");
  CHECK(asp.at("consistency") == "asp");
  CHECK(strategy_of("kind = \"ZeRO-2\"").at("stage") == 2);
  CHECK(strategy_of("kind = \"hadoop\"").at("storage").at("kind") == "disk");
}

TEST_CASE("what a scenario writes comes before what a name stands for, and is in its label") {
  const auto ssp = strategy_of("kind = \"asp\"\nconsistency = \"ssp\"");
  CHECK(ssp.at("consistency") == "ssp");
  CHECK(ssp.at("label") == "asp(consistency=ssp)");
  CHECK(strategy_of("kind = \"asp\"\nlabel = \"mine\"").at("label") == "mine");
  CHECK(strategy_of("kind = \"downpour\"\nservers = 2").at("label") == "downpour(servers=2)");
}

TEST_CASE("topologies, models and optimizers have such names, too") {
  const Plan plan = planned(small + ring_allreduce,
                            {.sets = {"cluster.topology=nvlink", "model.kind=mlp", "training.optimizer=nag"}});
  CHECK(plan.scenario.at("cluster").at("topology").at("kind") == "gpu_hosts");
  CHECK(plan.scenario.at("model").at("kind") == "perceptron");
  CHECK(plan.scenario.at("training").at("optimizer").at("kind") == "nesterov");
}

TEST_CASE("a name with several meanings, and one of something else, are refused as kinds") {
  for (const std::string name : {"psgd", "lr", "osu", "mlp"}) {
    CAPTURE(name);
    CHECK_THROWS_WITH(planned(small + "[[strategy]]\nkind = \"" + name + "\"\n"),
                      ContainsSubstring("unknown strategy \"" + name + "\""));
  }
}

TEST_CASE("the options of each alias are options of its strategy") {
  int strategies = 0;
  for (const scenario::Alias& alias : scenario::aliases()) {
    base::Slot<strategies::Strategy> slot(strategies::registry());
    if (!slot.choose(alias.name)) continue;
    CAPTURE(std::string(alias.alias));
    CHECK_NOTHROW(scenario::preset(*slot.object(), alias));
    CHECK(alias.alias == scenario::alias_text(alias.alias));
    CHECK_FALSE(slot.choose(alias.alias));
    ++strategies;
  }
  CHECK(strategies > 40);
}

}  // namespace aliases_test
