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

TEST_CASE("what a scenario writes comes before what a name stands for") {
  const auto ssp = strategy_of("kind = \"asp\"\nconsistency = \"ssp\"");
  CHECK(ssp.at("consistency") == "ssp");
  CHECK(ssp.at("label") == "asp");
  CHECK(strategy_of("kind = \"asp\"\nlabel = \"mine\"").at("label") == "mine");
  CHECK(strategy_of("kind = \"downpour\"\nservers = 2").at("label") == "downpour");
  CHECK(strategy_of("kind = \"zero3\"").at("bucket_size") == "none");
  CHECK(strategy_of("kind = \"zero3\"\nstage = 2").at("bucket_size") ==
        strategy_of("kind = \"zero\"\nstage = 2").at("bucket_size"));
}

TEST_CASE("topologies, models and optimizers have such names, too") {
  const Plan plan = planned(small + ring_allreduce,
                            {.sets = {"cluster.topology=nvlink", "model.kind=mlp", "training.optimizer=nag"}});
  CHECK(plan.scenario.at("cluster").at("topology").at("kind") == "gpu_hosts");
  CHECK(plan.scenario.at("model").at("kind") == "perceptron");
  CHECK(plan.scenario.at("training").at("optimizer").at("kind") == "nesterov");
}

TEST_CASE("a source whose path is required has such a name, too") {
  const tests::Scratch scratch;
  scratch.write("d.svm", "1 1:0.5\n-1 2:1\n1 1:1 2:1\n-1 1:2\n");
  const std::string text =
      "[cluster]\nworkers = 2\n[data]\nsource = \"svmlight\"\npath = \"d.svm\"\n[model]\nkind = "
      "\"logreg\"\n[stop]\nsteps = 1\n" +
      ring_allreduce;
  const Plan plan = make_plan(scratch.write("x.toml", text), {});
  CHECK(plan.scenario.at("data").at("source") == "libsvm");
}

TEST_CASE("a grid over an option keeps the label that a name gave") {
  const std::string text =
      small + "[[strategy]]\nkind = \"horovod\"\n[grid]\n\"strategy.0.algorithm\" = [\"ring\", \"tree\"]\n";
  const Plan plan = planned(text);
  const Plan again = planned(scenario::toml(plan.scenario));
  for (const std::size_t run : {0, 1}) {
    CHECK(plan.runs.at(run).label == "horovod");
    CHECK(again.runs.at(run).label == "horovod");
    CHECK(again.runs.at(run).id == plan.runs.at(run).id);
  }
}

TEST_CASE("a name with several meanings, a broad one, and one of something else are refused as kinds") {
  const auto refusal = [](const std::string& name) {
    try {
      planned(small + "[[strategy]]\nkind = \"" + name + "\"\n");
    } catch (const base::ScenarioError& error) {
      return std::string(error.what());
    }
    return std::string("accepted");
  };
  CHECK_THAT(refusal("psgd"), ContainsSubstring("unknown strategy \"psgd\"; it may be \"allreduce\" or \"gossip\""));
  CHECK_THAT(refusal("post_local_sgd"),
             ContainsSubstring("unknown strategy \"post_local_sgd\"; it may be \"local_sgd\""));
  CHECK_THAT(refusal("hovorod"), ContainsSubstring("did you mean \"horovod\"?"));
  for (const std::string name : {"lr", "osu", "mlp"})
    CHECK_THAT(refusal(name), ContainsSubstring("unknown strategy \"" + name + "\""));
}

TEST_CASE("the options of each alias are options of its strategy") {
  int strategies = 0;
  for (const scenario::Alias& alias : scenario::aliases()) {
    base::Slot<strategies::Strategy> slot(strategies::registry());
    if (!slot.choose(alias.name) || !scenario::only_alias(alias.alias)) continue;
    CAPTURE(std::string(alias.alias));
    CHECK(alias.alias == scenario::alias_text(alias.alias));
    CHECK_FALSE(slot.choose(alias.alias));
    const auto echo = scenario::echo(*slot.example(alias.name));
    const auto options = scenario::options_of(alias, {});
    for (const scenario::Entry& option : options.entries) CHECK(echo.contains(option.key));
    ++strategies;
  }
  CHECK(strategies > 30);
}

}  // namespace aliases_test
