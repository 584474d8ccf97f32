// The claims of the scenarios about models that are cut, and about experts.
#include "house/results.h"

namespace layout_scenarios_test {

using namespace simgrad;
using namespace simgrad::tests;

namespace {

const outputs::Run& of_schedule(const outputs::Results& results, const std::string& schedule, int micro_batches) {
  return run_of(results, "allreduce",
                fmt::format(R"({{"parallel.schedule":"{}","parallel.micro_batches":{}}})", schedule, micro_batches));
}

const outputs::Run& of_order(const outputs::Results& results, std::string_view order) {
  return run_of(results, "zero", R"({"parallel.order":[)" + std::string(order) + "]}");
}

}  // namespace

TEST_CASE("why_micro_batches: a step has m + 3 turns of work for m, and all schedules train the same parameters") {
  const auto results = results_of("why_micro_batches.toml");
  REQUIRE(results->runs.size() == 12);
  for (const int m : {4, 8, 32}) {
    CAPTURE(m);
    const auto s = [&](const std::string& schedule) { return of_schedule(*results, schedule, m).record.simulated_s; };
    const double computed_s = of_schedule(*results, "1f1b", m).record.ranks.front().compute_s;
    // The last stage has the head, too: 2 h V = 2,048 flops a token beside 2 (24 h^2 + 4 s h) = 53,248.
    for (const char* schedule : {"gpipe", "1f1b"})
      CHECK(s(schedule) == Approx((m + 3.0) / m * computed_s).epsilon(0.04));
    CHECK(s("naive") == Approx(4.0 * computed_s).epsilon(0.02));
    // F = 24 h^2 + 2,048; B = 24 h^2 + 4,096; W = 24 h^2, with 24 h^2 = 24,576: F + B - W of F + B + W.
    const double bubble = (26'624.0 + 28'672.0 - 24'576.0) / (26'624.0 + 28'672.0 + 24'576.0);
    CHECK(s("zb_h1") / s("1f1b") == Approx((m + 3.0 * bubble) / (m + 3.0)).epsilon(0.01));
  }
  const auto memory = [&](const std::string& schedule, int m) {
    return of_schedule(*results, schedule, m).record.memory_bytes_max.value();
  };
  CHECK(memory("1f1b", 32) < memory("1f1b", 8));
  CHECK(memory("1f1b", 8) < memory("1f1b", 4));
  CHECK(std::abs(memory("gpipe", 32) / memory("gpipe", 4) - 1.0) < 0.02);
  for (const outputs::Run& run : results->runs) CHECK(run.record.final_loss == results->runs.front().record.final_loss);
}

TEST_CASE("tensor_inside_the_host: 912 sums of activations take 15.7 s more over the NICs, for as many bytes") {
  const auto results = results_of("tensor_inside_the_host.toml", " --no-baseline");
  REQUIRE(results->runs.size() == 3);
  const outputs::Run& inside = of_order(*results, R"("tensor","data","pipeline")");
  // 48 blocks' sums on 16 + 3 micro-batches of 8 sequences; embedding and head add some.
  const double sent_bytes = 2.0 * 7 / 8 * 8 * 2048 * 8192 * 2;
  const double more_s = 48 * 19 * sent_bytes * (1 / 25e9 - 1 / 300e9);
  CHECK(more_s == Approx(15.7).epsilon(0.002));
  const outputs::Run& outside = of_order(*results, R"("data","pipeline","tensor")");
  CHECK(outside.record.simulated_s - inside.record.simulated_s == Approx(more_s).epsilon(0.06));
  CHECK(outside.record.bytes == inside.record.bytes);
  // Four ranks of a sum in each of two hosts have a ring for each of their NICs; sums of the gradient add some.
  const outputs::Run& in_two = of_order(*results, R"("data","tensor","pipeline")");
  const double over_four_s = 48 * 19 * sent_bytes * (1 / 100e9 - 1 / 300e9);
  const double took_s = in_two.record.simulated_s - inside.record.simulated_s;
  CHECK(took_s > over_four_s);
  CHECK(took_s < 1.3 * over_four_s);
  CHECK(in_two.record.bytes == inside.record.bytes);
}

TEST_CASE(
    "sharded_tables: look-ups are a small part of the bytes of all gradients, and one table is 30 % of all rows") {
  const auto results = results_of("sharded_tables.toml", " --no-baseline");
  REQUIRE(results->runs.size() == 4);
  const auto dealt_to = [&](int ranks) -> const record::Record& {
    return run_of(*results, "allreduce", fmt::format(R"({{"parallel.expert":{}}})", ranks)).record;
  };
  const double steps = 4, dense = 475'985, rows = 33'762'577, largest = 10'131'227;
  // Indices, sums and derivatives of 4 tables for each of 8 ranks; a ring of the perceptrons' gradients.
  const double look_ups = 7.0 / 8 * 2048 * 32 * (1 + 16 + 16) * 4, gradients = 2.0 * 7 / 8 * dense * 4;
  CHECK(look_ups == Approx(7.6e6).epsilon(0.01));
  CHECK(gradients == Approx(3.3e6).epsilon(0.02));
  CHECK(static_cast<double>(dealt_to(8).bytes) == 8 * steps * (look_ups + gradients));
  const double all_gradients = 2.0 * 7 / 8 * (16 * rows + dense) * 4;
  CHECK(all_gradients == Approx(3.8e9).epsilon(0.01));
  CHECK(static_cast<double>(dealt_to(1).bytes) == Approx(8 * steps * all_gradients).epsilon(1e-6));
  CHECK(dealt_to(1).simulated_s / steps == Approx(19e-3).epsilon(0.01));
  CHECK(dealt_to(8).simulated_s / steps == Approx(1.585e-3).epsilon(0.01));
  CHECK(largest / rows == Approx(0.3).epsilon(0.001));
  CHECK(dealt_to(8).memory_bytes_max.value() == Approx(dealt_to(4).memory_bytes_max.value()).epsilon(1e-3));
  const auto& ranks = dealt_to(8).ranks;  // rank 0 has the largest table
  for (std::size_t r = 1; r < ranks.size(); ++r) CHECK(ranks[r].compute_s < ranks[0].compute_s);
}

TEST_CASE(
    "stashed_weights: stale pipelines have the higher loss after as many updates, and the lower one after 0.3 s") {
  const auto losses = [](const outputs::Results& results, std::uint64_t seed) {
    std::vector<double> all;
    for (const outputs::Run& run : results.runs)
      if (run.seed == seed) all.push_back(run.record.final_loss.value());
    return all;
  };
  const std::string options = " --no-baseline --seeds 1..3";
  const auto timed = results_of("stashed_weights.toml", options);
  const auto counted = results_of("stashed_weights.toml", options + " --set stop.steps=112");
  for (std::uint64_t seed = 1; seed <= 3; ++seed) {
    CAPTURE(seed);
    const std::vector<double> in_time = losses(*timed, seed), in_steps = losses(*counted, seed);
    REQUIRE(in_time.size() == 3);  // 1f1b, pipedream, pipedream_2bw
    REQUIRE(in_steps.size() == 3);
    CHECK(in_time[0] == in_steps[0]);
    for (const std::size_t stale : {std::size_t{1}, std::size_t{2}}) {
      CHECK(in_time[stale] < in_time[0]);
      CHECK(in_steps[stale] > in_steps[0]);
    }
  }
  for (const outputs::Run& run : counted->runs) CHECK(run.record.steps == 112);
}

TEST_CASE("experts_that_overflow: with each of four seeds twice an even share gives a lower loss than less room") {
  const auto results = results_of("experts_that_overflow.toml", " --no-baseline --seeds 1..4");
  REQUIRE(results->runs.size() == 20);
  for (std::uint64_t seed = 1; seed <= 4; ++seed) {
    CAPTURE(seed);
    const auto run = [&](const std::string& factor) -> const outputs::Run& {
      for (const outputs::Run& each : results->runs)
        if (each.seed == seed && each.parameters.dump() == R"({"model.capacity_factor":)" + factor + "}") return each;
      throw std::runtime_error("no run with factor " + factor);
    };
    const auto loss = [&](const std::string& factor) { return run(factor).record.final_loss.value(); };
    CHECK(run("0.25").record.steps == 130);
    CHECK(run("1.0").record.steps == 86);
    CHECK(run("4.0").record.steps == 86);
    for (const char* const factor : {"0.25", "0.5", "1.0"}) CHECK(loss(factor) > 1.03 * loss("2.0"));
    CHECK(loss("0.25") < 0.99 * loss("1.0"));
    CHECK(loss("2.0") == Approx(loss("4.0")).epsilon(0.015));
  }
}

}  // namespace layout_scenarios_test
