// Gradients that were computed at older parameters, and their use by a server.
#include "strategies/servers/late_gradients.h"

#include "strategies/programs.h"

namespace late_gradients_test {

using namespace simgrad;
using namespace simgrad::tests;

namespace {

constexpr double lambda = 0.7;

/// Three workers of slightly different speeds push in turn, so that from the third gradient on each is two updates
/// late.
Trial in_turn(training::Program program) {
  Trial trial{.program = std::move(program), .workers = 3, .rows = 60, .features = 5};
  trial.flops_a_row = 1e6;
  trial.cluster.relative_speeds = {1.0, 0.95, 0.9};
  trial.stop.steps = 9;
  return trial;
}

/// w[k + 1] = w[k] - lr times what becomes of the part g of worker k mod 3 at w[v], v what it had pulled.
template <class Becomes>
void check_recursion(const Trial& trial, Becomes becomes) {
  const Outcome outcome = trial.run();
  const data::Dataset set = trial.data().train;
  std::vector<std::vector<double>> w{std::vector<double>(5)};
  std::vector<std::size_t> pulled(3);
  REQUIRE(outcome.evaluated.size() == 10);
  for (std::size_t k = 0; k < 9; ++k) {
    const std::size_t worker = k % 3;
    const std::size_t v = pulled[worker];
    const auto g = gradient_of(trial, set, {static_cast<std::int64_t>(worker) * 20, 20, {}}, w[v], 1.0 / 60.0);
    std::vector<double> next = w[k];
    for (std::size_t i = 0; i < next.size(); ++i)
      next[i] -= trial.training.learning_rate * becomes(g[i], w[k][i] - w[v][i], static_cast<double>(k - v));
    w.push_back(next);
    pulled[worker] = k + 1;
    CAPTURE(k);
    CHECK(relative_distance(outcome.evaluated[k + 1], next) < 1e-12);
  }
  CHECK(outcome.record.staleness_max == 2.0);
}

}  // namespace

TEST_CASE("staleness_aware divides a gradient's learning rate by its staleness, once it has any") {
  for (const std::int64_t s : {1, 2})
    check_recursion(in_turn(servers({.consistency = Consistency::asp, .shards = s, .staleness_aware = true})),
                    [](double g, double, double staleness) { return g / std::max(1.0, staleness); });
}

TEST_CASE("what staleness_aware divides is the learning rate, which an optimizer's memory does not see") {
  Trial trial = in_turn(servers({.consistency = Consistency::asp, .staleness_aware = true}));
  trial.training.optimizer.choose("momentum");
  trial.training.learning_rate = 0.02;
  std::vector<double> v(5);  // velocity of the heavy ball, with the gradients as they are
  std::size_t i = 0;
  check_recursion(trial, [&](double g, double, double staleness) {
    v[i] = 0.9 * v[i] + g;
    const double step = v[i] / std::max(1.0, staleness);
    i = (i + 1) % 5;
    return step;
  });
}

TEST_CASE("delay compensation adds lambda g^2 (w - v), for the part as for the whole gradient") {
  // The part is a third of a gradient, and so is its correction: q (g/q)^2 with q = 3.
  for (const std::int64_t s : {1, 2})
    check_recursion(in_turn(servers({.consistency = Consistency::asp, .shards = s, .delay_compensation = lambda})),
                    [](double g, double moved, double) { return g + lambda * 3.0 * g * g * moved; });
}

TEST_CASE("gradient = \"mean\" scales what is compensated and weighted, to P times each") {
  const Servers options{.consistency = Consistency::asp,
                        .staleness_aware = true,
                        .delay_compensation = lambda,
                        .part = strategies::Part::mean};
  Trial trial = in_turn(servers(options));
  trial.training.learning_rate = 0.03;
  check_recursion(trial, [](double g, double moved, double staleness) {
    return 3.0 * (g + lambda * 3.0 * g * g * moved) / std::max(1.0, staleness);
  });
}

TEST_CASE("a compensated update takes seven flops a parameter instead of two") {
  Trial trial = in_turn(servers({.consistency = Consistency::asp}));
  trial.workers = 1;
  trial.training.numbers = false;
  trial.features = 1'000'000;
  trial.cluster.relative_speeds = {};
  const double plain = trial.run().record.simulated_s;
  trial.program = servers({.consistency = Consistency::asp, .delay_compensation = lambda});
  CHECK(trial.run().record.simulated_s == Approx(plain + 9 * 5e6 / speed).epsilon(1e-9));
}

}  // namespace late_gradients_test
