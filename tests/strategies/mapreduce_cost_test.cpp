// Costs of MapReduce's options: combiner, reducers, disks, to nine digits.
#include "strategies/mapreduce_programs.h"

namespace mapreduce_cost_test {

using namespace simgrad;
using namespace simgrad::tests;

namespace {

constexpr std::int64_t steps = 3;
constexpr std::int64_t rows_each = 2;

/// Timing only; every worker has two rows of each batch.
Trial timed(const MapReduceOptions& options, int n, std::int64_t d) {
  Trial trial{.program = mapreduce(options), .workers = n, .rows = 7200, .features = d};
  trial.batch = rows_each * n;
  trial.training.numbers = false;
  trial.stop.steps = steps;
  return trial;
}

void check_step(const Trial& trial, double step_s, double bytes) {
  const record::Record record = trial.run().record;
  CAPTURE(trial.workers, trial.features, trial.program.traits(trial.workers).servers);
  REQUIRE(record.error.empty());
  CHECK(record.simulated_s == Approx(steps * step_s).epsilon(1e-9));
  CHECK(static_cast<double>(record.bytes) == Approx(steps * bytes).epsilon(1e-12));
  CHECK(record.samples == steps * rows_each * trial.workers);
}

double flops_s(double numbers) { return numbers / speed; }

}  // namespace

TEST_CASE("without the combiner every row's gradient travels: alpha + B M beta, and B M gamma to add them") {
  for (const int n : {1, 2, 5, 16})
    for (const std::int64_t d : {1, 1000}) {
      const Trial trial = timed({.combiner = false}, n, d);
      const double M = trial.message_bytes();
      const double rows = rows_each * n;
      const double additions = (rows + 2.0) * static_cast<double>(d);  // and 2 d of the update
      const double step = trial.gradient_s() + 2 * alpha + (n + rows) * M / B + flops_s(additions);
      check_step(trial, step, (n + rows) * M);
    }
}

TEST_CASE("a binomial broadcast takes lg(P + 1) (alpha + M beta) where P + 1 is a power of two") {
  for (const int rounds : {1, 2, 3, 4})
    for (const auto collectives : {cluster::Collectives::automatic, cluster::Collectives::messages}) {
      const int n = (1 << rounds) - 1;
      Trial trial = timed({.broadcast = "binomial"}, n, 1000);
      trial.cluster.collectives = collectives;
      const double M = trial.message_bytes();
      const double broadcast = rounds * (alpha + M / B);
      check_step(trial, trial.gradient_s() + broadcast + alpha + n * M / B + flops_s((n + 2.0) * 1000), 2 * n * M);
    }
}

TEST_CASE("van de Geijn's broadcast takes (lg n + n - 1) alpha + 2 (n - 1)/n M beta with n = P + 1 members") {
  for (const int rounds : {1, 2, 3}) {
    const int n = 1 << rounds;
    const int P = n - 1;
    const Trial trial = timed({.broadcast = "van_de_geijn"}, P, 1024);
    const double M = trial.message_bytes();
    const double broadcast = (rounds + n - 1) * alpha + 2.0 * (n - 1) / n * M / B;
    const record::Record record = trial.run().record;
    const double step = trial.gradient_s() + broadcast + alpha + P * M / B + flops_s((P + 2.0) * 1024);
    CHECK(record.simulated_s == Approx(steps * step).epsilon(1e-9));
  }
}

TEST_CASE("r reducers: t_c + 2 (alpha + max(M, n M / r) beta) + n M gamma / r + update / r") {
  for (const int n : {1, 2, 3, 8, 16})
    for (const int r : {1, 2, 4, 5, 16}) {
      constexpr std::int64_t d = 80 * 16;  // r divides it
      const Trial trial = timed({.reducers = r}, n, d);
      const double M = trial.message_bytes();
      const double transfer = alpha + std::max(M, n * M / r) / B;
      const double additions = (n + 2.0) * static_cast<double>(d) / r;
      check_step(trial, trial.gradient_s() + 2 * transfer + flops_s(additions), 2 * n * M);
    }
}

TEST_CASE("where reducers do not divide the parameters the longest stretch counts") {
  for (const int n : {4, 7})
    for (const int r : {3, 4}) {
      const Trial trial = timed({.reducers = r}, n, 1000 + r - 1);
      const auto longest = static_cast<double>((trial.features + r - 1) / r);
      const double transfer = alpha + n * 8.0 * longest / B;
      check_step(trial, trial.gradient_s() + 2 * transfer + flops_s((n + 2.0) * longest),
                 2 * n * trial.message_bytes());
    }
}

TEST_CASE("a disk reads the rows and writes the sums, and the reducer's writes, reads and writes again") {
  constexpr double D = 200e6;
  for (const bool combiner : {true, false})
    for (const int r : {1, 2})
      for (const int n : {2, 6}) {
        const Trial trial = timed({.combiner = combiner, .reducers = r, .disk_bytes_per_s = D}, n, 1000);
        const double M = trial.message_bytes();
        const double rows = rows_each * n;
        const double sent = combiner ? M : rows_each * M;  // by a worker
        const double received = n * sent / r;              // by a reducer
        const double worker_disk = (rows_each * 8.0 * 1000 + sent) / D;
        const double reducer_disk = (2 * received + M / r) / D;
        const double pull = alpha + std::max(M, n * M / r) / B;
        const double push = alpha + std::max(sent, received) / B;
        const double additions = ((combiner ? n : rows) + 2.0) * 1000.0 / r;
        check_step(trial, trial.gradient_s() + worker_disk + pull + push + reducer_disk + flops_s(additions),
                   n * (M + sent));
      }
}

TEST_CASE("the time at the disk is the disk's, whatever the host's speed, and no processor's") {
  Trial trial = timed({.disk_bytes_per_s = 1e6}, 2, 1000);
  const record::Record even = trial.run().record;
  trial.cluster.relative_speeds = {1.0, 0.5};
  const record::Record odd = trial.run().record;
  // Only the gradient takes twice as long; its sum then comes when the other's is in, so that it has the link to
  // itself.
  const double alone_s = trial.message_bytes() / B;
  CHECK(trial.gradient_s() > alone_s);
  CHECK(odd.simulated_s - even.simulated_s == Approx(steps * (trial.gradient_s() - alone_s)).epsilon(1e-6));
  const double disk_s = (rows_each * 8000.0 + 8000.0) / 1e6;
  CHECK(even.ranks[0].compute_s == Approx(steps * trial.gradient_s()).epsilon(1e-9));
  CHECK(even.ranks[0].parts[record::TimePart::communicate_storage] == Approx(steps * disk_s).epsilon(1e-9));
}

}  // namespace mapreduce_cost_test
