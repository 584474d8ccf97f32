// Replicas that are updated each at its own pace: AD-PSGD and asynchronous broadcast.
#include "strategies/gossip/ad_psgd.h"
#include "strategies/gossip/async_broadcast.h"
#include "strategies/replicas.h"

namespace own_pace_test {

using namespace simgrad;
using namespace simgrad::tests;
using strategies::AdPsgd;
using strategies::AsyncBroadcast;

namespace {

training::Program pairs(std::string_view graph = "ring") {
  return made<AdPsgd>([&](AdPsgd& ad_psgd) { ad_psgd.graph.choose(graph); });
}
/// Falls by the round, and is 0 in the end, so that the last updates come in.
struct FallsAndEnds : training::LearningRateSchedule {
  static constexpr base::About about{.kind = "falls_and_ends", .summary = "", .cost = "", .source = ""};
  void describe(base::Describer&) override {}
  double factor(double rounds) const override { return rounds < 30.0 ? 1.0 / (1.0 + rounds) : 0.0; }
};

training::Program broadcast() { return made<AsyncBroadcast>(); }

}  // namespace

TEST_CASE("a worker alone is sequential, bit for bit, under AD-PSGD and asynchronous broadcast") {
  Trial trial{.program = single(), .workers = 1, .rows = 50, .features = 6};
  trial.batch = 10;
  trial.stop.samples = 400;
  const Outcome alone = trial.run();
  for (const auto& program : {pairs(), broadcast()}) {
    trial.program = program;
    const Outcome outcome = trial.run();
    CHECK(outcome.evaluated == alone.evaluated);
    CHECK(outcome.record.steps == 40);
    CHECK(outcome.record.samples == 400);
    CHECK(outcome.record.staleness_max == 0.0);
  }
}

TEST_CASE("two workers of one speed that ask each other average once: D-PSGD of two, in the time of one message") {
  Trial trial{.program = pairs(), .workers = 2, .rows = 48, .features = 2000};
  trial.training.learning_rate = 1e-4;  // it must not diverge, which would end it
  trial.flops_a_row = 1e3;
  trial.stop.steps = 20;
  const Outcome outcome = trial.run();
  const double transfer = alpha + trial.message_bytes() / B;
  trial.program = gossip("complete", GossipUpdate::combine_then_adapt);
  CHECK(relative_distance(outcome.final_parameters(), trial.run().final_parameters()) < 1e-12);
  CHECK(outcome.record.simulated_s == Approx(20 * (2 * transfer + (2 + 2) * 2000 / speed)).epsilon(1e-9));
}

TEST_CASE("AD-PSGD preserves the mean and comes to consensus on any graph, odd rings too") {
  for (const std::string graph : {"ring", "star", "complete", "path", "random_regular"})
    for (const int P : {2, 5, 8}) {
      if (!strategies::graphs().find(graph)->make()->refusal(P).empty()) continue;
      Trial trial = averaging(pairs(graph), P, 1500);
      trial.cluster.relative_speeds = {0.7, 1.0, 0.9};
      trial.evaluate.every_steps = 100;
      const Outcome outcome = trial.run();
      CAPTURE(graph, P);
      REQUIRE(outcome.record.error.empty());
      CHECK(outcome.record.curve.back().consensus_distance.value() < 1e-10);
      CHECK(relative_distance(outcome.final_parameters(), one_step(trial)) < 1e-10);
    }
}

TEST_CASE("AD-PSGD preserves the mean where answers overtake questions") {
  for (const int P : {2, 5})
    for (const std::uint64_t seed : {1, 2, 3, 4}) {
      Trial trial = averaging(pairs("complete"), P, 600);
      trial.seed = seed;
      trial.flops_a_row = 1e4;  // 40 us, less than most messages take
      auto jitter = std::make_unique<cluster::LogNormalJitter>();
      jitter->latency = 1.0;
      trial.cluster.jitter = base::Slot<cluster::Jitter>(cluster::jitters(), std::move(jitter));
      const Outcome outcome = trial.run();
      CAPTURE(P, seed);
      REQUIRE(outcome.record.error.empty());
      CHECK(relative_distance(outcome.final_parameters(), one_step(trial)) < 1e-12);
    }
}

TEST_CASE("a step of replicas at their own pace is P updates, and a slow worker does not hold up the others") {
  Trial trial{.program = pairs(), .workers = 8, .rows = 48, .features = 4};
  trial.flops_a_row = 1e6;
  trial.batch = 16;
  trial.stop.steps = 100;
  trial.cluster.relative_speeds = {0.1};
  const Outcome outcome = trial.run();
  CHECK(outcome.record.steps == 100);
  CHECK(outcome.record.samples == 1600);
  // Seven at full speed and a tenth do 7.1 updates in t_c.
  const double t_c = 2e6 / speed;
  CHECK(outcome.record.simulated_s == Approx(800 * t_c / 7.1).epsilon(0.02));
  trial.program = gossip("ring", GossipUpdate::combine_then_adapt);
  CHECK(trial.run().record.simulated_s > 100 * 10 * t_c);
}

TEST_CASE("under asynchronous broadcast all replicas get the same updates") {
  for (const int P : {2, 5, 8}) {
    Trial trial = averaging(broadcast(), P, 10);
    trial.flops_a_row = 1e6;  // longer than any message takes
    const Outcome outcome = trial.run();
    CAPTURE(P);
    REQUIRE(outcome.record.error.empty());
    CHECK(outcome.record.curve.back().consensus_distance.value() < 1e-15);
    CHECK(relative_distance(outcome.final_parameters(), one_step(trial)) < 1e-12);
  }
}

TEST_CASE("replicas under asynchronous broadcast end equal where rates fall, speeds differ and optimizers remember") {
  for (const std::string optimizer : {"sgd", "momentum", "adam"}) {
    Trial trial{.program = broadcast(), .workers = 4, .rows = 48, .features = 3};
    trial.flops_a_row = 1e6;  // longer than any message takes
    trial.cluster.relative_speeds = {0.13, 0.5};
    trial.training.schedule = base::Slot<training::LearningRateSchedule>(training::learning_rate_schedules(),
                                                                         std::make_unique<FallsAndEnds>());
    trial.training.optimizer.choose(optimizer);
    trial.stop.steps = 60;
    const Outcome outcome = trial.run();
    CAPTURE(optimizer);
    REQUIRE(outcome.record.error.empty());
    CHECK(outcome.record.curve.back().consensus_distance.value() < 1e-14);
    CHECK(*outcome.record.final_loss < 0.9 * *outcome.record.curve.front().loss);
  }
}

TEST_CASE("a round of asynchronous broadcast takes the longer of gradient and sending to all") {
  for (const double flops_a_row : {1e4, 1e6}) {
    Trial trial{.program = broadcast(), .workers = 4, .rows = 48, .features = 2000};
    trial.flops_a_row = flops_a_row;
    trial.stop.steps = 20;
    trial.training.learning_rate = 1e-3;
    const Outcome outcome = trial.run();
    const double sending = alpha + 3 * trial.message_bytes() / B;
    const double step = trial.gradient_s() + 2 * 2000 / speed;
    // The first two updates wait for no sends: of none, and of the first.
    CHECK(outcome.record.simulated_s ==
          Approx(step + 19 * std::max(step, sending)).epsilon(flops_a_row > 1e5 ? 1e-9 : 0.05));
  }
}

TEST_CASE("asynchronous broadcast of 300 workers takes the time of sending to all others") {
  Trial trial{.program = broadcast(), .workers = 300, .rows = 300, .features = 2000};
  trial.training.numbers = false;
  trial.stop.steps = 5;
  const record::Record record = trial.run().record;
  const double sending = alpha + 299 * trial.message_bytes() / B;
  const double step = trial.gradient_s() + 2 * 2000 / speed;
  // Each message waits until the receiver has added the one before; the first two updates wait for no sends.
  CHECK(record.simulated_s == Approx(step + 4 * sending + 3 * 2000 / speed).epsilon(1e-9));
}

TEST_CASE("replicas at their own pace end at a target, a time limit, and a number of samples") {
  for (const auto& program : {pairs(), broadcast()}) {
    Trial trial{.program = program, .workers = 4, .rows = 48, .features = 4};
    trial.stop.loss = 0.1;
    trial.stop.steps = 2000;
    const Outcome reached = trial.run();
    CHECK(reached.record.status == record::Status::reached);
    trial.stop = {};
    trial.stop.time_s = 0.01;
    CHECK(trial.run().record.simulated_s == 0.01);
    trial.stop = {};
    trial.stop.epochs = 7.0;
    const Outcome outcome = trial.run();
    CHECK(outcome.record.samples == 7 * 48);
    CHECK(outcome.record.steps == 7);
  }
}

TEST_CASE("under asynchronous broadcast a gradient's age grows with the time that its update travels") {
  const auto record_at = [](double latency_s) {
    Trial trial{.program = broadcast(), .workers = 2, .rows = 48, .features = 4};
    trial.flops_a_row = 1e6;  // 24 ms a gradient
    trial.cluster.host_spec.latency_s = latency_s;
    trial.cluster.relative_speeds = {1.0, 0.999};  // no two updates at one time
    trial.stop.steps = 60;
    trial.training.learning_rate = 1e-4;
    return trial.run().record;
  };
  // Each gradient is applied by both ranks, after one of the other's.
  CHECK(record_at(1e-6).staleness_mean.value() == Approx(1.0).epsilon(0.02));
  // An update is sent when the one before has come, every 60 ms, and applied 120 ms after its parameters were read. By
  // then the other rank has applied two of its own, and this one a later one. By its own rank it is applied after 24
  // ms, before the other's by the faster rank, and after that by the slower one.
  const record::Record far = record_at(60e-3);
  CHECK(far.staleness_mean.value() == Approx((0.0 + 1.0 + 3.0 + 3.0) / 4.0).epsilon(0.05));
  CHECK(far.ranks[0].staleness_mean.value() == Approx((0.0 + 3.0) / 2.0).epsilon(0.05));
  CHECK(far.ranks[1].staleness_mean.value() == Approx((1.0 + 3.0) / 2.0).epsilon(0.05));
}

TEST_CASE("a rank of AD-PSGD that comes back goes on with a neighbour's parameters, and all agree in the end") {
  Trial trial = averaging(pairs("complete"), 4, 1500);
  trial.flops_a_row = 1e4;
  const double whole_s = trial.run().record.simulated_s;
  cluster::Crash crash;
  crash.rank = 2;
  crash.at_s = 0.4 * whole_s;
  crash.repair_s = 0.1 * whole_s;
  trial.cluster.failures.crashes = {crash};
  trial.cluster.failures.recovery = cluster::Recovery::keep_going;
  trial.cluster.failures.detection_s = 1e-4;
  const Outcome outcome = trial.run();
  REQUIRE(outcome.record.error.empty());
  CHECK(outcome.record.steps == 1500);
  CHECK(outcome.record.ranks[2].down_s == Approx(0.1 * whole_s).epsilon(1e-9));
  // By the crash all replicas are equal, and the one that is back begins with their parameters, not with the start's.
  CHECK(outcome.record.curve.back().consensus_distance.value() < 1e-10);
  CHECK(relative_distance(outcome.final_parameters(), one_step(trial)) < 1e-10);
  // It updates again: it computes for its share of the time that is left.
  const double others_s = outcome.record.ranks[1].compute_s;
  CHECK(outcome.record.ranks[2].compute_s == Approx(0.9 * others_s).epsilon(0.05));
}

}  // namespace own_pace_test
