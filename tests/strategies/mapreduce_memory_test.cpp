// Rows that MapReduce keeps in memory: read and derived at first, again after a crash, and by whoever takes them over.
#include "cluster/topologies/gpu_hosts.h"
#include "strategies/fragile.h"
#include "strategies/mapreduce_programs.h"
#include "training/learning/row_source.h"

namespace mapreduce_memory_test {

using namespace simgrad;
using namespace simgrad::tests;

namespace {

constexpr std::int64_t rounds = 5;
constexpr std::int64_t all_rows = 2400;
constexpr std::int64_t d = 1000;
constexpr double D = 200e6;  // bytes/s of a disk
constexpr double M_s = 8.0 * d / B;
constexpr double detection = 0.002;

/// Timing only; all rows in each round.
Trial full(const MapReduceOptions& options, int n = 4) {
  Trial trial{.program = mapreduce(options), .workers = n, .rows = all_rows, .features = d};
  trial.training.numbers = false;
  trial.stop.steps = rounds;
  trial.cluster.failures.detection_s = detection;
  return trial;
}

constexpr double read_s(double rows) { return rows * 8.0 * d / D; }
constexpr double transfer(int n) { return alpha + n * M_s; }
constexpr double reduce_s(int sums) { return (sums + 2.0) * d / speed; }
double gradient_s(int n) { return 4.0 * d * all_rows / n / speed; }
double round_s(int n) { return gradient_s(n) + 2 * transfer(n) + reduce_s(n); }

double simulated_s(const Trial& trial) {
  const record::Record record = trial.run().record;
  CAPTURE(record.error);
  REQUIRE(record.status == record::Status::stopped);
  CHECK(record.steps == rounds);
  return record.simulated_s;
}

/// A sum that comes when the three others are in has the link to itself: the round ends so much earlier.
constexpr double alone_s = 3 * M_s;

/// The middle of the gradients of that round, from 0, with `before_s` more since the beginning.
double mid_gradient(int n, int round, double before_s) {
  return before_s + round * round_s(n) + transfer(n) + 0.5 * gradient_s(n);
}

}  // namespace

TEST_CASE("rows in memory are read and derived once, before the first gradient, all of a worker's part") {
  for (const bool combiner : {true, false})
    for (const int n : {1, 3, 8})
      for (const std::optional<std::int64_t> batch : {std::optional<std::int64_t>(), std::optional<std::int64_t>(24)}) {
        Trial trial = full({.combiner = combiner}, n);
        trial.batch = batch;
        const double without = simulated_s(trial);
        trial.program = mapreduce({.combiner = combiner, .read_at_first_per_s = D, .flops_per_sample = 5000});
        const record::Record record = trial.run().record;
        const double part = static_cast<double>(all_rows) / n, derive_s = 5000 * part / speed;
        CHECK(record.simulated_s == Approx(without + read_s(part) + derive_s).epsilon(1e-9));
        CHECK(record.ranks[0].parts[record::TimePart::communicate_storage] == Approx(read_s(part)).epsilon(1e-9));
        CHECK(record.ranks[0].parts[record::TimePart::compute_other] == Approx(derive_s).epsilon(1e-9));
      }
  CHECK(simulated_s(full({.read_at_first_per_s = D})) == Approx(read_s(600) + rounds * round_s(4)).epsilon(1e-9));
}

TEST_CASE("a disk is read in every round, and rows are derived in every round") {
  const double written_s = 8.0 * d / D, reducer_s = (2 * 4 + 1) * 8.0 * d / D;
  const double round = round_s(4) + read_s(600) + 5000 * 600 / speed + written_s + reducer_s;
  CHECK(simulated_s(full({.disk_bytes_per_s = D, .flops_per_sample = 5000})) == Approx(rounds * round).epsilon(1e-9));
}

TEST_CASE("a worker that comes back reads its rows again, and derives them, at each of two crashes") {
  const double read = read_s(600) + 5000 * 600 / speed;
  const double lost = transfer(4) + 0.5 * gradient_s(4) + repair_s;  // then the round begins anew
  const double first_at = mid_gradient(4, 1, read);
  const double second_at = mid_gradient(4, 3, 2 * read + lost - alone_s);
  for (const int second : {2, 0})
    for (const Recovery recovery : {Recovery::wait, Recovery::restart}) {
      Trial trial = full({.read_at_first_per_s = D, .flops_per_sample = 5000});
      trial.training.checkpoint_every_steps = 1;
      trial = with_crashes(trial, {crash(2, first_at), crash(second, second_at)}, recovery);
      const record::Record record = trial.run().record;
      REQUIRE(record.error.empty());
      CHECK(record.simulated_s == Approx(3 * read + 2 * (lost - alone_s) + rounds * round_s(4)).epsilon(1e-9));
      // The others keep theirs.
      CHECK(record.ranks[1].parts[record::TimePart::communicate_storage] == Approx(read_s(600)).epsilon(1e-9));
      CHECK(record.ranks[2].parts[record::TimePart::communicate_storage] ==
            Approx((second == 2 ? 3 : 2) * read_s(600)).epsilon(1e-9));
    }
}

TEST_CASE("survivors that share a lost worker's rows read these, and no others") {
  const double at = mid_gradient(4, 1, read_s(600));
  const Trial trial = with_crashes(full({.read_at_first_per_s = D}), {crash(3, at, std::nullopt)}, Recovery::elastic);
  const record::Record record = trial.run().record;
  REQUIRE(record.error.empty());
  CHECK(record.simulated_s == Approx(at + detection + read_s(200) + (rounds - 1) * round_s(3)).epsilon(1e-9));
  for (const std::size_t rank : {0, 1, 2})
    CHECK(record.ranks[rank].parts[record::TimePart::communicate_storage] == Approx(read_s(800)).epsilon(1e-9));
}

TEST_CASE("a worker that joins again reads its part, while the others give up rows and read none") {
  const double at = mid_gradient(4, 1, read_s(600));
  const double back_at = at + detection + read_s(200) + 1.5 * round_s(3);  // one round of three, and half of another
  const Trial trial = with_crashes(full({.read_at_first_per_s = D}), {crash(3, at, back_at - at)}, Recovery::elastic);
  const record::Record record = trial.run().record;
  REQUIRE(record.error.empty());
  CHECK(record.simulated_s == Approx(back_at + read_s(600) - alone_s + (rounds - 2) * round_s(4)).epsilon(1e-9));
  CHECK(record.ranks[0].parts[record::TimePart::communicate_storage] == Approx(read_s(800)).epsilon(1e-9));
}

TEST_CASE("a worker that maps a lost one's split for the first time reads it, and has it from then on") {
  const double t_c = gradient_s(2), read = read_s(1200);
  const double at = read + (3 * alpha + t_c + 4 * M_s + alpha + reduce_s(2)) + transfer(2) + 0.5 * t_c;
  const Trial trial =
      with_crashes(full({.read_at_first_per_s = D}, 2), {crash(1, at, std::nullopt)}, Recovery::keep_going);
  // The idle worker is told once the loss is known; its report, the answer, and its result follow.
  const double after_loss = alpha + read + t_c + 2 * alpha + transfer(1) + reduce_s(2);
  const double later = transfer(1) + 2 * (t_c + 2 * alpha) + transfer(1) + reduce_s(2);
  // The loss is known when the worker has long been idle.
  Trial slow = trial;
  slow.cluster.failures.detection_s = 2 * t_c;
  CHECK(simulated_s(slow) == Approx(at + 2 * t_c + after_loss + (rounds - 2) * later).epsilon(1e-9));
}

TEST_CASE("with splits a worker reads those that it maps, as it comes to them") {
  Trial trial = full({.splits = 3});
  const double without = simulated_s(trial);
  trial.program = mapreduce({.splits = 3, .read_at_first_per_s = D, .flops_per_sample = 5000});
  CHECK(simulated_s(trial) == Approx(without + 3 * (read_s(200) + 5000 * 200 / speed)).epsilon(1e-9));
}

TEST_CASE("two workers of a host share its disk") {
  for (const int splits : {1, 2}) {
    Trial trial = full({.splits = splits});
    auto hosts = std::make_unique<cluster::GpuHosts>();
    hosts->devices = 2;
    trial.cluster.topology = base::Slot<cluster::Topology>(cluster::topologies(), std::move(hosts));
    trial.cluster.workers = 4;
    const double without = simulated_s(trial);
    trial.program = mapreduce({.splits = splits, .read_at_first_per_s = D});
    CHECK(simulated_s(trial) == Approx(without + 2 * read_s(600)).epsilon(1e-9));
  }
}

TEST_CASE("reading takes as long with tcp, and where parameters are float32") {
  for (const bool tcp : {false, true}) {
    Trial trial = full({});
    if (tcp) trial.cluster.network_model = cluster::NetworkModel::tcp;
    if (!tcp) trial.training.precision = training::Precision::float32;
    const double without = simulated_s(trial);
    trial.program = mapreduce({.read_at_first_per_s = D});
    CHECK(simulated_s(trial) == Approx(without + read_s(600)).epsilon(1e-9));
  }
}

TEST_CASE("reading at first changes no number") {
  Trial trial = fragile(mapreduce());
  const Outcome there = trial.run();
  trial.program = mapreduce({.read_at_first_per_s = 1e6});
  CHECK(trial.run().evaluated == there.evaluated);
}

TEST_CASE("rows in memory are counted by part, and rows of another deal are taken over") {
  training::CachedRows rows;
  CHECK(rows.missing(0, 4, 600) == 600);
  CHECK(rows.missing(0, 4, 600) == 600);  // given up
  rows.add(0, 600);
  CHECK(rows.missing(0, 4, 600) == 0);
  CHECK(rows.missing(1, 4, 600) == 600);
  CHECK(rows.missing(0, 3, 800) == 200);
  rows.add(0, 800);
  CHECK(rows.missing(1, 3, 800) == 800);
  CHECK(rows.missing(0, 4, 600) == 0);
  rows.add(0, 600);
  CHECK(rows.missing(0, 3, 800) == 200);  // those that it gave up are gone
}

}  // namespace mapreduce_memory_test
