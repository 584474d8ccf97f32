// A cache whose room is taken token by token: interruptions, and what they cost.
#include <tuple>

#include "catch.h"
#include "serving/served.h"

namespace serving_on_demand_test {

using namespace simgrad;
using namespace simgrad::tests;

/// Flops of T tokens that meet so many keys, and of so many tokens that are chosen.
double flops(const ServingTrial& trial, double T, double pairs, double chosen) {
  const auto L = static_cast<double>(trial.shape().layers), h = static_cast<double>(trial.shape().hidden);
  return 2.0 * T * L * trial.block() + 4.0 * h * L * pairs + 2.0 * chosen * trial.head();
}

ServingTrial on_demand(ServingTrial trial, double room_tokens) {
  trial.options.cache = serving::CacheRoom::on_demand;
  trial.give_room(room_tokens);
  return trial;
}

TEST_CASE("a full cache interrupts the request that arrived last, whose tokens pass again") {
  const ServingTrial trial = on_demand(at_once(2, 10, 6), 27.0);
  double all = flops(trial, 20.0, 2.0 * 55.0, 2.0);
  for (double j = 1.0; j <= 3.0; ++j) all += flops(trial, 2.0, 2.0 * (10.0 + j), 2.0);  // 26 tokens are in the cache
  all += flops(trial, 1.0, 14.0, 1.0) + flops(trial, 1.0, 15.0, 1.0);                   // the first request alone
  const double first_s = all / trial.speed;
  all += flops(trial, 14.0, 7.0 * 15.0, 1.0) + flops(trial, 1.0, 15.0, 1.0);  // the other's 10 and 4, then its sixth
  const ServedRun run = trial.run();
  CHECK(run.iterations == 8.0);
  CHECK(run.notes == 1.0);
  CHECK(run.requests[0].end_s == Approx(first_s).epsilon(1e-9));
  CHECK(run.requests[1].end_s == Approx(all / trial.speed).epsilon(1e-9));
  CHECK(run.requests[1].start_s == 0.0);
  CHECK(run.requests[1].first_token_s == run.requests[0].first_token_s);
  CHECK(run.cache_share == Approx(26.0 / 27.0).epsilon(1e-9));
}

TEST_CASE("a cache with room for all interrupts nobody, and the times are those of a reserved one") {
  ServingTrial trial = on_demand(at_once(8, 10, 6), 8.0 * 16.0);
  const ServedRun run = trial.run();
  CHECK(run.notes == 0.0);
  trial.options.cache = serving::CacheRoom::reserved;
  CHECK(run.simulated_s == trial.run().simulated_s);
}

TEST_CASE("more requests share the parameters' reading when room is taken on demand, and the capacity bounds them") {
  ServingTrial trial = at_once(60, 4, 40);
  trial.options.batch_size = 32;
  trial.speed = 1e18;
  trial.options.memory_bandwidth_bytes_per_s = 1e9;
  trial.give_room(180.0);
  const double reserved = trial.run().simulated_s;
  trial.options.cache = serving::CacheRoom::on_demand;
  const ServedRun run = trial.run();
  CHECK(run.notes == 1.0);
  CHECK(run.simulated_s < 0.9 * reserved);
  CHECK(60.0 / run.simulated_s < (1.0 + 1e-9) * run.capacity);
}

TEST_CASE("interrupted answers are those of requests that are alone, however the model is cut") {
  ServingTrial trial = at_once(10, 6, 14);
  trial.options.lengths = serving::Lengths::uniform;
  trial.model->options.layers = 4;
  for (const serving::Request& request : serving::requests_of(trial.options, trial.seed)) {
    auto& prompt = trial.prompts.emplace_back();
    for (std::int64_t k = 0; k < request.prompt_tokens; ++k)
      prompt.push_back(static_cast<std::int64_t>(7 * trial.prompts.size() + 5 * prompt.size() * prompt.size()) % 32);
  }
  const auto answers = [&] {
    std::vector<std::string> all;
    for (const auto& each : trial.run().requests) all.push_back(each.answer);
    return all;
  };
  trial.options.batch_size = 1;
  const std::vector<std::string> alone = answers();
  trial.options.batch_size = 8;
  for (const auto& [pipeline, tensor, chunk] : {std::tuple{1, 1, 0}, {1, 2, 3}, {2, 1, 0}, {4, 1, 3}}) {
    trial.pipeline = pipeline;
    trial.tensor = tensor;
    trial.options.prefill_chunk.reset();
    if (chunk > 0) trial.options.prefill_chunk = chunk;
    INFO(pipeline << " stages, " << tensor << " tensor ranks");
    const ServingTrial narrow = on_demand(trial, 40.0);
    trial = narrow;
    CHECK(trial.run().notes == 1.0);
    CHECK(answers() == alone);
    trial.options.cache = serving::CacheRoom::reserved;
  }
}

}  // namespace serving_on_demand_test
