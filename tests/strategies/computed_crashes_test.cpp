// Crashes in collectives that are computed at their last arrival: all is as if they went message by message.
#include <functional>
#include <memory>

#include "cluster/topologies/star.h"
#include "collectives/ring.h"
#include "share.h"
#include "strategies/fragile.h"

namespace computed_crashes_test {

using namespace simgrad;
using namespace simgrad::tests;
using cluster::Collectives;
using record::TimePart;

namespace {

/// causes: whether the causes of waiting are compared, too.
struct Nearness {
  double margin_s = 0.0;
  bool causes = true;
};

void check_near(double computed, double sent, const Nearness& near) {
  CHECK(computed == Approx(sent).epsilon(1e-9).margin(near.margin_s));
}

void check_equal_ranks(const record::RankUse& computed, const record::RankUse& sent, const Nearness& near) {
  check_near(computed.compute_s, sent.compute_s, near);
  check_near(computed.communicate_s, sent.communicate_s, near);
  check_near(computed.wait_s, sent.wait_s, near);
  check_near(computed.down_s, sent.down_s, near);
  CHECK(computed.bytes_sent == sent.bytes_sent);
  CHECK(computed.bytes_received == sent.bytes_received);
  for (std::size_t k = 0; k < record::time_parts; ++k) {
    const auto part = static_cast<TimePart>(k);
    if (!near.causes && record::activity_of(part) == record::Activity::wait) continue;
    CAPTURE(record::field_name(part));
    check_near(computed.parts[part], sent.parts[part], near);
  }
}

void check_equal_collectives(const record::CollectiveUse& computed, const record::CollectiveUse& sent,
                             const Nearness& near) {
  CAPTURE(sent.name, sent.members, sent.bytes);
  CHECK(computed.name == sent.name);
  CHECK(computed.calls == sent.calls);
  check_near(computed.simulated_s, sent.simulated_s, near);
  check_near(computed.skew_s, sent.skew_s, near);
  check_near(computed.duration_s.value_or(0.0), sent.duration_s.value_or(0.0), near);
  check_near(computed.exposed_s.value_or(0.0), sent.exposed_s.value_or(0.0), near);
}

void check_equal_records(const record::Record& computed, const record::Record& sent, bool causes) {
  const Nearness near{.margin_s = 1e-10 * sent.simulated_s, .causes = causes};
  check_near(computed.simulated_s, sent.simulated_s, near);
  CHECK(computed.status == sent.status);
  CHECK(computed.notes == sent.notes);
  CHECK(computed.samples == sent.samples);
  CHECK(computed.steps == sent.steps);
  CHECK(computed.bytes == sent.bytes);
  CHECK(computed.messages == sent.messages);
  for (std::size_t r = 0; r < sent.ranks.size(); ++r) {
    CAPTURE(r);
    check_equal_ranks(computed.ranks[r], sent.ranks[r], near);
  }
  REQUIRE(computed.curve.size() == sent.curve.size());
  for (std::size_t row = 0; row < sent.curve.size(); ++row) {
    check_near(computed.curve[row].simulated_s, sent.curve[row].simulated_s, near);
    CHECK(computed.curve[row].bytes == sent.curve[row].bytes);
  }
  REQUIRE(computed.collectives.size() == sent.collectives.size());
  for (std::size_t i = 0; i < sent.collectives.size(); ++i)
    check_equal_collectives(computed.collectives[i], sent.collectives[i], near);
}

struct Case {
  std::string name;
  training::Program program;
  std::function<void(Trial&)> change = {};
  bool causes = true;  ///< where a step has one collective, and not several beside each other
};

void check_as_by_messages(const Case& each, Trial trial) {
  trial.training.numbers = false;
  REQUIRE(trial.cluster.computes_collectives());
  const Outcome computed = trial.run();
  trial.cluster.collectives = Collectives::messages;
  check_equal_records(computed.record, trial.run().record, each.causes);
}

base::Slot<cluster::Topology> two_devices_a_host() {
  auto star = std::make_unique<cluster::Star>();
  star->devices_per_host = 2;
  star->device_bandwidth_bytes_per_s = 10.0 * slow_B;
  star->device_latency_s = 0.1 * alpha;
  return base::Slot<cluster::Topology>(cluster::topologies(), std::move(star));
}

training::Program in_slices() {
  auto strategy = around_a_ring<strategies::Allreduce>();
  collectives::Ring ring;
  ring.slices = 2;
  strategy->algorithm =
      base::Slot<collectives::Allreduce>(collectives::allreduces(), std::make_unique<collectives::Ring>(ring));
  return strategies::program(strategy);
}

std::vector<Case> cases() {
  const auto unequal = [](Trial& trial) { trial.cluster.relative_speeds = {1.0, 0.7, 1.0, 0.9}; };
  const auto in_hosts = [=](Trial& trial) {
    unequal(trial);
    trial.cluster.topology = two_devices_a_host();
  };
  return {{"ring", ring_allreduce()},
          {"ring, unequal speeds", ring_allreduce(), unequal},
          {"ring, two devices a host", ring_allreduce(), in_hosts},
          {"recursive doubling", allreduce("recursive_doubling"), unequal},
          {"rabenseifner", allreduce("rabenseifner")},
          {"tree", allreduce("tree"), unequal},
          {"double binary tree", allreduce("double_binary_tree")},
          {"hierarchical", allreduce("hierarchical"), in_hosts, false},
          {"naive", allreduce("naive")},
          {"ring in slices", in_slices(), unequal},
          {"ring in buckets", allreduce("ring", 16.0), [](Trial& trial) { trial.layers = 4; }, false},
          {"local sgd", local_sgd(3), unequal}};
}

Trial short_trial(const Case& each) {
  Trial trial = fragile(each.program);
  trial.stop.steps = 6;
  trial.training.checkpoint_every_steps = 2;
  if (each.change) each.change(trial);
  return trial;
}

}  // namespace

TEST_CASE("a crash at any time gives the record that messages give, under every recovery that stops all ranks") {
  constexpr int times = 23;
  constexpr Recovery recoveries[] = {Recovery::restart, Recovery::wait, Recovery::shrink, Recovery::elastic};
  // Before the crash is detected, while all are at work again, and late.
  constexpr double repairs[] = {0.3 * detection_s, 1.2 * detection_s, repair_s};
  Share share(7);
  for (const Case& each : cases()) {
    const Trial trial = short_trial(each);
    const double whole_s = trial.run().record.simulated_s;
    for (int i = 0; i < times; ++i)
      for (const Recovery recovery : recoveries) {
        if (!share.next()) continue;
        const double at_s = whole_s * (i + 0.5) / times;
        CAPTURE(each.name, i, cluster::name(recovery));
        std::vector<Crash> crashes{crash(i % 4, at_s, repairs[i % 3])};
        // Another one before that, of another host where hosts have two devices.
        if (i % 2 == 0) crashes.push_back(crash((i + (i % 4 == 0 ? 3 : 2)) % 4, at_s + 0.4 * detection_s));
        check_as_by_messages(each, with_crashes(trial, crashes, recovery));
      }
  }
}

TEST_CASE("a host that is repaired and lost again before a computed collective is down for those who come to it then") {
  constexpr int times = 13;
  Share share;
  for (const Case& each : cases()) {
    const Trial trial = short_trial(each);
    const double whole_s = trial.run().record.simulated_s;
    for (int i = 0; i < times; ++i) {
      if (!share.next()) continue;
      const double at_s = whole_s * (i + 0.2) / times;
      CAPTURE(each.name, i);
      const std::vector<Crash> crashes{crash(i % 4, at_s, 0.01 * detection_s), crash(i % 4, at_s + 0.02 * detection_s)};
      check_as_by_messages(each, with_crashes(trial, crashes));
    }
  }
}

TEST_CASE("a host that is back within a transfer has those who call it wait, in computed collectives, too") {
  constexpr int times = 31;
  Share share;
  for (Case each : cases()) {
    const Trial trial = short_trial(each);
    const double whole_s = trial.run().record.simulated_s;
    each.causes = each.causes && each.name != "ring in slices";  // some of them change places
    for (int i = 0; i < times; ++i) {
      if (!share.next()) continue;
      const double at_s = whole_s * (i + 0.7) / times, hop_s = alpha + (M / 4) / slow_B;
      CAPTURE(each.name, i);
      check_as_by_messages(each, with_crashes(trial, {crash(i % 4, at_s, (0.1 + 0.3 * (i % 7)) * hop_s)}));
    }
  }
}

TEST_CASE("a rank crashes in the moment in which it, or the last one, comes to a computed collective") {
  for (const Case& each : cases()) {
    if (each.causes)
      for (const double at_s : {0.0, t_c, t_c / 0.7, t_c / 0.9})
        for (const int rank : {0, 1, 3}) {
          CAPTURE(each.name, at_s, rank);
          check_as_by_messages(each, with_crashes(short_trial(each), {crash(rank, at_s)}));
        }
  }
}

}  // namespace computed_crashes_test
