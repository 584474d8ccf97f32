// Gossip by codes: of gradients, of parameters, and of differences to copies.
#include <algorithm>
#include <cmath>

#include "strategies/compressed.h"

namespace coded_gossip_test {

using namespace simgrad;
using namespace simgrad::tests;

namespace {

constexpr std::int64_t d = 6;

training::Program coded(GossipUpdate update, const Compressor& compression, double gamma = 0.0, bool overlap = false) {
  auto strategy = std::make_shared<strategies::Gossip>();
  strategy->update = update;
  strategy->overlap = overlap;
  strategy->compression = compression.slot();
  if (gamma > 0.0) strategy->consensus_step = gamma;
  if (auto* chosen = dynamic_cast<training::Compressor*>(strategy->compression.object());
      update != GossipUpdate::gradient_exchange)
    chosen->error_feedback = false;
  return strategies::program(strategy);
}

Trial trial_of(training::Program program) {
  Trial trial{.program = std::move(program), .workers = 5, .rows = 50, .features = d};
  trial.stop.steps = 40;
  trial.training.learning_rate = 0.1;
  return trial;
}

std::vector<double> last_of(const Trial& trial) {
  const Outcome outcome = trial.run();
  REQUIRE(outcome.record.error.empty());
  return outcome.evaluated.back();
}

constexpr GossipUpdate updates[] = {GossipUpdate::combine_then_adapt, GossipUpdate::adapt_then_combine,
                                    GossipUpdate::gradient_exchange};

}  // namespace

TEST_CASE("gossip by codes that leave nothing out is gossip") {
  for (const GossipUpdate update : updates) {
    const auto plain = last_of(trial_of(coded(update, Compressor("none"))));
    const double gamma = update == GossipUpdate::gradient_exchange ? 0.0 : 1.0;
    for (const Exact& exact : exact_compressors(d)) {
      CAPTURE(static_cast<int>(update), exact.name);
      const double step = exact.name == "float64" ? 0.0 : gamma;
      CHECK(relative_distance(last_of(trial_of(coded(update, exact.compression, step))), plain) <=
            std::max(exact.within, 1e-12));
    }
  }
}

TEST_CASE("every code can be gossiped, also beside the gradient") {
  for (const GossipUpdate update : updates)
    for (const auto& entry : training::compressors().entries()) {
      CAPTURE(static_cast<int>(update), entry.about.kind);
      const Outcome outcome = trial_of(coded(update, Compressor(entry.about.kind))).run();
      CHECK(outcome.record.error.empty());
      if (update != GossipUpdate::combine_then_adapt) continue;
      CHECK(trial_of(coded(update, Compressor(entry.about.kind), 0.0, true)).run().evaluated == outcome.evaluated);
    }
}

TEST_CASE("averaging codes of parameters leaves their mean where it is") {
  // Without gradients (learning rate 0 but for a first step that scatters the replicas) nothing else moves it.
  for (const char* kind : {"float16", "int8", "qsgd", "top_k", "sign"}) {
    CAPTURE(kind);
    Trial trial = trial_of(coded(GossipUpdate::adapt_then_combine, Compressor(kind)));
    trial.training.learning_rate = 1e-9;
    Trial plain = trial_of(coded(GossipUpdate::adapt_then_combine, Compressor("none")));
    plain.training.learning_rate = 1e-9;
    // Gradients hardly differ among replicas that are so near: the mean moves as without codes.
    CHECK(relative_distance(last_of(trial), last_of(plain)) < 1e-7);
  }
}

TEST_CASE("copies let replicas agree by two of six numbers a message") {
  // CHOCO-SGD: as many steps as without codes to the same loss but for a few; bytes two sixths, with places.
  auto trial = trial_of(coded(GossipUpdate::adapt_then_combine, Compressor("top_k", {.k = 2})));
  auto plain = trial_of(coded(GossipUpdate::adapt_then_combine, Compressor("none")));
  for (Trial* each : {&trial, &plain}) each->stop.steps = 300;
  const Outcome few = trial.run();
  const Outcome all = plain.run();
  CHECK(relative_distance(few.evaluated.back(), all.evaluated.back()) < 0.02);
  CHECK(few.record.bytes * 3 == all.record.bytes);
}

TEST_CASE("a step of gossip in float16 takes a quarter of the time on the wire") {
  constexpr std::int64_t n = 4000;
  const auto step_s = [](std::string_view kind, GossipUpdate update = GossipUpdate::adapt_then_combine) {
    Trial trial{
        .program = coded(update, Compressor(kind)), .workers = 5, .rows = 10, .features = n, .flops_a_row = 0.0};
    trial.stop.steps = 10;
    trial.training.numbers = false;
    return trial.run().record.simulated_s / 10.0;
  };
  // A ring: degree 2; combining takes 5 d flops, the update 2 d.
  const double M = 8.0 * n;
  CHECK(step_s("none") == Approx(alpha + 2 * M / B + 7.0 * n / speed).epsilon(1e-9));
  // d to encode, 2 d to decode two codes, 2 d for the mean.
  CHECK(step_s("float16") == Approx(alpha + 2 * M / 4 / B + (7.0 + 5.0) * n / speed).epsilon(1e-9));
  // top_k, 1 %: d for the difference, 3 d to encode, nothing to decode; copies 3 k, combining 5 d, moving 2 d, update 2
  // d.
  const double k = n / 100.0;
  const double wire = alpha + 2 * 8.0 * k / B;
  CHECK(step_s("top_k") == Approx(wire + ((1.0 + 3.0 + 5.0 + 2.0 + 2.0) * n + 3.0 * k) / speed).epsilon(1e-9));
  // Codes of gradients: 3 d to encode, combining 5 k, update 2 d.
  CHECK(step_s("top_k", GossipUpdate::gradient_exchange) == Approx(wire + (5.0 * n + 5.0 * k) / speed).epsilon(1e-9));
}

}  // namespace coded_gossip_test
