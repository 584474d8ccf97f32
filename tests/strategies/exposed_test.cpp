// Each collective's time, exposed and hidden: in how much of it the members' ranks did nothing else.
#include <algorithm>
#include <memory>

#include "collectives/allreduce.h"
#include "strategies/programs.h"
#include "strategies/sharded/fsdp.h"
#include "strategies/sharded/zero.h"

namespace exposed_test {

using namespace simgrad;
using namespace simgrad::tests;
using cluster::Collectives;

namespace {

constexpr int P = 4, steps = 3;
constexpr std::int64_t d = 8 * 4 * 10'000;
constexpr double M = 8.0 * static_cast<double>(d);
constexpr double gamma_s = 1.0 / (8.0 * speed);  // s/byte: one addition a double

double ring_s(double bytes) { return 2 * (P - 1) * alpha + (P - 1.0) / P * bytes * (2 / B + gamma_s); }

Trial timed(training::Program program, Collectives how, int layers) {
  Trial trial{.program = std::move(program), .workers = P, .rows = 2 * P, .features = d};
  trial.flops_a_row = 4e6;
  trial.layers = layers;
  trial.training.numbers = false;
  trial.stop.steps = steps;
  trial.cluster.collectives = how;
  return trial;
}

/// The trial with gradients that take so long: half of it for each pass.
Trial with_gradients_of(double seconds, Trial trial) {
  *trial.flops_a_row *= seconds / trial.gradient_s();
  return trial;
}

const record::CollectiveUse& only(const record::Record& record) {
  REQUIRE(record.error.empty());
  REQUIRE(record.collectives.size() == 1);
  return record.collectives.front();
}

}  // namespace

TEST_CASE("a bucket that overlaps half of its time is exposed for the other half") {
  for (const auto how : {Collectives::automatic, Collectives::messages}) {
    const double r = ring_s(M / 2);
    // The backward pass from r to 2 r completes the upper layer at 1.5 r: its sum ends at 2.5 r, the lower one's at
    // 3.5 r. From 2 r on the ranks wait.
    const record::Record record = with_gradients_of(2 * r, timed(allreduce("ring", M / 2), how, 2)).run().record;
    const record::CollectiveUse& use = only(record);
    CHECK(record.simulated_s == Approx(steps * (3.5 * r + 2.0 * static_cast<double>(d) / speed)).epsilon(1e-9));
    CHECK(use.calls == 2 * steps);
    CHECK(*use.duration_s == Approx(r).epsilon(1e-9));
    CHECK(*use.exposed_s == Approx((0.5 * r + r) / 2).epsilon(1e-9));
  }
}

TEST_CASE("buckets are exposed from the end of the backward pass on, an allreduce after it entirely") {
  constexpr int layers = 4;
  for (const auto how : {Collectives::automatic, Collectives::messages}) {
    const record::CollectiveUse whole = only(timed(allreduce("ring"), how, layers).run().record);
    CHECK(*whole.duration_s == Approx(ring_s(M)).epsilon(1e-9));
    CHECK(*whole.exposed_s == Approx(ring_s(M)).epsilon(1e-9));
    for (const double of_ring : {0.1, 0.7, 3.0, 20.0}) {
      const double r = ring_s(M / layers), t = of_ring * r;  // of a pass
      const Trial trial = with_gradients_of(2 * t, timed(allreduce("ring", M / layers), how, layers));
      double ready = t, summed = 0.0, exposed = 0.0;
      for (int layer = 0; layer < layers; ++layer) {
        ready += t / layers;
        const double begin = std::max(ready, summed);
        summed = begin + r;
        exposed += std::max(0.0, summed - std::max(begin, 2 * t)) / layers;
      }
      CAPTURE(of_ring);
      const record::CollectiveUse use = only(trial.run().record);
      CHECK(*use.duration_s == Approx(r).epsilon(1e-9));
      CHECK(*use.exposed_s == Approx(exposed).epsilon(1e-9));
    }
  }
}

TEST_CASE("exposed time by messages is that of computed collectives, and a part of what ranks communicate and wait") {
  auto hybrid = std::make_shared<strategies::Fsdp>();
  hybrid->shard_group = 2;
  auto stays = std::make_shared<strategies::Fsdp>();
  stays->reshard_after_forward = false;
  auto second = std::make_shared<strategies::Zero>();
  second->stage = 2;
  for (const training::Program& program :
       {allreduce("ring", M / 4), allreduce("hierarchical"), strategies::program(std::make_shared<strategies::Fsdp>()),
        strategies::program(hybrid), strategies::program(stays), strategies::program(second)}) {
    const auto record_of = [&](Collectives how) {
      Trial trial = with_gradients_of(ring_s(M), timed(program, how, 4));
      trial.cluster.relative_speeds = {1.0, 0.7, 1.0, 0.9};
      return trial.run().record;
    };
    const record::Record computed = record_of(Collectives::automatic), sent = record_of(Collectives::messages);
    REQUIRE(computed.error.empty());
    REQUIRE_FALSE(computed.collectives.empty());
    REQUIRE(computed.collectives.size() == sent.collectives.size());
    double exposed_s = 0.0, blocked_s = 0.0;
    for (const record::CollectiveUse& use : computed.collectives) {
      const auto same = std::ranges::find_if(sent.collectives, [&](const record::CollectiveUse& other) {
        return other.name == use.name && other.bytes == use.bytes && other.members == use.members;
      });
      REQUIRE(same != sent.collectives.end());
      CAPTURE(use.name, use.bytes);
      CHECK(*same->duration_s == Approx(*use.duration_s).epsilon(1e-9));
      CHECK(*same->exposed_s == Approx(*use.exposed_s).epsilon(1e-9));
      CHECK(*use.exposed_s <= *use.duration_s);
      CHECK(*use.duration_s <= (use.simulated_s + use.skew_s) * (1 + 1e-9));
      exposed_s += *use.exposed_s * static_cast<double>(use.calls * use.members);
    }
    for (const record::RankUse& rank : computed.ranks)
      blocked_s += rank.communicate_s + rank.wait_s + rank.parts[record::TimePart::compute_reduction];
    CHECK(exposed_s > 0.0);
    CHECK(exposed_s <= blocked_s * (1 + 1e-9));
  }
}

}  // namespace exposed_test
