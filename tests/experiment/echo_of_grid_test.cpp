// The resolved scenario of a grid has no default that some of its points have otherwise.
#include "catch.h"
#include "experiment/scenario.h"
#include "scenario/json.h"

namespace echo_of_grid_test {

using namespace simgrad;
using namespace simgrad::experiment;

namespace {

std::vector<std::string> ids(const Plan& plan) {
  std::vector<std::string> all;
  for (const auto* runs : {&plan.runs, &plan.alone, &plan.baselines})
    for (const RunPlan& run : *runs) all.push_back(run.id);
  return all;
}

/// The resolved scenario, which is held to have the same runs.
nlohmann::ordered_json resolved(const std::string& text) {
  const Plan plan = planned(text);
  CHECK(ids(planned(scenario::toml(plan.scenario))) == ids(plan));
  return plan.scenario;
}

}  // namespace

// A host has as many NICs as its device is sold with: an A100 in a host of two has two, a V100 one, and so has any
// device that is alone.
TEST_CASE("a default that follows from two axes together is left out") {
  const auto tree = resolved(
      "[cluster]\nworkers = 4\ntopology = \"gpu_hosts\"\n[data]\nsamples = 8\n[model]\nkind = \"least_squares\"\n"
      "[training]\nnumbers = false\n[stop]\nsteps = 1\n[[strategy]]\nkind = \"allreduce\"\n"
      "[grid]\n\"cluster.device\" = [\"v100_32gb\", \"a100_80gb\"]\n\"cluster.topology.devices\" = [1, 2]\n");
  CHECK_FALSE(tree.at("cluster").at("topology").contains("nics"));
  CHECK(tree.at("cluster").at("topology").contains("nvlink_latency"));
}

TEST_CASE("options of a strategy's kind, and its label, are left out where the grid exchanges it") {
  const auto tree = resolved(small + "[[strategy]]\nkind = \"allreduce\"\n[grid]\n\"strategy.0.kind\" = " +
                             "[\"allreduce\", \"gossip\", \"parameter_server\"]\n");
  CHECK_FALSE(tree.at("strategy").at(0).contains("algorithm"));
}

TEST_CASE("what jobs have of their own is left out where an axis changes it") {
  const std::string text = small + "[[strategy]]\nkind = \"allreduce\"\n" +
                           "[[job]]\nname = \"a\"\nstrategy = \"allreduce\"\n[job.model]\nkind = \"perceptron\"\n" +
                           "[[job]]\nname = \"b\"\nstrategy = \"allreduce\"\n[grid]\n";
  const auto tree = resolved(text + "\"job.0.model.kind\" = [\"least_squares\", \"perceptron\"]\n");
  CHECK(tree.at("job").at(0).at("model").size() == 1);
  resolved(text + "\"job.0.training.optimizer\" = [\"sgd\", \"adam\"]\n");
}

// A candidate of another device would have the first one's network.
TEST_CASE("a default that follows from a value of the space of a plan is left out") {
  const std::string text =
      "[cluster]\nworkers = 4\ntopology = \"gpu_hosts\"\ndevice = \"v100_32gb\"\n[data]\nsamples = 8\n"
      "[model]\nkind = \"least_squares\"\n[training]\nnumbers = false\n[stop]\nsteps = 1\n"
      "[[strategy]]\nkind = \"allreduce\"\n[plan]\nobjective = \"fastest\"\n";
  const auto devices = resolved(text + "[plan.space]\n\"cluster.device\" = [\"v100_32gb\", \"h100\"]\n");
  CHECK_FALSE(devices.at("cluster").contains("bandwidth"));
  CHECK_FALSE(devices.at("cluster").at("topology").contains("nvlink_bandwidth"));
  const auto zipped = resolved(text + "[[plan.space.zip]]\n\"cluster.device\" = [\"v100_32gb\", \"h100\"]\n" +
                               "\"cluster.workers\" = [4, 8]\n");
  CHECK_FALSE(zipped.at("cluster").contains("bandwidth"));
  const auto batches = resolved(text + "[plan.space]\n\"training.batch_size\" = [4, 8]\n");
  CHECK(batches.at("cluster").contains("bandwidth"));
}

}  // namespace echo_of_grid_test
