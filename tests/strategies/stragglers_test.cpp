// Stragglers under every strategy: who draws what, and how long a step of n ranks takes on average.
#include <algorithm>
#include <cmath>

#include "cluster/stragglers/drawn.h"
#include "cluster/stragglers/varying.h"
#include "scratch.h"
#include "strategies/mapreduce_programs.h"
#include "strategies/programs.h"

namespace stragglers_test {

using namespace simgrad;
using namespace simgrad::tests;

namespace {

/// Gradients take 0.1 s, everything else nothing (messages of 8 bytes at 1e15 B/s), so that stragglers are all there
/// is.
Trial with_stragglers(training::Program program, int workers, std::int64_t steps) {
  Trial trial{.program = std::move(program), .workers = workers, .rows = workers, .features = 1};
  trial.flops_a_row = 1e8;
  trial.training.numbers = false;
  trial.stop.steps = steps;
  trial.evaluate.every_steps = steps;
  trial.cluster.host_spec = {.speed_flops_per_s = 1e9, .bandwidth_bytes_per_s = 1e15, .latency_s = 0.0};
  trial.cluster.charge_reductions = false;
  return trial;
}

constexpr double D = 0.1;  ///< nominal seconds of a gradient

template <class Kind>
base::Slot<cluster::Stragglers> slot(Kind kind) {
  return {cluster::stragglers(), std::make_unique<Kind>(std::move(kind))};
}

cluster::ShiftedExponential exponential() {
  cluster::ShiftedExponential kind;
  kind.mean_s = 0.1;
  return kind;
}

/// Returns the time of a rank's gradient of a step, as documented: keyed by seed, rank and step.
double drawn_s(const cluster::Stragglers& kind, int rank, std::int64_t step) {
  base::Stream stream({.seed = 1,
                       .purpose = base::Purpose::straggler,
                       .step = static_cast<std::uint64_t>(step),
                       .rank = static_cast<std::uint32_t>(rank)});
  const cluster::Slowdown stretch = kind.draw(stream);
  return stretch.factor * D + stretch.more_s;
}

double longest(const cluster::Stragglers& kind, int workers, std::int64_t step) {
  double most = 0.0;
  for (int rank = 0; rank < workers; ++rank) most = std::max(most, drawn_s(kind, rank, step));
  return most;
}

}  // namespace

TEST_CASE("a synchronous step takes its slowest draw, and on average the order statistic of n") {
  constexpr std::int64_t steps = 2000;
  struct Case {
    base::Slot<cluster::Stragglers> kind;
    int workers;
    double mean_s;  // mean of the largest of n
    double deviation_s;
  };
  // D + mean H_n; the largest of n exponentials has the variance mean^2 (1 + 1/4 + ... + 1/n^2).
  const auto deviation = [](int n) {
    double sum = 0.0;
    for (int k = 1; k <= n; ++k) sum += 1.0 / k / k;
    return 0.1 * std::sqrt(sum);
  };
  cluster::Pareto pareto;  // a = 2.5: (8,8) 3.472722 times nominal; E[X^2] = G(9) G(1 - 2/a) / G(9 - 2/a)
  const double second = std::tgamma(9.0) * std::tgamma(0.2) / std::tgamma(8.2);
  const double slow = 1.0 - std::pow(0.995, 64.0);  // of the steps of 64 ranks, of which each is slow in 0.5 %
  const std::vector<Case> cases{
      {slot(exponential()), 8, 0.371786, deviation(8)},
      {slot(exponential()), 16, 0.438073, deviation(16)},
      {slot(pareto), 8, 0.3472722, 0.1 * std::sqrt(second - 3.472722 * 3.472722)},
      {slot(cluster::MegaScale()), 64, 0.1 + 0.01 * slow, 0.01 * std::sqrt(slow * (1 - slow))}};
  for (const Case& each : cases) {
    Trial trial = with_stragglers(ring_allreduce(), each.workers, steps);
    trial.cluster.stragglers = each.kind;
    const double simulated = trial.run().record.simulated_s;
    double sum = 0.0;
    for (std::int64_t step = 0; step < steps; ++step) sum += longest(*each.kind, each.workers, step);
    CHECK(simulated == Approx(sum).epsilon(1e-9));
    CHECK(std::abs(simulated / steps - each.mean_s) < 4.0 * each.deviation_s / std::sqrt(double{steps}));
  }
}

TEST_CASE("every strategy meets the same stragglers") {
  constexpr std::int64_t steps = 12;
  const std::vector<Named> all{{"allreduce", ring_allreduce()},
                               {"by layers", allreduce("ring", 8.0)},
                               {"mapreduce", mapreduce()},
                               {"bsp", parameter_server(Consistency::bsp)},
                               {"colocated", servers({.shards = 1, .placement = strategies::Placement::colocated})},
                               {"gossip", gossip("complete", GossipUpdate::combine_then_adapt)},
                               {"byteps", byteps(2, 1)},
                               {"easgd", easgd(4, 0.9, true)},
                               {"data_parallel", data_parallel()}};
  for (const auto& [name, program] : all) {
    Trial trial = with_stragglers(program, 4, name == "easgd" ? steps / 4 : steps);
    trial.cluster.stragglers = slot(exponential());
    const record::Record record = trial.run().record;
    CAPTURE(name, record.error);
    for (int rank = 0; rank < 4; ++rank) {
      double sum = 0.0;
      for (std::int64_t step = 0; step < steps; ++step) sum += drawn_s(exponential(), rank, step);
      CHECK(record.ranks[static_cast<std::size_t>(rank)].compute_s == Approx(sum).epsilon(1e-9));
    }
  }
}

TEST_CASE("splits of a worker share its draw of the step") {
  Trial trial = with_stragglers(mapreduce({.splits = 3}), 1, 5);
  trial.rows = 3;
  trial.flops_a_row = 1e8 / 3;
  trial.cluster.stragglers = slot(exponential());
  double sum = 0.0;
  for (std::int64_t step = 0; step < 5; ++step) sum += drawn_s(exponential(), 0, step);
  CHECK(trial.run().record.simulated_s == Approx(sum).epsilon(1e-9));
}

TEST_CASE("collectives are as fast to simulate under drawn stragglers, and the same by messages") {
  Trial trial = with_stragglers(ring_allreduce(), 8, 20);
  trial.cluster.stragglers = slot(cluster::LogNormal());
  const double at_once = trial.run().record.simulated_s;
  trial.cluster.collectives = cluster::Collectives::messages;
  CHECK(trial.run().record.simulated_s == Approx(at_once).epsilon(1e-9));
}

TEST_CASE("seven of eight with a backup worker: better than all of seven, worse than seven fresh ones of eight") {
  constexpr std::int64_t steps = 1500;
  Trial trial = with_stragglers(servers({.backup_workers = 1}), 8, steps);
  trial.cluster.stragglers = slot(exponential());
  const double simulated = trial.run().record.simulated_s;
  // A late rank finishes its old gradient before it begins a new one.
  std::vector<double> ready(8);
  std::vector<std::int64_t> version(8);
  double now = 0.0;
  for (std::int64_t step = 0; step < steps; ++step) {
    for (std::size_t r = 0; r < 8; ++r)
      if (version[r] == step) ready[r] = now + drawn_s(exponential(), static_cast<int>(r), step);
    for (int came = 0; came < 7;) {
      const auto first = static_cast<std::size_t>(std::ranges::min_element(ready) - ready.begin());
      now = ready[first];
      if (version[first] == step) {
        ++came;
        version[first] = step + 1;
        ready[first] = INFINITY;
      } else {
        version[first] = step;
        ready[first] = now + drawn_s(exponential(), static_cast<int>(first), step);
      }
    }
  }
  CHECK(simulated == Approx(now).epsilon(1e-9));
  const double error = 4.0 * 0.1 * std::sqrt(1.5) / std::sqrt(double{steps});
  CHECK(simulated / steps > 0.271786 - error);  // 7-of-8
  CHECK(simulated / steps < 0.1 + 0.1 * (1 + 1. / 2 + 1. / 3 + 1. / 4 + 1. / 5 + 1. / 6 + 1. / 7) + error);
}

TEST_CASE("asp makes n updates in the mean time of one gradient, whatever the tail") {
  constexpr std::int64_t updates = 8000;
  Trial trial = with_stragglers(parameter_server(Consistency::asp), 8, updates);
  trial.cluster.stragglers = slot(exponential());
  // n / E[X]; the number of renewals in t has the variance n t Var[X] / E[X]^3.
  const double t = trial.run().record.simulated_s;
  const double error = 4.0 * std::sqrt(8 * t * 0.01 / 0.008);
  CHECK(std::abs(static_cast<double>(updates) - 8 * t / 0.2) < error);
}

TEST_CASE("a rank that gives up a gradient draws the next one anew") {
  cluster::Pareto heavy;
  heavy.shape = 0.5;  // now and then a gradient of hours, which would never be through
  Trial trial = with_stragglers(servers({.k_batch = 3}), 4, 300);
  trial.cluster.stragglers = slot(heavy);
  const record::Record record = trial.run().record;
  CHECK(record.steps == 300);
  // Were draws kept, two ranks of four would soon be stuck, and steps take what the smallest of hours does.
  CHECK(record.simulated_s < 300 * 10.0);
}

TEST_CASE("ranks restrict who straggles") {
  cluster::ConstantStragglers kind;
  kind.slowdown = 3.0;
  kind.ranks = {2};
  Trial trial = with_stragglers(ring_allreduce(), 4, 10);
  trial.cluster.stragglers = slot(kind);
  const record::Record record = trial.run().record;
  CHECK(record.simulated_s == Approx(10 * 3 * D).epsilon(1e-9));
  CHECK(record.ranks[2].compute_s == Approx(10 * 3 * D).epsilon(1e-9));
  CHECK(record.ranks[1].compute_s == Approx(10 * D).epsilon(1e-9));
}

TEST_CASE("a host's speed in time slows gradients, reductions and shared cores alike") {
  const Scratch scratch;
  cluster::SpeedTrace trace;
  trace.file = scratch.write("speeds", "0 1\n1 0.5\n2 0\n3 1\nPERIODICITY 4\n");  // 2.5 s of work every 4 s
  for (const auto placement : {strategies::Placement::dedicated, strategies::Placement::colocated}) {
    Trial trial = with_stragglers(servers({.placement = placement}), 1, 100);
    trial.cluster.stragglers = slot(trace);
    // 10 s of work are four periods; the last moment of work is where the fourth ends.
    CHECK(trial.run().record.simulated_s == Approx(16.0).epsilon(1e-9));
  }
  // With reductions: 2 flops of the update a step, 1 ms each at 2e3 flop/s.
  Trial trial = with_stragglers(ring_allreduce(), 1, 1000);
  trial.cluster.charge_reductions = true;
  trial.flops_a_row = 18.0;
  trial.cluster.host_spec.speed_flops_per_s = 2e3;
  trial.cluster.stragglers = slot(trace);
  CHECK(trial.run().record.simulated_s == Approx(16.0).epsilon(1e-9));
}

TEST_CASE("a gradient given up on a slow host takes the time until the news") {
  cluster::Periodic kind;
  kind.ranks = {1, 2};
  kind.period_s = 1.0;
  kind.duty = 1.0;
  kind.factor = 0.01;
  Trial trial = with_stragglers(servers({.k_batch = 1}), 3, 10);
  trial.cluster.stragglers = slot(kind);
  CHECK(trial.run().record.simulated_s == Approx(10 * D).epsilon(1e-9));
}

TEST_CASE("a host that stands still for ever ends the run with a reason") {
  const Scratch scratch;
  cluster::SpeedTrace trace;
  trace.file = scratch.write("speeds", "1 0\n");
  for (const auto placement : {strategies::Placement::dedicated, strategies::Placement::colocated}) {
    Trial trial = with_stragglers(servers({.placement = placement}), 2, 100);
    trial.cluster.stragglers = slot(trace);
    const record::Record record = trial.run().record;
    CHECK(record.status == record::Status::failed);
    CHECK(!record.error.empty());
  }
}

}  // namespace stragglers_test
