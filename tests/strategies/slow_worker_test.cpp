// One worker is slower than the others: who waits for it, and for how long.
#include "strategies/programs.h"

namespace slow_worker_test {

using namespace simgrad;
using namespace simgrad::tests;

namespace {

constexpr std::int64_t steps = 4;

/// Rank 2 of four runs at half speed; reductions are free, so that gradients are all there is to slow down.
Trial with_a_slow_worker(training::Program program) {
  Trial trial{.program = std::move(program), .workers = 4, .rows = 4000, .features = 1000};
  trial.training.numbers = false;
  trial.stop.steps = steps;
  trial.cluster.charge_reductions = false;
  trial.cluster.relative_speeds = {1.0, 1.0, 0.5};
  return trial;
}

}  // namespace

TEST_CASE("a bsp step takes as long as its slowest worker: fast gradients are in before the slow one comes") {
  for (const auto& program : {mapreduce(), parameter_server(Consistency::bsp)}) {
    const Trial trial = with_a_slow_worker(program);
    const record::Record record = trial.run().record;
    const double t_c = trial.gradient_s();  // 4 ms; three gradients take 0.07 ms
    const double M = trial.message_bytes();
    // alpha + 4 M beta for the parameters, 2 t_c, then the last gradient has the server's NIC to itself
    const double step = alpha + 4 * M / B + 2 * t_c + alpha + M / B;
    CHECK(record.simulated_s == Approx(steps * step).epsilon(1e-9));
    for (std::size_t r = 0; r < 4; ++r) {
      const bool slow = r == 2;
      const double compute = slow ? 2 * t_c : t_c;
      // the fast ones' gradients share the NIC three ways
      const double communicate = alpha + 4 * M / B + alpha + (slow ? 1 : 3) * M / B;
      CAPTURE(r);
      CHECK(record.ranks[r].compute_s == Approx(steps * compute).epsilon(1e-9));
      CHECK(record.ranks[r].communicate_s == Approx(steps * communicate).epsilon(1e-9));
      CHECK(record.ranks[r].wait_s == Approx(steps * (step - compute - communicate)).epsilon(1e-9).margin(1e-12));
    }
  }
}

TEST_CASE("an allreduce step takes 2 t_c with a worker at half speed, and the others wait t_c") {
  const Trial trial = with_a_slow_worker(ring_allreduce());
  const record::Record record = trial.run().record;
  const double t_c = trial.gradient_s();
  const double hop = alpha + trial.message_bytes() / 4 / B;
  // Rank 2 begins last, and everything after depends on it; the ranks end a step at the same time.
  CHECK(record.simulated_s == Approx(steps * (2 * t_c + 6 * hop)).epsilon(1e-9));
  CHECK(record.ranks[2].wait_s == Approx(0.0).margin(1e-12));
  for (const std::size_t r : {0u, 1u, 3u}) {
    CAPTURE(r);
    CHECK(record.ranks[r].compute_s == Approx(steps * t_c).epsilon(1e-9));
    CHECK(record.ranks[r].wait_s + record.ranks[r].communicate_s == Approx(steps * (t_c + 6 * hop)).epsilon(1e-9));
  }
}

TEST_CASE("a complete graph's ranks wait for the slow one") {
  const Trial trial = with_a_slow_worker(gossip("complete", GossipUpdate::combine_then_adapt));
  const record::Record record = trial.run().record;
  const double t_c = trial.gradient_s();
  // The fast ones exchange among themselves meanwhile; then rank 2 sends to and receives from three.
  const double step = 2 * t_c + alpha + 3 * trial.message_bytes() / B;
  CHECK(record.simulated_s == Approx(steps * step).epsilon(1e-9));
  CHECK(record.ranks[2].wait_s == Approx(0.0).margin(1e-12));
}

TEST_CASE("an asynchronous server does not wait for the slow worker") {
  Trial trial = with_a_slow_worker(parameter_server(Consistency::asp));
  trial.stop = {};
  trial.stop.time_s = 1.0;
  const record::Record record = trial.run().record;
  // Gradients take 4 and 8 ms, a round trip 0.11 ms and up to four times the transfers of 6.4 us.
  const double t_c = trial.gradient_s();
  const double least = 2 * (alpha + trial.message_bytes() / B);
  const double most = 2 * (alpha + 4 * trial.message_bytes() / B);
  const double updates_most = 3.0 / (t_c + least) + 1.0 / (2 * t_c + least);
  const double updates_least = 3.0 / (t_c + most) + 1.0 / (2 * t_c + most) - 4.0;
  CHECK(static_cast<double>(record.steps) <= updates_most);
  CHECK(static_cast<double>(record.steps) >= updates_least);
}

TEST_CASE("a time limit may fall while the others wait for the slow worker") {
  for (const auto& [name, program] : parallel_strategies())
    for (int i = 1; i <= 20; ++i) {
      Trial trial = with_a_slow_worker(program);
      trial.stop = {};
      trial.stop.time_s = 0.001 * i;
      const record::Record record = trial.run().record;
      CAPTURE(name, i);
      CHECK(record.error.empty());
      CHECK(record.status == record::Status::stopped);
      CHECK(record.simulated_s == 0.001 * i);
    }
}

TEST_CASE("relative speeds slow gradients and reductions alike") {
  Trial trial{.program = single(), .workers = 1, .rows = 100, .features = 1000};
  trial.training.numbers = false;
  trial.stop.steps = 2;
  trial.cluster.relative_speeds = {0.25};
  const double step = (4.0 * 1000 * 100 + 2.0 * 1000) / (0.25 * speed);
  CHECK(trial.run().record.simulated_s == Approx(2 * step).epsilon(1e-9));
}

}  // namespace slow_worker_test
