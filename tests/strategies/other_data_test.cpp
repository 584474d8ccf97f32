// D2 and gradient tracking: replicas whose rows differ agree on the optimum of all rows, with a constant step.
#include "strategies/gossip/d2.h"
#include "strategies/gossip/gradient_tracking.h"
#include "strategies/gossip/mixing/rules.h"
#include "strategies/replicas.h"

namespace other_data_test {

using namespace simgrad;
using namespace simgrad::tests;
using strategies::D2;
using strategies::Gossip;
using strategies::GradientTracking;

namespace {

using Replicas = std::vector<std::vector<double>>;

constexpr int P = 6;

Trial other_rows(training::Program program, std::int64_t steps) {
  Trial trial{.program = std::move(program), .workers = P, .rows = 24, .features = 3};
  trial.training.learning_rate = 0.1;
  trial.stop.steps = steps;
  return trial;
}

training::Program d2() { return made<D2>(); }
training::Program tracking() { return made<GradientTracking>(); }

strategies::MixingMatrix ring(bool lazy) {
  const auto edges = strategies::graphs().find("ring")->make()->edges(P, 1);
  const strategies::MixingMatrix W = strategies::Metropolis().matrix(edges, {});
  return lazy ? W.lazy() : W;
}

Replicas mixed(const strategies::MixingMatrix& W, const Replicas& x) {
  Replicas y = x;
  for (int i = 0; i < P; ++i)
    for (std::size_t k = 0; k < x[0].size(); ++k) {
      y[static_cast<std::size_t>(i)][k] = 0.0;
      for (int j = 0; j < P; ++j)
        y[static_cast<std::size_t>(i)][k] += W.entry(i, j) * x[static_cast<std::size_t>(j)][k];
    }
  return y;
}

/// a x + b y, of all replicas.
Replicas sum(double a, const Replicas& x, double b, const Replicas& y) {
  Replicas z = x;
  for (std::size_t i = 0; i < x.size(); ++i)
    for (std::size_t k = 0; k < x[i].size(); ++k) z[i][k] = a * x[i][k] + b * y[i][k];
  return z;
}

Replicas gradients(const Trial& trial, const Replicas& x) {
  Replicas g;
  for (int i = 0; i < P; ++i)
    g.push_back(gradient_of(trial, trial.data().train, trial.batches().rows({0, i, P}), x[static_cast<std::size_t>(i)],
                            static_cast<double>(P) / static_cast<double>(trial.rows)));
  return g;
}

std::vector<double> mean(const Replicas& x) {
  std::vector<double> w(x[0].size());
  for (const auto& replica : x)
    for (std::size_t k = 0; k < w.size(); ++k) w[k] += replica[k] / P;
  return w;
}

Replicas zeros(const Trial& trial) {
  return Replicas(P, std::vector<double>(static_cast<std::size_t>(trial.features)));
}

void check_follows(const Outcome& outcome, const std::vector<Replicas>& expected) {
  REQUIRE(outcome.record.error.empty());
  REQUIRE(outcome.evaluated.size() == expected.size());
  for (std::size_t k = 0; k < expected.size(); ++k) {
    const std::vector<double> w = mean(expected[k]);
    if (k > 0) REQUIRE(relative_distance(outcome.evaluated[k], w) < 1e-10);
    double squares = 0.0;
    for (const auto& replica : expected[k])
      for (std::size_t j = 0; j < w.size(); ++j) squares += (replica[j] - w[j]) * (replica[j] - w[j]);
    REQUIRE(outcome.record.curve[k].consensus_distance.value() ==
            Approx(std::sqrt(squares / P)).epsilon(1e-9).margin(1e-13));
  }
}

}  // namespace

TEST_CASE("d2 is x <- W (2 x - x before - lr (g - g before)), the first step W (x - lr g)") {
  const Trial trial = other_rows(d2(), 40);
  const double lr = trial.training.learning_rate;
  const auto W = ring(true);
  std::vector<Replicas> all{zeros(trial)};
  Replicas before = all[0], g_before = gradients(trial, before);
  all.push_back(mixed(W, sum(1.0, before, -lr, g_before)));
  while (all.size() <= 40) {
    const Replicas x = all.back(), g = gradients(trial, x);
    all.push_back(mixed(W, sum(1.0, sum(2.0, x, -1.0, before), -lr, sum(1.0, g, -1.0, g_before))));
    before = x;
    g_before = g;
  }
  check_follows(trial.run(), all);
}

TEST_CASE("gradient tracking is x <- W x - lr y with y <- W y + g - g before") {
  const Trial trial = other_rows(tracking(), 40);
  const auto W = ring(false);
  std::vector<Replicas> all{zeros(trial)};
  Replicas g = gradients(trial, all[0]), y = g;
  while (all.size() <= 40) {
    all.push_back(sum(1.0, mixed(W, all.back()), -trial.training.learning_rate, y));
    const Replicas next = gradients(trial, all.back());
    y = sum(1.0, mixed(W, y), 1.0, sum(1.0, next, -1.0, g));
    g = next;
  }
  check_follows(trial.run(), all);
}

TEST_CASE("d2 and gradient tracking come to the optimum of all rows with a constant step, D-PSGD beside it") {
  const double least = least_loss(other_rows(single(), 1));
  for (const auto& program : {d2(), tracking()}) {
    const Outcome outcome = other_rows(program, 3000).run();
    CHECK(outcome.record.curve.back().consensus_distance.value() < 1e-10);
    CHECK(*outcome.record.final_loss - least < 1e-12);
  }
  const Outcome plain = other_rows(gossip("ring", GossipUpdate::combine_then_adapt), 3000).run();
  CHECK(plain.record.curve.back().consensus_distance.value() > 1e-3);
  CHECK(*plain.record.final_loss - least > 1e-6);
}

TEST_CASE("d2 refuses mixing with eigenvalues of -1/3 or less, and matrices that are not symmetric") {
  struct Asked : D2 {
    using D2::matrix_refusal;
  };
  CHECK(Asked().matrix_refusal(ring(true)).empty());
  Asked eager;
  eager.lazy = false;
  CHECK(eager.matrix_refusal(ring(false)).find("the least of these is -0.333333; set lazy = true") !=
        std::string::npos);
  const auto star = strategies::graphs().find("star")->make()->edges(4, 1);
  CHECK(Asked().matrix_refusal(strategies::Uniform().matrix(star, {})).find("symmetric") != std::string::npos);
}

TEST_CASE(
    "a step of d2 takes 2 d flops more than gossip's, one of gradient tracking twice the bytes and 3 + 2 degree more") {
  Trial trial = other_rows(d2(), 10);
  trial.features = 2000;
  trial.training.learning_rate = 1e-4;  // it must not diverge, which would end it
  const double M = trial.message_bytes(), d = 2000 / speed;
  CHECK(trial.run().record.simulated_s ==
        Approx(10 * (trial.gradient_s() + alpha + 2 * M / B + (5 + 2 + 2) * d)).epsilon(1e-9));
  trial.program = tracking();
  CHECK(trial.run().record.simulated_s ==
        Approx(10 * (trial.gradient_s() + alpha + 2 * 2 * M / B + (2 * 5 + 2 + 2) * d)).epsilon(1e-9));
}

}  // namespace other_data_test
