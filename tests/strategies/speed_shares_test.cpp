// Shares of the batch in proportion to speed: nobody waits for anybody, and the training is what it was.
#include "strategies/programs.h"
#include "training/partitions/plain.h"

namespace speed_shares_test {

using namespace simgrad;
using namespace simgrad::tests;

namespace {

cluster::HostClass host_class(const char* name, int count, double speed_flops_per_s) {
  cluster::HostClass one;
  one.name = name;
  one.count = count;
  one.speed_flops_per_s = speed_flops_per_s;
  return one;
}

/// Two hosts at 1, one at 2 and one at 4 GF, whose shares of 80 rows are 10, 10, 20 and 40.
Trial by_speed(training::Program program) {
  Trial trial{.program = std::move(program), .workers = 4, .rows = 400, .features = 6, .batch = 80};
  trial.flops_a_row = 1e6;
  trial.cluster.host_classes = {host_class("middle", 2, 1e9), host_class("fast", 1, 2e9), host_class("gpu", 1, 4e9)};
  trial.cluster.charge_reductions = false;
  auto iid = std::make_unique<training::Iid>();
  iid->shares = training::BatchShares::speed;
  trial.training.partition = base::Slot<training::Partition>(training::partitions(), std::move(iid));
  trial.speeds = {1e9, 1e9, 2e9, 4e9};
  trial.stop.steps = 20;
  return trial;
}

}  // namespace

TEST_CASE(
    "with shares by speed all ranks compute equally long, and a step takes what its slowest rank would have saved") {
  const Trial trial = by_speed(ring_allreduce());
  const record::Record record = trial.run().record;
  const double t_c = 10 * 1e6 / 1e9;
  // Six numbers among four ranks: the longest chunk of a round has two.
  const double ring_s = 6 * (alpha + 2 * 8 / B);
  CHECK(record.simulated_s == Approx(20 * (t_c + ring_s)).epsilon(1e-9));
  for (const record::RankUse& use : record.ranks) CHECK(use.compute_s == Approx(20 * t_c).epsilon(1e-9));
  CHECK(record.ranks[0].host_class == "middle");
  CHECK(record.ranks[3].host_class == "gpu");

  Trial equal = trial;
  equal.training.partition = base::Slot(training::partitions(), "iid");
  equal.speeds.clear();
  CHECK(equal.run().record.simulated_s == Approx(20 * (2 * t_c + ring_s)).epsilon(1e-9));
}

TEST_CASE("with shares by speed the training is sequential gradient descent on the same batches") {
  for (const auto& [name, program] : {Named{"ring", ring_allreduce()}, Named{"bsp", parameter_server(Consistency::bsp)},
                                      Named{"mapreduce", mapreduce()}}) {
    CAPTURE(name);
    const Trial trial = by_speed(program);
    const Outcome outcome = trial.run();
    REQUIRE(outcome.record.error.empty());
    const data::Dataset set = trial.data().train;
    const training::Batches batches({.rows = 400, .batch = 80});
    std::vector<double> w(6);
    for (std::int64_t k = 0; k < 20; ++k) {
      const std::vector<double> g = gradient_of(trial, set, batches.rows({k, 0, 1}), w, 1.0 / 80);
      for (std::size_t i = 0; i < w.size(); ++i) w[i] -= trial.training.learning_rate * g[i];
    }
    CHECK(relative_distance(outcome.evaluated.back(), w) < 1e-12);
  }
}

}  // namespace speed_shares_test
