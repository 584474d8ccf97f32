// Shards of the optimizer's vectors, gradients and parameters: numbers, bytes and times.
#include "strategies/sharded/zero.h"

#include <algorithm>
#include <cmath>

#include "strategies/fragile.h"
#include "strategies/programs.h"
#include "strategies/sharded/fsdp.h"

namespace zero_test {

using namespace simgrad;
using namespace simgrad::tests;
using strategies::Fsdp;
using strategies::Zero;

namespace {

constexpr double gamma_s = 1.0 / (8.0 * speed);  // s/byte: one addition a double

training::Program zero(std::int64_t stage, std::optional<double> bucket_bytes = {}, std::int64_t micro_batches = 1,
                       bool no_sync = false) {
  auto strategy = std::make_shared<Zero>();
  strategy->stage = stage;
  strategy->bucket_bytes = bucket_bytes;
  strategy->micro_batches = micro_batches;
  strategy->no_sync = no_sync;
  return strategies::program(strategy);
}

training::Program fsdp(const std::function<void(Fsdp&)>& change = [](Fsdp&) {}) {
  auto strategy = std::make_shared<Fsdp>();
  change(*strategy);
  return strategies::program(strategy);
}

Trial trained(training::Program program, int P, const char* optimizer = "adam", int layers = 4) {
  Trial trial{.program = std::move(program), .workers = P, .rows = 60, .features = 13};
  trial.layers = layers;
  trial.stop.steps = 6;
  trial.training.optimizer.choose(optimizer);
  return trial;
}

/// Two steps of timing only. Compute: `flops_a_row` a row, 2 rows a worker.
Trial timed(training::Program program, int P, std::int64_t d, int layers, double flops_a_row) {
  Trial trial{.program = std::move(program), .workers = P, .rows = 16 * 15 * 14 * 13, .features = d};
  trial.batch = 2 * P;
  trial.layers = layers;
  trial.flops_a_row = flops_a_row;
  trial.training.numbers = false;
  trial.stop.steps = 2;
  return trial;
}

/// Times of a ring over P members, for a vector of so many bytes that P divides.
double all_gather_s(int P, double bytes) { return (P - 1) * (alpha + bytes / P / B); }
double reduce_scatter_s(int P, double bytes) { return (P - 1) * (alpha + bytes / P / B + bytes / P * gamma_s); }

}  // namespace

TEST_CASE("zero trains the parameters of a ring allreduce with equal buckets, bit for bit") {
  constexpr double layer_bytes = 8.0 * 3;
  for (const int P : {1, 2, 3, 5})
    for (const char* optimizer : {"sgd", "adam", "adamw"}) {
      CAPTURE(P, optimizer);
      const Outcome whole = trained(allreduce("ring"), P, optimizer).run();
      CHECK(trained(zero(1), P, optimizer).run().evaluated == whole.evaluated);
      const Outcome in_layers = trained(allreduce("ring", layer_bytes), P, optimizer).run();
      for (const int stage : {1, 2}) {
        CAPTURE(stage);
        CHECK(trained(zero(stage, layer_bytes), P, optimizer).run().evaluated == in_layers.evaluated);
      }
      CHECK(trained(zero(2), P, optimizer).run().evaluated == in_layers.evaluated);
      CHECK(trained(zero(3), P, optimizer).run().evaluated == in_layers.evaluated);
      CHECK(trained(fsdp(), P, optimizer).run().evaluated == in_layers.evaluated);
    }
}

TEST_CASE("one bucket of zero's first stage takes exactly what all at once takes") {
  for (const int P : {1, 3, 4}) {
    const Outcome whole = trained(zero(1), P).run(), bucket = trained(zero(1, 1e9), P).run();
    CAPTURE(P);
    CHECK(bucket.evaluated == whole.evaluated);
    CHECK(bucket.record.simulated_s == whole.record.simulated_s);
    CHECK(bucket.record.bytes == whole.record.bytes);
    CHECK(bucket.record.messages == whole.record.messages);
  }
}

TEST_CASE("fsdp trains the same parameters, however many units are gathered at a time and whether they stay") {
  const Outcome plain = trained(fsdp(), 4).run();
  CHECK(trained(fsdp([](Fsdp& f) { f.prefetch = false; }), 4).run().evaluated == plain.evaluated);
  CHECK(trained(fsdp([](Fsdp& f) { f.limit = 3; }), 4).run().evaluated == plain.evaluated);
  CHECK(trained(fsdp([](Fsdp& f) { f.reshard_after_forward = false; }), 4).run().evaluated == plain.evaluated);
}

TEST_CASE("groups that share the parameters train those of all workers, to 1e-12") {
  const Outcome plain = trained(allreduce("ring"), 6).run();
  for (const int group : {1, 2, 3, 6}) {
    const Outcome hybrid = trained(fsdp([&](Fsdp& f) { f.shard_group = group; }), 6).run();
    REQUIRE(hybrid.evaluated.size() == plain.evaluated.size());
    for (std::size_t k = 0; k < plain.evaluated.size(); ++k)
      CHECK(relative_distance(hybrid.evaluated[k], plain.evaluated[k]) < 1e-12);
  }
}

TEST_CASE("micro-batches add up to the gradient of all rows, to 1e-12") {
  const Outcome plain = trained(allreduce("ring"), 3).run();
  const auto accumulated = [](bool no_sync) {
    auto strategy = around_a_ring<strategies::Allreduce>();
    strategy->micro_batches = 4;
    strategy->no_sync = no_sync;
    auto in_buckets = std::make_shared<strategies::Allreduce>(*strategy);
    in_buckets->bucket_bytes = 1.0;
    const auto units = fsdp([&](Fsdp& f) {
      f.micro_batches = 4;
      f.no_sync = no_sync;
    });
    return std::vector{strategies::program(strategy), strategies::program(in_buckets), zero(1, {}, 4, no_sync),
                       zero(2, {}, 4, no_sync),       zero(3, {}, 4, no_sync),         units};
  };
  for (const bool no_sync : {false, true})
    for (const auto& program : accumulated(no_sync)) {
      const Outcome outcome = trained(program, 3).run();
      REQUIRE(outcome.evaluated.size() == plain.evaluated.size());
      CHECK(outcome.evaluated.back() != plain.evaluated.front());
      for (std::size_t k = 0; k < plain.evaluated.size(); ++k)
        CHECK(relative_distance(outcome.evaluated[k], plain.evaluated[k]) < 1e-12);
      CHECK(outcome.record.samples == plain.record.samples);
    }
}

TEST_CASE("stages 1 and 2 send 2(P-1)/P M bytes a worker and step, stage 3 and fsdp 3(P-1)/P M") {
  constexpr int P = 4, layers = 4, k = 3;
  constexpr std::int64_t d = 1600, M = 8 * d;
  // (P-1)/P M by each of P workers, in each of two steps.
  constexpr std::int64_t once = 2 * (P - 1) * M;
  const auto bytes = [&](const training::Program& program) {
    return timed(program, P, d, layers, 1e6).run().record.bytes;
  };
  CHECK(bytes(ring_allreduce()) == 2 * once);
  CHECK(bytes(zero(1)) == 2 * once);
  CHECK(bytes(zero(2)) == 2 * once);
  CHECK(bytes(zero(3)) == 3 * once);
  CHECK(bytes(fsdp()) == 3 * once);
  CHECK(bytes(fsdp([](Fsdp& f) { f.reshard_after_forward = false; })) == 2 * once);
  // In groups of H = 2: 3 (H-1)/H M, and an allreduce of M/H over P/H = 2: 2 (1/2) M/H.
  CHECK(bytes(fsdp([](Fsdp& f) { f.shard_group = 2; })) == 2 * P * (3 * M / 2 + M / 2));
  // Micro-batches: every reduction k times; parameters are gathered once a step, or by fsdp in every micro-batch.
  CHECK(bytes(zero(1, {}, k)) == (k + 1) * once);
  CHECK(bytes(zero(1, {}, k, true)) == 2 * once);
  CHECK(bytes(zero(3, {}, k)) == 3 * k * once);
  CHECK(bytes(zero(3, {}, k, true)) == (2 * k + 1) * once);
}

TEST_CASE("a step of zero's first stage takes t_c + reduce-scatter + t_update/P + all-gather") {
  for (const int P : {1, 2, 4, 8}) {
    constexpr std::int64_t d = 8'000;
    const Trial trial = timed(zero(1), P, d, 1, 1e6);
    const double update_s = 2.0 * d / P / speed;
    const double step_s = 2 * 1e6 / speed + reduce_scatter_s(P, 8.0 * d) + update_s + all_gather_s(P, 8.0 * d);
    CHECK(trial.run().record.simulated_s == Approx(2 * step_s).epsilon(1e-9));
  }
}

TEST_CASE("buckets of zero are reduced beside the backward pass") {
  constexpr int P = 4, layers = 4;
  constexpr std::int64_t d = 8'000;
  const double bucket = 8.0 * d / layers;
  for (const double flops : {1e4, 1e6, 1e8}) {
    // c_i = max(b_i, c_(i-1)) + T_reduce_scatter of a bucket
    const double pass_s = 2 * flops / 2 / speed;
    for (const int stage : {1, 2}) {
      double ready_s = pass_s, reduced_s = 0.0;
      for (int layer = 0; layer < layers; ++layer) {
        ready_s += pass_s / layers;
        if (stage == 2) ready_s = std::max(ready_s, reduced_s);  // there is memory for two buckets
        reduced_s = std::max(ready_s, reduced_s) + reduce_scatter_s(P, bucket);
      }
      const double step_s = reduced_s + 2.0 * d / P / speed + layers * all_gather_s(P, bucket);
      CHECK(timed(zero(stage, bucket), P, d, layers, flops).run().record.simulated_s ==
            Approx(2 * step_s).epsilon(1e-9));
    }
  }
}

namespace {

/// A step of fsdp, pass by pass. The last unit is gathered again for its backward pass once it has been dropped behind
/// its forward pass.  pass_s: of one unit, forwards or backwards.
double unit_step_s(int U, std::size_t limit, bool reshard, double pass_s, double gather_s, double reduce_s) {
  const auto passes = static_cast<std::size_t>(2 * U);
  std::vector<double> gathered(passes, 0.0);
  double now = 0.0, stream = 0.0, last_sum = 0.0;
  std::size_t started = 0;
  for (std::size_t k = 0; k < passes; ++k) {
    const std::size_t turn = reshard && k < passes / 2 ? passes / 2 : passes;
    for (; started < std::min(k + limit, turn); ++started)
      if (started < passes / 2 || reshard) gathered[started] = stream = std::max(stream, now) + gather_s;
    now = std::max(now, gathered[k]) + pass_s;
    if (k < passes / 2) continue;
    now = std::max(now, last_sum);
    last_sum = stream = std::max(stream, now) + reduce_s;
  }
  return last_sum;
}

}  // namespace

TEST_CASE("a step of fsdp hides what its passes are long enough for, unit by unit") {
  constexpr int P = 4, U = 4;
  constexpr std::int64_t d = 8'000;
  const double unit_bytes = 8.0 * d / U, update_s = 2.0 * d / P / speed;
  const double gather_s = all_gather_s(P, unit_bytes), reduce_s = reduce_scatter_s(P, unit_bytes);
  for (const double flops : {1e4, 1e6, 1e8}) {
    const double pass_s = 2 * flops / 2 / U / speed;
    const auto step_s = [&](std::size_t limit, bool reshard = true) {
      return unit_step_s(U, limit, reshard, pass_s, gather_s, reduce_s) + update_s;
    };
    const auto check_step = [&](const training::Program& program, double expected_s) {
      CHECK(timed(program, P, d, U, flops).run().record.simulated_s == Approx(2 * expected_s).epsilon(1e-9));
    };
    CAPTURE(flops);
    check_step(fsdp(), step_s(2));
    check_step(zero(3), step_s(2));
    check_step(fsdp([](Fsdp& f) { f.limit = 3; }), step_s(3));
    check_step(fsdp([](Fsdp& f) { f.reshard_after_forward = false; }), step_s(2, false));
    check_step(fsdp([](Fsdp& f) { f.prefetch = false; }), step_s(1));
  }
  // Long passes hide all but the first all-gather of each direction and the last reduce-scatter.
  const double pass_s = 2 * 1e8 / 2 / U / speed;
  CHECK(unit_step_s(U, 2, true, pass_s, gather_s, reduce_s) ==
        Approx(2 * U * pass_s + 2 * gather_s + reduce_s).epsilon(1e-9));
}

TEST_CASE("a shard goes on from its checkpoint after a crash, as if nothing had happened") {
  for (const auto& program : {zero(1), zero(2), zero(3), fsdp([](Fsdp& f) { f.shard_group = 2; }),
                              fsdp([](Fsdp& f) { f.shard_group = 1; })}) {
    Trial trial = fragile(program);
    trial.layers = 3;
    trial.training.optimizer.choose("adam");
    const Outcome undisturbed = trial.run();
    const double at_s = undisturbed.record.curve[10].simulated_s + 0.5 * t_c;  // in the gradient of step 11
    const Outcome outcome = with_crashes(trial, {crash(3, at_s)}).run();
    check_sound(outcome.record);
    CHECK(outcome.record.crashes == 1);
    CHECK(outcome.final_parameters() == undisturbed.final_parameters());
  }
}

TEST_CASE("the one parameter of a model is a shard, where it is restored, and others' shards are empty") {
  for (const auto& program : {zero(1), zero(2), zero(3), fsdp()}) {
    Trial trial = fragile(program);
    trial.features = 1;
    trial.training.optimizer.choose("adam");
    const Outcome undisturbed = trial.run();
    const double at_s = undisturbed.record.curve[10].simulated_s + 0.5 * t_c;
    const Outcome outcome = with_crashes(trial, {crash(3, at_s)}).run();
    check_sound(outcome.record);
    CHECK(outcome.record.crashes == 1);
    CHECK(outcome.final_parameters() == undisturbed.final_parameters());
  }
}

TEST_CASE("a recomputed forward pass takes its flops once more in the backward pass, and changes no number") {
  constexpr std::int64_t d = 1'000;
  for (const auto& program : {ring_allreduce(), allreduce("ring", 1.0), zero(1), zero(3)}) {
    const int P = 2;
    Trial trial = timed(program, P, d, 4, 1e9);
    const double plain_s = trial.run().record.simulated_s;
    trial.training.recompute = training::Recompute::full;
    // two steps, two rows a worker; half of the flops are the forward pass's, and the last of four units needs no
    // second
    CHECK(trial.run().record.simulated_s == Approx(plain_s + 2 * 2 * 0.75 * 0.5e9 / speed).epsilon(1e-9));
    Trial numbers = trained(program, P);
    const Outcome kept = numbers.run();
    numbers.training.recompute = training::Recompute::full;
    CHECK(numbers.run().evaluated == kept.evaluated);
  }
}

}  // namespace zero_test
