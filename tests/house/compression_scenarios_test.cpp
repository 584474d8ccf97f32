// The claims of the scenarios about compression.
#include "house/results.h"

namespace compression_scenarios_test {

using namespace simgrad;
using namespace simgrad::tests;

namespace {

double loss(const outputs::Run& run) { return run.record.final_loss.value(); }

}  // namespace

TEST_CASE("signs_and_memory: signs alone never reach the loss that they reach with a memory, and votes go nowhere") {
  const auto results = results_of("signs_and_memory.toml");
  const auto& exact = run_of(*results, "exact");
  const auto& with_memory = run_of(*results, "signs with memory");
  CHECK(with_memory.record.time_to_target_s.value() < 0.3 * exact.record.time_to_target_s.value());
  CHECK(with_memory.record.steps <= exact.record.steps);
  CHECK(with_memory.record.bytes * 10 < exact.record.bytes);
  for (const char* label : {"signs", "votes"}) {
    CHECK_FALSE(run_of(*results, label).record.time_to_target_s);
    CHECK(2 * run_of(*results, label).record.steps > 3 * exact.record.steps);
  }
  CHECK(loss(run_of(*results, "signs")) > 2.2);
  CHECK(loss(run_of(*results, "votes")) > loss(run_of(*results, "signs")));
}

TEST_CASE("fewer_bytes_a_number: float16 halves the time of float32 and not the accuracy") {
  const auto results = results_of("fewer_bytes_a_number.toml");
  const auto named = [&](const std::string& label) -> const outputs::Run& { return run_of(*results, label); };
  const auto sends_s = [&](const std::string& label) { return mean_communicate_s(named(label)); };
  CHECK(sends_s("float32") == Approx(0.5 * sends_s("allreduce")).epsilon(0.02));
  CHECK(sends_s("float16") == Approx(0.5 * sends_s("float32")).epsilon(0.02));
  CHECK(named("float16").record.simulated_s < 0.55 * named("float32").record.simulated_s);
  for (const char* kind : {"float32", "float16", "bfloat16", "int8", "qsgd"})
    CHECK(loss(named(kind)) == Approx(loss(named("allreduce"))).epsilon(0.01));
}

TEST_CASE("the_largest_k: a hundredth is enough, at random places it is not, and two are too few") {
  const auto results = results_of("the_largest_k.toml");
  const auto time = [&](const std::string& label) { return run_of(*results, label).record.time_to_target_s.value(); };
  CHECK(time("a hundredth") < 0.2 * time("all"));
  CHECK(time("a hundredth") < time("a tenth"));
  CHECK(time("a hundredth") < time("two"));
  CHECK(run_of(*results, "a hundredth").record.steps < 2 * run_of(*results, "all").record.steps);
  CHECK(time("a hundredth, forgetful") > 3 * time("a hundredth"));
  CHECK(time("a hundredth at random") > time("all"));
}

TEST_CASE("low_rank: two thin matrices a layer are enough, with a memory") {
  const auto results = results_of("low_rank.toml");
  const auto& exact = run_of(*results, "exact");
  for (const char* label : {"rank 1", "rank 2", "rank 4"}) {
    const auto& run = run_of(*results, label);
    CHECK(reached(run));
    CHECK(run.record.steps <= exact.record.steps);
    CHECK(run.record.simulated_s < 0.2 * exact.record.simulated_s);
  }
  CHECK(run_of(*results, "rank 1, forgetful").record.steps > 4 * run_of(*results, "rank 1").record.steps);
}

}  // namespace compression_scenarios_test
