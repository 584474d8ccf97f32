// Cores of one host on one shared memory.
#include <algorithm>

#include "strategies/programs.h"

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

}  // namespace hogwild_test
