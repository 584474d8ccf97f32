// Between bsp and asp: bounded staleness, the first gradients of a step, gradients in batches of K.
#include <algorithm>

#include "strategies/programs.h"

namespace consistency_test {

using namespace simgrad;
using namespace simgrad::tests;

namespace {

/// Four workers whose gradients take much longer than the network, rank 0's twice as long.
Trial one_slow(training::Program program, std::int64_t updates) {
  Trial trial{.program = std::move(program), .workers = 4, .rows = 80, .features = 6};
  trial.batch = 40;
  trial.flops_a_row = 1e6;  // 10 ms a gradient
  trial.cluster.relative_speeds = {0.5};
  trial.stop.steps = updates;
  return trial;
}

Trial equal_workers(training::Program program, std::int64_t updates) {
  Trial trial = one_slow(std::move(program), updates);
  trial.cluster.relative_speeds = {};
  return trial;
}

/// So many rows' part of the gradient, as rank r of P computes it in that step.
std::vector<double> part_of(const Trial& trial, const data::Dataset& set, const std::vector<double>& w,
                            std::int64_t step, int r) {
  const training::Batches batches = trial.batches();
  return gradient_of(trial, set, batches.rows({step, r, trial.workers}), w, 1.0 / static_cast<double>(batches.batch()));
}

}  // namespace

TEST_CASE("ssp with bound 0 is bsp: the same numbers at the same times, and nothing is stale") {
  for (const std::int64_t s : {1, 3}) {
    const Outcome bsp = one_slow(servers({.shards = s}), 20).run();
    const Outcome ssp =
        one_slow(servers({.consistency = Consistency::ssp, .shards = s, .staleness_bound = 0}), 20).run();
    CHECK(ssp.evaluated == bsp.evaluated);
    CHECK(ssp.record.simulated_s == bsp.record.simulated_s);
    CHECK(ssp.record.bytes == bsp.record.bytes);
    CHECK(ssp.record.staleness_max == 0.0);
  }
}

TEST_CASE("ssp with a bound that nobody reaches is asp, bit for bit") {
  const Outcome asp = one_slow(servers({.consistency = Consistency::asp}), 60).run();
  const Outcome ssp = one_slow(servers({.consistency = Consistency::ssp, .staleness_bound = 1000}), 60).run();
  CHECK(ssp.evaluated == asp.evaluated);
  CHECK(ssp.record.simulated_s == asp.record.simulated_s);
}

TEST_CASE("ssp's fast workers are ahead of a slow one by the bound and no more, on any number of servers") {
  for (const std::int64_t s : {1, 4})
    for (const std::int64_t bound : {1, 2, 5}) {
      Trial trial = one_slow(servers({.consistency = Consistency::ssp, .shards = s, .staleness_bound = bound}), 200);
      const record::Record record = trial.run().record;
      CAPTURE(s, bound, record.error);
      trial.cluster.relative_speeds = {0.01};
      // Before a very slow worker's first gradient the three others give bound + 1 each, the last of which waits for
      // its answer: so many updates are applied between the slow one's read and its update.
      CHECK(trial.run().record.staleness_max == 3.0 * static_cast<double>(bound + 1));
      // Three fast workers are held to the slow one's pace of 20 ms a clock; they are `bound` clocks ahead at the end.
      const double clocks = (200.0 - 3.0 * static_cast<double>(bound)) / 4.0;
      CHECK(record.simulated_s == Approx(clocks * 0.02).epsilon(0.05));
    }
}

TEST_CASE("with a backup worker an update is the mean of the first three gradients of its step") {
  // The fourth is a hundred times slower: its gradient of step 0 arrives late, and is dropped.
  Trial trial = one_slow(servers({.backup_workers = 1}), 30);
  trial.cluster.relative_speeds = {1.0, 1.0, 1.0, 0.01};
  const Outcome outcome = trial.run();
  const data::Dataset set = trial.data().train;
  std::vector<double> w(6);
  REQUIRE(outcome.evaluated.size() == 31);
  for (std::int64_t k = 0; k < 30; ++k) {
    const std::vector<double> at = w;
    for (int r = 0; r < 3; ++r) {
      const auto g = part_of(trial, set, at, k, r);
      for (std::size_t i = 0; i < w.size(); ++i) w[i] -= trial.training.learning_rate * 4.0 / 3.0 * g[i];
    }
    REQUIRE(relative_distance(outcome.evaluated[static_cast<std::size_t>(k) + 1], w) < 1e-12);
  }
  CHECK(outcome.record.samples == 30 * 30);  // 10 rows each of three workers
  CHECK(!outcome.record.staleness_max);
  // A step: 10 ms, the pull and the push of four (six or so microseconds) and the updates.
  CHECK(outcome.record.simulated_s == Approx(30 * (0.01 + 2 * alpha)).epsilon(1e-3));
}

TEST_CASE("a worker that came too late goes on with the newest parameters and the present step's batch") {
  Trial trial = one_slow(servers({.backup_workers = 1}), 8);
  trial.cluster.relative_speeds = {1.0, 1.0, 1.0, 0.4};  // 25 ms: a gradient of step 0 comes in step 2
  const Outcome outcome = trial.run();
  const data::Dataset set = trial.data().train;
  // Every gradient that anybody computed is of a state that the server had.
  std::int64_t found = 0;
  for (const Seen& seen : outcome.gradients_at)
    found += std::ranges::find(outcome.evaluated, seen.w) != outcome.evaluated.end() ? 1 : 0;
  CHECK(found == std::ssize(outcome.gradients_at));
  // Three in time compute in each of eight steps of 10 ms; the late one begins at 0, 25, 50 and 75 ms.
  CHECK(outcome.gradients_at.size() == 3 * 8 + 4);
}

TEST_CASE("K-batch-sync with K = P equal workers is bsp") {
  for (const std::int64_t s : {1, 2}) {
    const Outcome bsp = equal_workers(servers({.shards = s}), 20).run();
    const Outcome k_batch = equal_workers(servers({.shards = s, .k_batch = 4}), 20).run();
    CAPTURE(s, k_batch.record.error);
    CHECK(k_batch.evaluated == bsp.evaluated);
    CHECK(k_batch.record.simulated_s == Approx(bsp.record.simulated_s).epsilon(1e-9));
    CHECK(k_batch.record.samples == bsp.record.samples);
  }
}

TEST_CASE("K-batch-sync takes several gradients of a fast worker, and the slow one's is given up") {
  // 10 ms, 10 ms, 10 ms and 100 ms a gradient: six gradients take two rounds of the three.
  Trial trial = one_slow(servers({.k_batch = 6}), 10);
  trial.cluster.relative_speeds = {1.0, 1.0, 1.0, 0.1};
  const record::Record record = trial.run().record;
  REQUIRE(record.error.empty());
  CHECK(record.samples == 10 * 6 * 10);
  // No waiting: a round is two gradients, two pushes of which the first is overlapped by nothing, and a pull.
  CHECK(record.simulated_s == Approx(10 * (2 * 0.01 + 3 * alpha)).epsilon(2e-3));
  CHECK(record.ranks[3].compute_s == Approx(record.simulated_s).epsilon(0.02));
  CHECK(record.ranks[3].bytes_sent == 0);
}

TEST_CASE("K-batch-async with K = 1 is asp with gradient = mean, and with K more it updates once for K gradients") {
  const Outcome asp = one_slow(servers({.consistency = Consistency::asp, .part = strategies::Part::mean}), 40).run();
  const Outcome one = one_slow(servers({.consistency = Consistency::asp, .k_batch = 1}), 40).run();
  CHECK(one.evaluated == asp.evaluated);
  const Outcome four = one_slow(servers({.consistency = Consistency::asp, .k_batch = 4}), 10).run();
  CHECK(four.record.samples == asp.record.samples);
  CHECK(four.record.steps == 10);
  // Half as many updates pass while a gradient is computed as gradients come in, if K is 2: staleness counts updates.
  const Outcome two = one_slow(servers({.consistency = Consistency::asp, .k_batch = 2}), 200).run();
  const Outcome many = one_slow(servers({.consistency = Consistency::asp}), 400).run();
  CHECK(*two.record.staleness_mean == Approx(*many.record.staleness_mean / 2).epsilon(0.2));
}

TEST_CASE("K-batch-sync and K-batch-async make the same first update: by the mean over the rows of K gradients") {
  for (const std::int64_t K : {2, 3}) {
    CAPTURE(K);
    Trial trial = one_slow(servers({.k_batch = K}), 1);
    trial.cluster.relative_speeds = {1.0, 0.9, 0.8, 0.7};
    const Outcome sync = trial.run();
    trial.program = servers({.consistency = Consistency::asp, .k_batch = K});
    const Outcome async = trial.run();
    std::vector<double> w(6);
    const std::vector<double> start = w;
    const data::Dataset set = trial.data().train;
    for (int r = 0; r < static_cast<int>(K); ++r) {
      const auto g = part_of(trial, set, start, 0, r);
      for (std::size_t i = 0; i < w.size(); ++i)
        w[i] -= trial.training.learning_rate * 4.0 / static_cast<double>(K) * g[i];
    }
    CHECK(relative_distance(sync.final_parameters(), w) < 1e-12);
    CHECK(relative_distance(async.final_parameters(), w) < 1e-12);
    CHECK(sync.record.samples == 10 * K);
    CHECK(async.record.samples == 10 * K);
  }
}

TEST_CASE("gradients that wait for the others of their K count when these have come") {
  // Pushes at 10, 11, 12.5 and 14 ms, and at 20 ms again: by 18 ms one update, and one gradient that waits.
  Trial trial = one_slow(servers({.consistency = Consistency::asp, .k_batch = 3}), 1000);
  trial.cluster.relative_speeds = {1.0, 0.9, 0.8, 0.7};
  trial.stop.time_s = 0.018;
  const record::Record record = trial.run().record;
  CHECK(record.steps == 1);
  CHECK(record.samples == 3 * 10);
}

TEST_CASE("asp's staleness is near P - 1 whatever the noise of the workers' speeds") {
  Trial trial = one_slow(servers({.consistency = Consistency::asp}), 800);
  trial.workers = 8;
  trial.cluster.relative_speeds = {1.0, 0.97, 1.03, 0.99, 1.01, 0.98, 1.02, 1.005};
  const record::Record record = trial.run().record;
  CHECK(*record.staleness_mean == Approx(7.0).epsilon(0.01));
}

TEST_CASE("a run says what its steps are where an update takes the gradients of some workers") {
  const auto notes_of = [](training::Program program, int workers) {
    Trial trial = equal_workers(std::move(program), 8);
    trial.workers = workers;
    return trial.run().record.notes;
  };
  const std::vector<std::string> of_one{
      "stop.steps = 8: a step is one update by the gradient of one worker, and not of all"};
  const std::vector<std::string> of_three{"stop.steps = 8: a step is one update by 3 gradients, from any workers"};
  CHECK(notes_of(servers({.consistency = Consistency::asp}), 4) == of_one);
  CHECK(notes_of(servers({.consistency = Consistency::ssp, .shards = 2, .staleness_bound = 1}), 4) == of_one);
  CHECK(notes_of(servers({.consistency = Consistency::asp, .k_batch = 3}), 4) == of_three);
  CHECK(notes_of(servers({.k_batch = 3}), 4) == of_three);
  // Nothing to tell: every worker's gradient is in every update.
  CHECK(notes_of(servers({}), 4).empty());
  CHECK(notes_of(servers({.consistency = Consistency::ssp, .staleness_bound = 0}), 4).empty());
  CHECK(notes_of(servers({.consistency = Consistency::asp}), 1).empty());
}

TEST_CASE("under ssp a worker that waits for a slow one is answered when that one is lost, and again when it is back") {
  for (const std::int64_t s : {1, 2}) {
    Trial trial = one_slow(servers({.consistency = Consistency::ssp, .shards = s, .staleness_bound = 1}), 120);
    trial.cluster.relative_speeds = {0.001};  // 10 s a gradient: the three others wait after two each
    trial.cluster.failures.recovery = cluster::Recovery::keep_going;
    trial.cluster.failures.detection_s = 1e-3;
    cluster::Crash crash;
    crash.rank = 0;
    crash.at_s = 1.0;
    crash.repair_s = 0.1;
    trial.cluster.failures.crashes = {crash};
    const record::Record record = trial.run().record;
    CAPTURE(s);
    REQUIRE(record.error.empty());
    CHECK(record.steps == 120);
    // Six updates before the crash. Without the slow one three workers give 10 rounds of 10 ms in 0.1 s; it comes back
    // at their clock, and after two more rounds they wait for its gradient of 10 s, round after round.
    CHECK(record.curve[6].simulated_s == Approx(2 * 0.01).epsilon(0.1));
    CHECK(record.curve[7].simulated_s > 1.0);
    CHECK(record.curve[7].simulated_s < 1.0 + 1e-3 + 0.012);
    const auto by_then = std::ranges::count_if(record.curve, [](const auto& row) { return row.simulated_s < 2.0; }) - 1;
    CHECK(by_then >= 6 + 3 * 9);
    CHECK(by_then <= 6 + 3 * (10 + 3));
  }
}

}  // namespace consistency_test
