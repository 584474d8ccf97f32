// Cores of one host on one shared memory.
#include <algorithm>
#include <cmath>

#include "strategies/programs.h"
#include "strategies/sparse_trial.h"

namespace hogwild_test {

using namespace simgrad;
using namespace simgrad::tests;

namespace {

Trial cores(int P, std::int64_t updates) {
  Trial trial{.program = hogwild(), .workers = P, .rows = 720, .features = 20};
  trial.flops_a_row = 1e5;
  trial.stop.steps = updates;
  return trial;
}

}  // namespace

TEST_CASE("hogwild on one core is sequential, bit for bit and to the second") {
  for (const std::int64_t batch : {720, 100}) {
    Trial trial = cores(1, 50);
    trial.batch = batch;
    const Outcome core = trial.run();
    trial.program = single();
    const Outcome sequential = trial.run();
    CHECK(core.evaluated == sequential.evaluated);
    CHECK(core.record.simulated_s == Approx(sequential.record.simulated_s).epsilon(1e-12));
    CHECK(core.record.samples == sequential.record.samples);
    CHECK(core.record.staleness_max == 0.0);
  }
}

TEST_CASE("P cores make P updates in the time of one, P - 1 of them late by the others', and use no network") {
  for (const int P : {2, 4, 8}) {
    const Trial trial = cores(P, 50 * P);
    const record::Record record = trial.run().record;
    CAPTURE(P);
    const double update_s = 2.0 * 20 / speed;
    CHECK(record.simulated_s == Approx(50 * (trial.gradient_s() + update_s)).epsilon(1e-9));
    CHECK(record.bytes == 0);
    CHECK(record.links.empty());
    CHECK(record.samples == 50 * 720);
    CHECK(record.staleness_max <= 2.0 * (P - 1));
    CHECK(*record.staleness_mean == Approx(P - 1).epsilon(0.02));
  }
}

TEST_CASE("a core's update is added to what is in memory by then") {
  // Three cores of different speeds: the order of updates is that of times, computed here by hand.
  Trial trial = cores(3, 40);
  trial.cluster.relative_speeds = {1.0, 0.7, 0.45};
  const Outcome outcome = trial.run();
  const data::Dataset set = trial.data().train;
  std::vector<std::vector<double>> w{std::vector<double>(20)};
  std::vector<std::vector<double>> read(3, w[0]);
  std::vector<double> done(3);
  const auto takes_s = [&](std::size_t core) {
    return (trial.gradient_s() + 40.0 / speed) / trial.cluster.relative_speeds[core];
  };
  for (std::size_t core = 0; core < 3; ++core) done[core] = takes_s(core);
  REQUIRE(outcome.evaluated.size() == 41);
  for (std::size_t k = 1; k <= 40; ++k) {
    const auto core = static_cast<std::size_t>(std::min_element(done.begin(), done.end()) - done.begin());
    const auto g = gradient_of(trial, set, {static_cast<std::int64_t>(core) * 240, 240, {}}, read[core], 1.0 / 720.0);
    w.push_back(w.back());
    for (std::size_t i = 0; i < g.size(); ++i) w.back()[i] -= trial.training.learning_rate * g[i];
    read[core] = w.back();
    CAPTURE(k);
    REQUIRE(relative_distance(outcome.evaluated[k], w.back()) < 1e-12);
    CHECK(outcome.record.curve[k].simulated_s == Approx(done[core]).epsilon(1e-9));
    done[core] += takes_s(core);
  }
}

TEST_CASE("when hogwild's host crashes all cores are down, and go on from the last checkpoint") {
  Trial trial = cores(4, 60);
  trial.training.checkpoint_every_steps = 10;
  const double whole_s = trial.run().record.simulated_s;
  cluster::Crash crash;
  crash.rank = 2;
  crash.at_s = 0.5 * whole_s;
  crash.repair_s = 1.0;
  trial.cluster.failures.crashes = {crash};
  const record::Record record = trial.run().record;
  CHECK(record.error.empty());
  CHECK(record.steps == 60);
  for (const auto& rank : record.ranks) CHECK(rank.down_s == Approx(1.0).epsilon(1e-9));
}

TEST_CASE("hogwild's samples and staleness are those of the updates in the state that is reported") {
  // All four cores make their second update at one moment, of which the stop lets the first one count.
  Trial trial = cores(4, 5);
  trial.batch = 200;
  const record::Record record = trial.run().record;
  CHECK(record.steps == 5);
  CHECK(record.samples == 5 * 50);
  CHECK(record.curve.back().samples == 5 * 50);
  // Ages of the five: 0, 1, 2, 3, and 3.
  CHECK(*record.staleness_mean == Approx(9.0 / 5.0).epsilon(1e-12));
}

TEST_CASE("on a sparse model hogwild of one core is the sequential algorithm by rows, bit for bit and to the second") {
  for (const char* optimizer : {"sgd", "adagrad"}) {
    SparseTrial trial = hogwild();
    trial.workers = 1;
    trial.training.optimizer.choose(optimizer);
    const Outcome core = trial.run();
    trial.program = single();
    const Outcome sequential = trial.run();
    CAPTURE(optimizer);
    CHECK(core.evaluated == sequential.evaluated);
    CHECK(core.record.simulated_s == Approx(sequential.record.simulated_s).epsilon(1e-12));
    CHECK(core.record.samples == sequential.record.samples);
    CHECK(core.record.notes.empty());
  }
}

namespace {

/// Row i has key i alone, of very many.
SparseTrial a_key_a_row(int P, std::int64_t updates) {
  data::Dataset set;
  set.rows = 8;
  set.columns = 5000;
  set.classes = 2;
  for (std::uint32_t i = 0; i < 8; ++i) {
    set.sparse.starts.push_back(i);
    set.sparse.keys.push_back(i);
    set.targets.push_back(i % 2);
  }
  set.sparse.starts.push_back(8);
  SparseTrial trial = hogwild();
  trial.data = set;
  trial.workers = P;
  trial.batch = 8;
  trial.stop.steps = updates;
  return trial;
}

}  // namespace

TEST_CASE("hogwild's cores pay for the keys of their batches alone, and leave the other parameters as they are") {
  for (const int P : {1, 2, 4}) {
    const SparseTrial trial = a_key_a_row(P, 10 * P);
    const Outcome outcome = trial.run();
    // Keys are disjoint, so that the cores do not disturb each other: each is gradient descent on its own rows. 4 flops
    // an entry and 2 a key that changes, of 8 / P rows.
    const double rows = 8.0 / P;
    CAPTURE(P);
    CHECK(outcome.record.simulated_s == Approx(10 * (4 * rows + 2 * rows) / speed).epsilon(1e-9));
    std::vector<double> w(5000);
    for (int step = 0; step < 10; ++step)
      for (std::size_t i = 0; i < 8; ++i) {
        const double p = 1.0 / (1.0 + std::exp(-w[i]));
        w[i] -= trial.training.learning_rate * (p - static_cast<double>(i % 2)) / 8.0;
      }
    CHECK(relative_distance(outcome.final_parameters(), w) < 1e-12);
    CHECK(*outcome.record.staleness_mean == Approx(P - 1).margin(0.05 * P));
  }
}

TEST_CASE("an optimizer that moves every parameter makes hogwild's updates dense, and the run says so") {
  SparseTrial trial = a_key_a_row(2, 6);
  trial.training.optimizer.choose("momentum");
  const record::Record record = trial.run().record;
  REQUIRE(record.notes.size() == 2);
  CHECK(record.notes.front() == "stop.steps = 6: a step is one update by the gradient of one worker, and not of all");
  CHECK(record.notes.back().starts_with("hogwild: every update moves all parameters"));
  // 3 updates a core, of all 5000 parameters: 4 d flops each with momentum.
  CHECK(record.simulated_s > 3 * 4 * 5000 / speed);
}

TEST_CASE("when hogwild's host crashes in a sparse training, it goes on from the last checkpoint's table") {
  SparseTrial trial = a_key_a_row(2, 40);
  const Outcome whole = trial.run();
  trial.training.checkpoint_every_steps = 10;
  cluster::Crash crash;
  crash.rank = 1;
  crash.at_s = 0.6 * whole.record.simulated_s;
  crash.repair_s = 1.0;
  trial.cluster.failures.crashes = {crash};
  const Outcome outcome = trial.run();
  CHECK(outcome.record.error.empty());
  CHECK(outcome.record.steps == 40);
  for (const auto& rank : outcome.record.ranks) CHECK(rank.down_s == Approx(1.0).epsilon(1e-9));
  // Disjoint keys: whoever repeats which update, the losses fall as they did.
  CHECK(*outcome.record.final_loss == Approx(*whole.record.final_loss).epsilon(0.05));
}

}  // namespace hogwild_test
