// Gradient work and messages of one host that slow each other down (cluster.overlap_slowdown).
#include <algorithm>
#include <memory>

#include "strategies/programs.h"

namespace overlap_slowdown_test {

using namespace simgrad;
using namespace simgrad::tests;

namespace {

constexpr int steps = 4;

Trial timed(training::Program program, int workers, std::int64_t features, int layers, double slowdown) {
  Trial trial{.program = std::move(program), .workers = workers, .rows = workers, .features = features};
  trial.flops_a_row = 0.01 * speed;
  trial.layers = layers;
  trial.training.numbers = false;
  trial.cluster.charge_reductions = false;
  trial.cluster.overlap_slowdown = slowdown;
  trial.stop.steps = steps;
  trial.evaluate.every_steps = steps;
  return trial;
}

training::Program overlapped_gossip() {
  auto strategy = std::make_shared<strategies::Gossip>();
  strategy->graph.choose("ring");
  strategy->overlap = true;
  return strategies::program(strategy);
}

}  // namespace

TEST_CASE("a bucket beside the backward pass and that pass slow each other down") {
  constexpr int layers = 2;
  for (const double s : {0.0, 0.1, 0.4})
    for (const std::int64_t d : {200'000, 2'000'000}) {
      const double m = 8.0 * static_cast<double>(d) / layers;
      const Trial trial = timed(allreduce("ring", m), 2, d, layers, s);
      const double b = trial.gradient_s() / 4.0;  // of a layer backwards; forwards 2 b
      const double a = m / B;                     // the bytes of a bucket: two exchanges of one half
      // Beside the backward pass of the first layer the bucket of the second is summed: all of it, or only until that
      // pass ends, during the bytes of the first exchange.
      const double beside = 2.0 * alpha + a / (1.0 - s);
      double first_bucket_s = 0.0;  // from the end of the second layer until both are over
      if ((1.0 - s) * beside <= b) {
        first_bucket_s = b + s * beside;
      } else {
        const double pass_s = b / (1.0 - s);
        REQUIRE((pass_s > alpha && pass_s < alpha + a / 2.0 / (1.0 - s)));
        first_bucket_s = pass_s + a / 2.0 - (1.0 - s) * (pass_s - alpha) + alpha + a / 2.0;
      }
      CAPTURE(s, d);
      const record::Record record = trial.run().record;
      CHECK(record.error.empty());
      CHECK(record.simulated_s == Approx(steps * (3.0 * b + first_bucket_s + 2.0 * alpha + a)).epsilon(1e-9));
    }
}

TEST_CASE("gossip that overlaps its gradient takes the longer of the two and a part of the shorter") {
  for (const double s : {0.0, 0.25, 0.5})
    for (const std::int64_t d : {300'000, 3'000'000}) {
      Trial trial = timed(overlapped_gossip(), 5, d, 1, s);
      const double t_c = trial.gradient_s();
      const double bytes_s = 2.0 * trial.message_bytes() / B;  // to two neighbours
      const double messages_s = alpha + bytes_s / (1.0 - s);   // all beside the gradient
      const double beside = (1.0 - s) * messages_s <= t_c
                                ? t_c + s * messages_s
                                : t_c / (1.0 - s) + bytes_s - (1.0 - s) * (t_c / (1.0 - s) - alpha);
      CAPTURE(s, d);
      const record::Record record = trial.run().record;
      CHECK(record.error.empty());
      CHECK(record.simulated_s == Approx(steps * beside).epsilon(1e-9));
    }
}

TEST_CASE("work and messages one after the other slow nothing down") {
  const auto simulated_s = [](double slowdown) {
    Trial trial = timed(ring_allreduce(), 4, 100'000, 1, slowdown);
    trial.cluster.charge_reductions = true;
    trial.cluster.collectives = cluster::Collectives::messages;
    return trial.run().record.simulated_s;
  };
  CHECK(simulated_s(0.5) == Approx(simulated_s(0.0)).epsilon(1e-9));
}

TEST_CASE("what a host sends to many by one link is slowed down as a whole") {
  // Five ranks that send to four others at once: as one message of four times the bytes.
  Trial trial = timed(overlapped_gossip(), 5, 3'000'000, 1, 0.5);
  auto strategy = std::make_shared<strategies::Gossip>();
  strategy->graph.choose("complete");
  strategy->overlap = true;
  trial.program = strategies::program(strategy);
  const double t_c = trial.gradient_s(), bytes_s = 4.0 * trial.message_bytes() / B;
  CHECK(trial.run().record.simulated_s ==
        Approx(steps * (t_c / 0.5 + bytes_s - 0.5 * (t_c / 0.5 - alpha))).epsilon(1e-9));
}

TEST_CASE("gradients that messages slow down are still interrupted by new parameters") {
  // The slow worker is late in every step, and gives up while the parameters come in.
  const auto simulated_s = [](double slowdown) {
    Trial trial = timed(servers({.backup_workers = 1, .late = strategies::Late::cancel}), 2, 100'000, 1, slowdown);
    trial.cluster.relative_speeds = {1.0, 0.3};
    const record::Record record = trial.run().record;
    CHECK(record.error.empty());
    CHECK(record.steps == steps);
    return record.simulated_s;
  };
  CHECK(simulated_s(0.5) == Approx(simulated_s(0.0)).epsilon(1e-9));
}

}  // namespace overlap_slowdown_test
