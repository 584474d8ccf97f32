// Codes of what replicas send each other that are not gossip's: D2, gradient tracking, push-sum, pairs, broadcast.
#include <algorithm>

#include "strategies/compressed.h"
#include "strategies/replicas.h"

namespace coded_replicas_test {

using namespace simgrad;
using namespace simgrad::tests;
using strategies::AdPsgd;
using strategies::AsyncBroadcast;
using strategies::D2;
using strategies::GradientTracking;
using strategies::Sgp;

namespace {

template <class Strategy>
training::Program coded(const Compressor& compression) {
  return made<Strategy>([&](Strategy& strategy) { strategy.compression = compression.slot(); });
}
template <class Strategy>
training::Program coded(std::string_view kind) {
  return coded<Strategy>(Compressor(kind));
}

struct Path {
  std::string name;
  training::Program (*program)(std::string_view);
};
const std::vector<Path> paths = {{"d2", coded<D2>},
                                 {"gradient_tracking", coded<GradientTracking>},
                                 {"sgp", coded<Sgp>},
                                 {"ad_psgd", coded<AdPsgd>},
                                 {"async_broadcast", coded<AsyncBroadcast>}};

Trial trial_of(training::Program program) {
  Trial trial{.program = std::move(program), .workers = 4, .rows = 48, .features = 6};
  trial.stop.steps = 60;
  trial.training.learning_rate = 0.05;
  return trial;
}

/// n parameters, 20 steps.
constexpr std::int64_t n = 2000;
Trial timed(training::Program program, int workers, double flops_a_row) {
  Trial trial{.program = std::move(program), .workers = workers, .rows = 40, .features = n, .flops_a_row = flops_a_row};
  trial.stop.steps = 20;
  trial.training.learning_rate = 1e-3;
  return trial;
}

constexpr double number_s = n / speed;  // a flop a parameter
constexpr double M = 8.0 * n, m = 2.0 * n;

}  // namespace

TEST_CASE("replicas that send float64 are those that send no codes, bit for bit") {
  for (const Path& path : paths) {
    CAPTURE(path.name);
    const Outcome plain = trial_of(path.program("none")).run();
    const Outcome same = trial_of(path.program("float64")).run();
    CHECK(same.evaluated == plain.evaluated);
    CHECK(same.record.simulated_s == plain.record.simulated_s);
    CHECK(same.record.bytes == plain.record.bytes);
  }
}

TEST_CASE("a worker alone sends nothing, and nothing of its is rounded") {
  for (const Path& path : paths) {
    CAPTURE(path.name);
    Trial alone = trial_of(single());
    Trial trial = trial_of(path.program("int8"));
    alone.workers = trial.workers = 1;
    CHECK(relative_distance(trial.run().final_parameters(), alone.run().final_parameters()) < 1e-12);
  }
}

TEST_CASE("replicas that send rounded numbers learn what those learn that send exact ones") {
  for (const Path& path : paths) {
    const Outcome plain = trial_of(path.program("none")).run();
    using Within = std::pair<const char*, double>;
    for (const auto& [kind, within] : {Within("float32", 1e-6), Within("float16", 5e-3), Within("bfloat16", 0.03),
                                       Within("int8", 0.05), Within("qsgd", 0.3)}) {
      CAPTURE(path.name, kind);
      const Outcome rounded = trial_of(path.program(kind)).run();
      CHECK(rounded.record.error.empty());
      CHECK(*rounded.record.final_loss == Approx(*plain.record.final_loss).epsilon(within));
      CHECK(rounded.evaluated.back() != plain.evaluated.back());
    }
  }
}

TEST_CASE("averages of codes keep the mean: what one side gains the other loses") {
  for (const Path& path : paths) {
    if (path.name == "async_broadcast") continue;  // no averages
    for (const char* kind : {"float16", "int8", "qsgd"}) {
      CAPTURE(path.name, kind);
      Trial trial = averaging(path.program(kind), 8, 40);
      trial.cluster.relative_speeds = {0.7, 1.0, 0.9};
      const Outcome outcome = trial.run();
      REQUIRE(outcome.record.error.empty());
      CHECK(relative_distance(outcome.final_parameters(), one_step(trial)) < 1e-12);
    }
  }
}

TEST_CASE("a step of D2 and of gradient tracking in float16 takes a quarter of the time on the wire") {
  const auto step_s = [](const training::Program& program) {
    return timed(program, 5, 1e3).run().record.simulated_s / 20;
  };
  const double t_c = timed(single(), 5, 1e3).gradient_s();
  // A ring, degree 2: correction 2 d, combining 5 d, update 2 d; codes: 1 encoded, 2 decoded, 2 d for the mean.
  CHECK(step_s(coded<D2>("none")) == Approx(t_c + alpha + 2 * M / B + 9 * number_s).epsilon(1e-9));
  CHECK(step_s(coded<D2>("float16")) == Approx(t_c + alpha + 2 * m / B + (9 + 5) * number_s).epsilon(1e-9));
  CHECK(step_s(coded<GradientTracking>("none")) == Approx(t_c + alpha + 4 * M / B + 14 * number_s).epsilon(1e-9));
  CHECK(step_s(coded<GradientTracking>("float16")) ==
        Approx(t_c + alpha + 4 * m / B + (14 + 10) * number_s).epsilon(1e-9));
}

TEST_CASE("a push of float16 takes a quarter of the time on the wire, and keeps what it leaves out in 3 d") {
  const auto step_s = [](std::string_view kind) {
    return timed(coded<Sgp>(kind), 8, 1e3).run().record.simulated_s / 20;
  };
  const double t_c = timed(single(), 8, 1e3).gradient_s();
  CHECK(step_s("none") == Approx(t_c + alpha + (M + 8) / B + 5 * number_s).epsilon(1e-9));
  CHECK(step_s("float16") == Approx(t_c + alpha + (m + 8) / B + (5 + 1 + 3 + 1) * number_s).epsilon(1e-9));
}

TEST_CASE("two that ask each other in float16 encode once and decode once") {
  const auto step_s = [](std::string_view kind) {
    return timed(coded<AdPsgd>(kind), 2, 1e3).run().record.simulated_s / 20;
  };
  CHECK(step_s("none") == Approx(2 * (alpha + M / B) + 4 * number_s).epsilon(1e-9));
  CHECK(step_s("float16") == Approx(2 * (alpha + m / B) + (4 + 2) * number_s).epsilon(1e-9));
}

TEST_CASE("a round of broadcast in float16 takes as long as its gradient and encoding, or as sending to all") {
  const auto round_s = [](std::string_view kind, double flops_a_row) {
    return timed(coded<AsyncBroadcast>(kind), 4, flops_a_row).run().record.simulated_s / 20;
  };
  const double t_c = timed(single(), 4, 1e6).gradient_s();
  CHECK(round_s("none", 1e6) == Approx(t_c + 2 * number_s).epsilon(1e-9));
  CHECK(round_s("float16", 1e6) == Approx(t_c + (2 + 1) * number_s).epsilon(1e-9));
  const auto sending_s = [](std::string_view kind) {
    Trial trial = timed(coded<AsyncBroadcast>(kind), 4, 0.0);
    trial.cluster.charge_reductions = false;
    return trial.run().record.simulated_s;
  };
  // Only the first round waits for no sends.
  CHECK(sending_s("none") == Approx(19 * (alpha + 3 * M / B)).epsilon(1e-9));
  CHECK(sending_s("float16") == Approx(19 * (alpha + 3 * m / B)).epsilon(1e-9));
}

TEST_CASE("messages between replicas weigh what their codes weigh") {
  const auto bytes = [](const training::Program& program) {
    Trial trial = timed(program, 4, 1e6);
    return static_cast<double>(trial.run().record.bytes);
  };
  for (const Path& path : paths) {
    CAPTURE(path.name);
    const double weights = path.name == "sgp" ? 20.0 * 4 * 8 : 0.0;  // which are sent as they are
    const double plain = bytes(path.program("none")) - weights;
    CHECK((bytes(path.program("float16")) - weights) * 4 == plain);
    CHECK((bytes(path.program("int8")) - weights) * M == plain * (n + 2 * 4));  // two buckets
  }
}

TEST_CASE("every compressor can be broadcast, and all replicas apply what was sent, and memory sends all in the end") {
  for (const auto& entry : training::compressors().entries()) {
    CAPTURE(entry.about.kind);
    Trial trial = averaging(coded<AsyncBroadcast>(entry.about.kind), 5, 10);
    trial.flops_a_row = 1e6;  // longer than any message takes
    const Outcome outcome = trial.run();
    CHECK(outcome.record.error.empty());
    CHECK(outcome.record.curve.back().consensus_distance.value() < 1e-15);
  }
  const auto moved = [](const Compressor& compression) {
    Trial trial = trial_of(coded<AsyncBroadcast>(compression));
    trial.stop.steps = 400;
    trial.training.learning_rate = 1e-4;
    return trial.run().final_parameters();
  };
  const std::vector<double> plain = moved(Compressor("none"));
  CHECK(relative_distance(moved(Compressor("top_k", {.k = 6})), plain) < 1e-12);
  CHECK(relative_distance(moved(Compressor("top_k", {.error_feedback = true, .k = 1})), plain) < 0.05);
  CHECK(relative_distance(moved(Compressor("top_k", {.k = 1})), plain) > 0.2);
}

}  // namespace coded_replicas_test
