// Stragglers' distributions against their closed forms, and the integral of a speed that changes.
#include "cluster/stragglers/stragglers.h"

#include <cmath>
#include <vector>

#include "catch.h"
#include "cluster/fabric/cluster.h"
#include "cluster/fabric/speed_timeline.h"
#include "cluster/ranks/ranks.h"
#include "cluster/ranks/world.h"
#include "cluster/stragglers/drawn.h"
#include "cluster/stragglers/varying.h"
#include "scratch.h"
#include "simulation.h"

namespace stragglers_test {

using namespace simgrad;
using namespace simgrad::cluster;

namespace {

/// Returns the durations of `draws` gradients of 1 s, on ranks 0 .. 9 in steps 0, 1, ...
std::vector<double> durations(const Stragglers& kind, int draws) {
  std::vector<double> all;
  for (int i = 0; i < draws; ++i) {
    base::Stream stream({.seed = 7,
                         .purpose = base::Purpose::straggler,
                         .step = static_cast<std::uint64_t>(i / 10),
                         .rank = static_cast<std::uint32_t>(i % 10)});
    const Slowdown stretch = kind.draw(stream);
    all.push_back(stretch.factor + stretch.more_s);
  }
  return all;
}

double mean(const std::vector<double>& x) {
  double sum = 0.0;
  for (const double each : x) sum += each;
  return sum / static_cast<double>(x.size());
}

double variance(const std::vector<double>& x) {
  const double m = mean(x);
  double sum = 0.0;
  for (const double each : x) sum += (each - m) * (each - m);
  return sum / static_cast<double>(x.size() - 1);
}

double share_above(const std::vector<double>& x, double bound) {
  double above = 0.0;
  for (const double each : x) above += each > bound ? 1.0 : 0.0;
  return above / static_cast<double>(x.size());
}

constexpr int n = 200'000;
/// Four standard errors: a right generator is outside once in 16,000 seeds.
double four_errors(double variance) { return 4.0 * std::sqrt(variance / n); }

/// The share of [0, until) in which a host is slow, and the work it gets done.
double work_done(SpeedChanges& changes, double until) {
  double done = 0.0, since = 0.0, factor = 1.0;
  for (auto change = changes.next(); change && change->at_s < until; change = changes.next()) {
    done += factor * (change->at_s - since);
    since = change->at_s;
    factor = change->factor;
  }
  return done + factor * (until - since);
}

}  // namespace

TEST_CASE("a log-normal multiple has mean 1, variance exp(sigma^2) - 1, and median exp(-sigma^2 / 2)") {
  LogNormal kind;
  kind.sigma = 0.6;
  const auto x = durations(kind, n);
  const double v = std::exp(0.36) - 1.0;
  CHECK(std::abs(mean(x) - 1.0) < four_errors(v));
  // The fourth central moment of a log-normal: v^2 (e^(4 s^2) + 2 e^(3 s^2) + 3 e^(2 s^2) - 3).
  const double fourth = v * v * (std::exp(4 * 0.36) + 2 * std::exp(3 * 0.36) + 3 * std::exp(2 * 0.36) - 3.0);
  CHECK(std::abs(variance(x) - v) < four_errors(fourth - v * v));
  CHECK(std::abs(share_above(x, std::exp(-0.18)) - 0.5) < four_errors(0.25));
}

TEST_CASE("the exponential time on top has its mean and its variance, the square of it") {
  ShiftedExponential kind;
  kind.mean_s = 0.3;
  const auto x = durations(kind, n);
  CHECK(std::abs(mean(x) - 1.3) < four_errors(0.09));
  CHECK(std::abs(variance(x) - 0.09) < four_errors(8.0 * 0.0081));  // fourth moment 9 mean^4, less variance^2
  CHECK(std::abs(share_above(x, 1.6) - std::exp(-1.0) * std::exp(-1.0)) < 4e-3);
  CHECK(*std::ranges::min_element(x) >= 1.0);
}

TEST_CASE("a Pareto multiple has the mean a / (a - 1) and the tail x^-a") {
  Pareto kind;
  kind.shape = 5.0;
  const auto x = durations(kind, n);
  CHECK(std::abs(mean(x) - 1.25) < four_errors(5.0 / (16.0 * 3.0)));
  for (const double bound : {1.1, 1.5, 2.0}) {
    const double p = std::pow(bound, -5.0);
    CHECK(std::abs(share_above(x, bound) - p) < four_errors(p * (1 - p)));
  }
  CHECK(*std::ranges::min_element(x) >= 1.0);
}

TEST_CASE(
    "one gradient in 200 is slow by a tenth, as the hosts of MegaScale, and launches are late if they are given") {
  MegaScale kind;
  const auto x = durations(kind, n);
  CHECK(std::abs(share_above(x, 1.05) - 0.005) < four_errors(0.005 * 0.995));
  CHECK((*std::ranges::min_element(x) == 1.0 && *std::ranges::max_element(x) == 1.1));
  kind.launch_s = 0.2;
  const auto late = durations(kind, n);
  CHECK(std::abs(mean(late) - 1.2005) < four_errors(0.04 + 0.01 * 0.005 * 0.995));
  CHECK(std::abs(share_above(late, 1.4) - (0.995 * std::exp(-2.0) + 0.005 * std::exp(-1.5))) < four_errors(0.12));
}

TEST_CASE("a pause comes with its probability, and takes its time") {
  Bimodal kind;
  kind.probability = 0.05;
  kind.pause_s = 3.0;
  const auto x = durations(kind, n);
  CHECK(std::abs(share_above(x, 2.0) - 0.05) < four_errors(0.05 * 0.95));
  for (const double each : x) CHECK((each == 1.0 || each == 4.0));
}

TEST_CASE("a draw depends on its rank and step alone") {
  const LogNormal kind;
  const auto one = durations(kind, 100);
  base::Stream stream({.seed = 7, .purpose = base::Purpose::straggler, .step = 4, .rank = 3});
  CHECK(kind.draw(stream).factor == one[43]);
}

TEST_CASE("a Markov host is slow for its share of the time, from the start on") {
  Markov kind;
  kind.nominal_s = 3.0;
  kind.slow_s = 1.0;
  kind.factor = 0.2;
  // Mean speed 1 - 0.25 x 0.8 = 0.8. Over T the variance of the slow share tends to 2 p (1-p) tau / T, with the
  // correlation time tau = 1 / (1/3 + 1/1) = 0.75.
  const double T = 50'000.0;
  const auto changes = kind.speed_changes(0, base::Stream({.seed = 3}));
  CHECK(std::abs(work_done(*changes, T) / T - 0.8) < 4 * 0.8 * std::sqrt(2 * 0.25 * 0.75 * 0.75 / T));
  int slow = 0;
  for (std::uint32_t rank = 0; rank < 4000; ++rank)
    slow += kind.speed_changes(0, base::Stream({.seed = 3, .rank = rank}))->next()->factor < 1.0 ? 1 : 0;
  CHECK(std::abs(slow / 4000.0 - 0.25) < 4 * std::sqrt(0.25 * 0.75 / 4000));
}

TEST_CASE("a periodic host is slow for its duty, and work takes the integral of its speed") {
  Periodic kind;
  kind.period_s = 10.0;
  kind.duty = 0.3;
  kind.factor = 0.5;
  kind.offset_s = 2.0;
  SpeedTimeline timeline(kind.speed_changes(0, base::Stream({})));
  // 2 s nominal, 3 s at half speed: 3.5 s of work by 5 s; the next slow time is 12 .. 15.
  CHECK(timeline.seconds(0.0, 1.0) == 1.0);
  CHECK(timeline.seconds(0.0, 3.0) == Approx(4.0).epsilon(1e-12));
  CHECK(timeline.seconds(1.0, 2.5 + 7.0 + 1.0) == Approx(4.0 + 7.0 + 2.0).epsilon(1e-12));
  CHECK(timeline.seconds(12.0, 1.5) == Approx(3.0).epsilon(1e-12));
  CHECK(timeline.seconds(13.0, 10'000 * 8.5) == Approx(10'000 * 10.0).epsilon(1e-9));
}

TEST_CASE("a host that stands still goes on with its work afterwards") {
  Periodic kind;
  kind.period_s = 4.0;
  kind.duty = 0.25;
  kind.factor = 0.0;
  SpeedTimeline timeline(kind.speed_changes(0, base::Stream({})));
  CHECK(timeline.seconds(0.0, 3.0) == Approx(4.0).epsilon(1e-12));
  CHECK(timeline.seconds(4.5, 6.5) == Approx(0.5 + 3 + 1 + 3 + 1 + 0.5).epsilon(1e-12));
}

TEST_CASE("who computes where all stands still for ever is told, on shared cores too") {
  const tests::Scratch scratch;
  auto trace = std::make_unique<SpeedTrace>();
  trace->file = scratch.write("speeds.txt", "0 1\n2 0\n");
  Options options;
  options.workers = 1;
  options.stragglers = base::Slot<Stragglers>(stragglers(), std::move(trace));
  const auto run = [&](int servers) {
    return tests::numbers_of_child([&] {
      Cluster cluster(options, 1);
      World world(cluster, "w", 1, servers, std::vector<int>(static_cast<std::size_t>(1 + servers), 0));
      for (int rank = 0; rank < world.size(); ++rank)
        world.ranks().start(rank, [&, rank] { world.ranks().compute(rank, 3.0 * cluster.speed(0)); });
      cluster.run();
      return std::vector<double>{};
    });
  };
  CHECK_THROWS_WITH(run(0), ContainsSubstring("stands still for ever"));
  CHECK_THROWS_WITH(run(1), ContainsSubstring("stands still for ever"));
}

}  // namespace stragglers_test
