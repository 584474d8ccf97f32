// The claims of the scenarios about replicas that are averaged now and then.
#include <map>

#include "house/results.h"

namespace averaging_scenarios_test {

using namespace simgrad;
using namespace simgrad::tests;

TEST_CASE("local_steps_and_labels: large H is for rows at random, and a proximal term wins some back") {
  const auto results = results_of("local_steps_and_labels.toml");
  const auto loss = [&](const char* label, const char* partition) {
    return *run_of(*results, label, std::string("{\"training.partition\":\"") + partition + "\"}").record.final_loss;
  };
  CHECK(loss("H = 64", "iid") < 1.005 * loss("allreduce", "iid"));
  CHECK(loss("H = 4", "by_label") < 1.01 * loss("allreduce", "by_label"));
  CHECK(loss("H = 64", "by_label") > 1.07 * loss("allreduce", "by_label"));
  CHECK(loss("FedProx, H = 64", "by_label") < loss("H = 64", "by_label") - 0.03);
}

TEST_CASE("fewer_rounds: H = 16 talks a sixteenth, one average is too few, slow momentum is worth more a round") {
  const auto results = results_of("fewer_rounds.toml");
  const auto& every_step = run_of(*results, "allreduce").record;
  const auto& local = run_of(*results, "H = 16").record;
  const auto& once = run_of(*results, "one average").record;
  const auto& slow = run_of(*results, "SlowMo").record;
  CHECK(local.bytes * 16 == every_step.bytes);
  CHECK(slow.bytes == local.bytes);
  CHECK(local.simulated_s < 0.1 * every_step.simulated_s);
  CHECK(*local.final_loss < 1.03 * *every_step.final_loss);
  CHECK(*once.final_loss > 1.2 * *every_step.final_loss);
  CHECK(*slow.final_loss < 0.96 * *every_step.final_loss);
  CHECK(run_of(*results, "post-local").record.final_loss < local.final_loss);
}

TEST_CASE("who_trains_this_round: a fifth of the clients is sooner there than all, and one is too few") {
  const auto results = results_of("who_trains_this_round.toml");
  const auto& all = run_of(*results, "all").record;
  const auto& fifth = run_of(*results, "a fifth").record;
  REQUIRE(all.time_to_target_s);
  REQUIRE(fifth.time_to_target_s);
  CHECK(*fifth.time_to_target_s < 0.5 * *all.time_to_target_s);
  CHECK(2 * fifth.bytes < all.bytes);
  CHECK(static_cast<double>(fifth.steps) < 2.0 * static_cast<double>(all.steps));
  CHECK_FALSE(run_of(*results, "one").record.time_to_target_s);
}

TEST_CASE("blocks_by_movement: movement wins in each seed, and hardly anything on an easier task") {
  const auto loss = [](const outputs::Results& results, std::string_view label, std::uint64_t seed) {
    for (const outputs::Run& run : results.runs)
      if (run.label == label && run.seed == seed) return *run.record.final_loss;
    throw std::runtime_error("no such run");
  };
  const auto hard = results_of("blocks_by_movement.toml", " --seeds 1..5");
  const auto easy = results_of("blocks_by_movement.toml",
                               " --seeds 1..5 --set model.hidden=[128,32] --set data.features=20"
                               " --set training.partition.alpha=0.2");
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    CAPTURE(seed);
    CHECK(loss(*hard, "by relative movement", seed) < 0.9 * loss(*hard, "two ninths in turn", seed));
    CHECK(loss(*hard, "by relative movement", seed) < 0.9 * loss(*hard, "local SGD", seed));
    CHECK(loss(*hard, "by movement", seed) < loss(*hard, "an eighth in turn", seed));
    for (const char* label : {"by relative movement", "by movement", "an eighth in turn"})
      CHECK(loss(*easy, label, seed) < 1.2 * loss(*easy, "allreduce", seed));
    CHECK(loss(*easy, "by relative movement", seed) > 0.97 * loss(*easy, "two ninths in turn", seed));
  }
}

TEST_CASE("blocks_of_keys: with as many bytes, turns and local SGD lose in each seed where clicks differ") {
  const auto results = results_of("blocks_of_keys.toml", " --seeds 1..5");
  std::map<std::string, std::map<std::uint64_t, double>> loss;
  for (const outputs::Run& run : results->runs)
    if (run.parameters.dump().find("0.1") != std::string::npos) loss[run.label][run.seed] = *run.record.final_loss;
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    CAPTURE(seed);
    CHECK(loss["by movement"].at(seed) < 1.005 * loss["allreduce"].at(seed));
    CHECK(loss["in turn"].at(seed) > 1.09 * loss["by movement"].at(seed));
    CHECK(loss["local SGD"].at(seed) > 1.12 * loss["by movement"].at(seed));
  }
}

}  // namespace averaging_scenarios_test
