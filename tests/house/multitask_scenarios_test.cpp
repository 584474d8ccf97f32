// The claims of the scenario about joint training.
#include <map>
#include <string>
#include <tuple>

#include "house/results.h"

namespace multitask_scenarios_test {

using namespace simgrad;
using namespace simgrad::tests;

TEST_CASE("joint_task: a cheaper step, which pays unless a task sees too few rows") {
  const auto results = results_of("joint_task.toml");
  REQUIRE(results->runs.size() == 4);
  const auto& [everybody_32, joint_32, everybody_512, joint_512] =
      std::tie(results->runs[0], results->runs[1], results->runs[2], results->runs[3]);
  for (const outputs::Run& run : results->runs) CHECK(reached(run));
  const auto step_s = [](const outputs::Run& run) {
    return run.record.simulated_s / static_cast<double>(run.record.steps);
  };
  CHECK(step_s(joint_512) < 0.8 * step_s(everybody_512));
  CHECK(static_cast<double>(joint_512.record.steps) < 1.1 * static_cast<double>(everybody_512.record.steps));
  CHECK(*joint_512.record.time_to_target_s < 0.9 * *everybody_512.record.time_to_target_s);
  CHECK(static_cast<double>(joint_32.record.steps) > 1.2 * static_cast<double>(everybody_32.record.steps));
  CHECK(*joint_32.record.time_to_target_s > *everybody_32.record.time_to_target_s);
}

TEST_CASE("two_towers: one training in five ways, fastest in groups by work, and sharing hides sums") {
  const auto results = results_of("two_towers.toml");
  std::map<std::string, const record::Record*> by_name;
  for (const outputs::Run& run : results->runs) by_name[run.label] = &run.record;
  const auto time = [&](const char* name) { return by_name.at(name)->simulated_s; };
  const record::Record& alone = results->baselines.at(0).record;
  for (const auto& [name, record] : by_name) {
    CAPTURE(name);
    CHECK(*record->final_loss == Approx(*alone.final_loss).epsilon(1e-12));
    REQUIRE(record->sources.size() == 2);
  }
  const auto bytes = [&](const char* name) { return static_cast<double>(by_name.at(name)->bytes); };
  CHECK(bytes("equal groups") < 0.55 * bytes("allreduce"));
  CHECK(time("groups by work") / time("allreduce") == Approx(0.78).margin(0.01));
  CHECK(time("groups by work") < time("equal groups"));
  CHECK(time("gang") > time("allreduce"));
  CHECK(time("sharing") < time("allreduce"));
  CHECK(time("sharing") / time("gang") == Approx(0.9).margin(0.01));
}

}  // namespace multitask_scenarios_test
