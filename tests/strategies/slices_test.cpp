// Asynchronous model slicing: tensor ranks that keep each other's numbers between refreshes.
#include <cmath>
#include <functional>

#include "strategies/mesh_trial.h"

namespace slices_test {

using namespace simgrad;
using namespace simgrad::tests;

namespace {

constexpr std::int64_t in = 6, hidden = 8, rows = 24;

/// One hidden layer of tanh, whose units are shared by the ranks: a rank has a part of the sum of every row's output.
MeshTrial sliced(int tensor, std::int64_t refresh_every, std::optional<std::int64_t> staleness, std::int64_t steps) {
  auto model = std::make_shared<models::Perceptron>();
  model->hidden = {static_cast<double>(hidden)};
  model->activation = models::Activation::tanh;
  model->bias = true;
  MeshTrial trial{.model = model, .problem = {.features = in}, .strategy = {}};
  trial.rows = trial.batch = rows;
  trial.data = linear_data(rows, in, 1);
  trial.strategy = around_a_ring<strategies::Allreduce>();
  trial.parallel.tensor = tensor;
  trial.parallel.refresh_every = refresh_every;
  trial.parallel.staleness = staleness;
  trial.workers = tensor;
  trial.steps = steps;
  return trial;
}

MeshTrial synchronous(MeshTrial trial) {
  trial.parallel.refresh_every = 1;
  trial.parallel.staleness = {};
  return trial;
}

/// The training in plain loops. In step t a rank reads the others' parts of the sums as they were in step read(t), and
/// all ranks take the gradient of the last bias of step read(t).
std::vector<std::vector<double>> by_loops(const MeshTrial& trial,
                                          const std::function<std::int64_t(std::int64_t)>& read) {
  const auto T = static_cast<std::size_t>(trial.workers);
  const std::size_t h = hidden, share = h / T, n = rows, d = in;
  const double lr = trial.training.learning_rate;
  std::vector<double> w(static_cast<std::size_t>(trial.model->parameters(trial.problem)));
  trial.model->initial_values(trial.problem, 1, w);
  const std::size_t b1 = h * d, w2 = b1 + h, b2 = w2 + h;
  std::vector<std::vector<double>> all{w};
  std::vector<std::vector<std::vector<double>>> parts;  // by step, rank and row
  std::vector<double> of_b2;                            // by step
  for (std::int64_t t = 0; t < trial.steps; ++t) {
    std::vector<std::vector<double>> a(n, std::vector<double>(h)), part(T, std::vector<double>(n));
    for (std::size_t i = 0; i < n; ++i)
      for (std::size_t u = 0; u < h; ++u) {
        double z = w[b1 + u];
        for (std::size_t j = 0; j < d; ++j) z += w[u * d + j] * trial.data.features[i * d + j];
        a[i][u] = std::tanh(z);
        part[u / share][i] += w[w2 + u] * a[i][u];
      }
    parts.push_back(part);
    std::vector<double> next = w;
    double mean_of_b2 = 0.0;
    for (std::size_t r = 0; r < T; ++r)
      for (std::size_t i = 0; i < n; ++i) {
        double z = w[b2] + part[r][i];
        for (std::size_t other = 0; other < T; ++other)
          if (other != r) z += parts[static_cast<std::size_t>(read(t))][other][i];
        const double dz = (z - trial.data.targets[i]) / static_cast<double>(n);
        mean_of_b2 += dz / static_cast<double>(T);
        for (std::size_t u = r * share; u < (r + 1) * share; ++u) {
          next[w2 + u] -= lr * dz * a[i][u];
          const double da = dz * w[w2 + u] * (1.0 - a[i][u] * a[i][u]);
          next[b1 + u] -= lr * da;
          for (std::size_t j = 0; j < d; ++j) next[u * d + j] -= lr * da * trial.data.features[i * d + j];
        }
      }
    of_b2.push_back(mean_of_b2);
    next[b2] -= lr * of_b2[static_cast<std::size_t>(read(t))];
    all.push_back(w = next);
  }
  return all;
}

void check_steps(const Outcome& outcome, const std::vector<std::vector<double>>& expected) {
  REQUIRE(outcome.record.error.empty());
  REQUIRE(outcome.evaluated.size() == expected.size());
  for (std::size_t k = 0; k < expected.size(); ++k) {
    CAPTURE(k);
    CHECK(relative_distance(outcome.evaluated[k], expected[k]) < 1e-12);
  }
}

}  // namespace

TEST_CASE("slices that refresh in every step are the synchronous split, bit for bit") {
  // Rows that come for the first time are refreshed: in an epoch's two steps all are.
  for (MeshTrial trial : {transformer_trial(2, true), perceptron_trial()})
    for (const int tensor : {2, 4}) {
      trial.strategy = around_a_ring<strategies::Allreduce>();
      trial.parallel.tensor = trial.workers = tensor;
      trial.steps = 2;
      trial.training.optimizer.choose("adam");
      const Outcome plain = synchronous(trial).run();
      trial.parallel.staleness = 0;
      CHECK(trial.run().evaluated == plain.evaluated);
      trial.parallel.refresh_every = 2;
      trial.parallel.staleness = 1;
      const Outcome kept = trial.run();
      REQUIRE(kept.record.error.empty());
      CHECK(kept.evaluated == plain.evaluated);
      CHECK(kept.record.bytes == plain.record.bytes);
      CHECK(kept.record.staleness_max == 0.0);
    }
}

TEST_CASE("between refreshes a rank takes its own numbers as they are and the others' as they were") {
  for (const int tensor : {2, 4})
    for (const std::int64_t k : {1, 3, 4}) {
      const MeshTrial trial = sliced(tensor, k, {}, 12);
      const Outcome outcome = trial.run();
      CAPTURE(tensor, k);
      check_steps(outcome, by_loops(trial, [k](std::int64_t t) { return t - t % k; }));
      CHECK(outcome.record.final_loss.value() < outcome.record.curve.front().loss.value());
      if (k == 1) continue;
      CHECK(outcome.record.staleness_max == static_cast<double>(k - 1));
      CHECK(outcome.record.staleness_mean.value() == Approx(static_cast<double>(k - 1) / 2).epsilon(1e-12));
    }
}

TEST_CASE("a refresh that may come late is used a step later by ranks of one speed") {
  for (const int tensor : {2, 4}) {
    const MeshTrial trial = sliced(tensor, 1, 1, 12);
    const Outcome outcome = trial.run();
    CAPTURE(tensor);
    check_steps(outcome, by_loops(trial, [](std::int64_t t) { return std::max<std::int64_t>(t - 1, 0); }));
    CHECK(outcome.record.staleness_max == 1.0);
    CHECK(outcome.record.staleness_mean.value() == Approx(11.0 / 12).epsilon(1e-12));
    MeshTrial by_messages = trial;
    by_messages.cluster.collectives = cluster::Collectives::messages;
    const Outcome same = by_messages.run();
    CHECK(same.record.error.empty());
    CHECK(same.evaluated == outcome.evaluated);
    CHECK(same.record.simulated_s == Approx(outcome.record.simulated_s).epsilon(1e-9));
  }
}

TEST_CASE("a step without a refresh takes no message, and one with a refresh that of the sums") {
  constexpr int T = 2;
  constexpr std::int64_t k = 3, steps = 9;
  MeshTrial trial = sliced(T, k, {}, steps);
  trial.data = {};
  trial.training.numbers = false;
  const Outcome outcome = trial.run();
  REQUIRE(outcome.record.error.empty());
  const double units = hidden / T, n = rows;
  const double pass = n * (4 * in * units + 6 * units) / speed;      // 6 in out flops, 4 in the first layer
  const double update = 2 * (units * (in + 1) + units + 1) / speed;  // sgd; both ranks have the last bias
  const double sum = 2 * alpha + 8 * n / B + n / 2 / speed;          // a ring of two
  const double stale = 2 * n / speed + (k - 2) * n / speed;          // others = all - own once, and a sum a step
  CHECK(outcome.record.simulated_s == Approx(steps * (pass + update) + steps / k * (sum + stale)).epsilon(1e-9));
  CHECK(outcome.record.bytes == steps / k * 2 * 8 * rows);  // 2 (P - 1) n numbers a sum
}

TEST_CASE("what a slice keeps of the others is in its memory, as the formula has it") {
  for (const std::int64_t k : {2, 5}) {
    MeshTrial trial = sliced(2, k, {}, 10);
    const double plain = peak_memory(synchronous(trial).run().record), kept = peak_memory(trial.run().record);
    CAPTURE(k);
    CHECK(kept - plain == Approx(8.0 * (rows + 1)).epsilon(1e-12));  // a sum a row, and the last bias's gradient
    training::MemoryTerms terms = memory_terms(trial);
    terms.training_rows = trial.rows;
    const auto bytes = [&](const MeshTrial& mesh_trial) {
      return strategies::on_mesh(mesh_trial.strategy, mesh_trial.parallel)->memory(terms).sum();
    };
    CHECK(bytes(trial) - bytes(synchronous(trial)) == Approx(8.0 * (rows + 1)).epsilon(1e-12));
    trial.parallel.staleness = k + 3;
    CHECK(peak_memory(trial.run().record) <= bytes(trial) * (1 + 1e-12));
  }
}

TEST_CASE("under stragglers no number is older than the bound, and slices take less time than the synchronous split") {
  MeshTrial trial = sliced(4, 2, 6, 60);
  trial.cluster.stragglers.choose("exponential");
  trial.cluster.host_spec.speed_flops_per_s = 1e7;
  const Outcome kept = trial.run(), plain = synchronous(trial).run();
  REQUIRE(kept.record.error.empty());
  CHECK(kept.record.staleness_max.value() <= 6.0);
  CHECK(kept.record.staleness_max.value() > 1.0);
  CHECK(kept.record.simulated_s < 0.9 * plain.record.simulated_s);
  CHECK(kept.record.final_loss.value() < 0.5 * kept.record.curve.front().loss.value());
  trial.threads = 2;
  CHECK(trial.run().evaluated == kept.evaluated);
}

TEST_CASE("slices of a transformer, with sums, maxima and gatherings, move as the synchronous split to first order") {
  const auto moves = [](const Outcome& outcome) {
    std::vector<double> all = outcome.final_parameters();
    for (std::size_t i = 0; i < all.size(); ++i) all[i] -= outcome.evaluated.front()[i];
    return all;
  };
  for (const std::int64_t staleness : {3, 6}) {
    MeshTrial trial = transformer_trial(2, true);
    trial.strategy = around_a_ring<strategies::Allreduce>();
    trial.rows = trial.batch = 48;
    trial.data = text_data(48, 8, 12);
    trial.parallel.tensor = trial.workers = 4;
    trial.parallel.refresh_every = 4;
    trial.parallel.staleness = staleness;
    trial.steps = 8;
    std::vector<double> apart;
    for (const double rate : {1e-3, 1e-4}) {
      trial.training.learning_rate = rate;
      const Outcome kept = trial.run(), plain = synchronous(trial).run();
      REQUIRE(kept.record.error.empty());
      apart.push_back(relative_distance(moves(kept), moves(plain)));
      CHECK(3 * kept.record.bytes < plain.record.bytes);
    }
    CAPTURE(staleness);
    CHECK(apart[1] < 1e-2);
    CHECK(apart[1] == Approx(apart[0] / 10).epsilon(0.1));  // what is neglected goes with the rate
  }
}

TEST_CASE("rows of mini-batches are refreshed when their numbers are too old") {
  MeshTrial trial = sliced(2, 100, 99, 12);  // 3 batches an epoch; only the first epoch is refreshed
  trial.batch = 8;
  CHECK(trial.run().record.bytes == 3 * 2 * 8 * 8);
  trial.parallel.refresh_every = 2;
  trial.parallel.staleness = 1;  // no row comes again within a step
  const Outcome all = trial.run();
  CHECK(all.record.bytes == synchronous(trial).run().record.bytes);
  CHECK(all.record.staleness_max == 0.0);
}

}  // namespace slices_test
