// A group of ranks on the ideal star that run one collective: what every rank got, when, and what went over the wire.
#pragma once

#include <unistd.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <numeric>
#include <optional>
#include <vector>

#include "catch.h"
#include "cluster/fabric/cluster.h"
#include "cluster/ranks/communicator.h"
#include "cluster/ranks/ranks.h"
#include "cluster/ranks/world.h"
#include "cluster/topologies/star.h"
#include "record/record.h"
#include "simulation.h"
#include "values/dispatcher.h"

namespace simgrad::tests {

constexpr double alpha = 50e-6;
constexpr double B = 1.25e9;  // 10 Gb/s
constexpr double speed = 1e9;
constexpr double device_alpha = 5e-6;
constexpr double device_B = 12.5e9;
constexpr double gamma_s = 1.0 / (8.0 * speed);  // s/byte of reduction: one addition a double

using Topology = base::Slot<cluster::Topology>;

/// A topology of that kind, with the options that `set` gives it.
template <class Kind>
Topology topology_of(const std::function<void(Kind&)>& set = [](Kind&) {}) {
  auto new_topology = std::make_unique<Kind>();
  set(*new_topology);
  return Topology(cluster::topologies(), std::move(new_topology));
}

struct Group {
  int P = 1;
  bool charge_reductions = true;
  std::vector<double> arrivals = {};  ///< when each rank calls; the others at once
  bool numbers = true;
  cluster::Collectives collectives = cluster::Collectives::messages;
  std::vector<double> speeds = {};   ///< relative; the others 1
  std::optional<double> end_s = {};  ///< the world ends in the middle
  int devices = 1;                   ///< ranks a host
  double efficiency = 1.0;
  std::optional<double> flow_limit = {};  ///< bytes/s
  std::optional<Topology> topology = {};  ///< none: star
  std::vector<cluster::SlowLink> slow_links = {};
  cluster::NetworkModel network_model = cluster::NetworkModel::ideal;
  std::string measured = {};  ///< a file of measured collectives
  double latency_s = alpha;   ///< one way, from host to host

  struct Member {
    std::vector<double> result;
    double end_s = 0.0;
    std::int64_t bytes_sent = 0;
    std::int64_t bytes_received = 0;
    double compute_s = 0.0;  ///< from the beginning of the world
    double communicate_s = 0.0;
    double wait_s = 0.0;
    std::vector<double> parts;  ///< of the three
  };
  struct Outcome {
    std::vector<Member> members;
    std::int64_t messages = 0;
    std::int64_t bytes = 0;
    std::vector<double> links;  ///< bytes and utilisation of each
  };
  /// The work of a rank, which returns its result; a rank that returns no tensor got nothing.
  using Body = std::function<values::Tensor(const cluster::Communicator&, values::Dispatcher&)>;

  Outcome run(const Body& body) const {
    // A child hands back flat numbers: for each rank end, sent, received, length, the result; then messages and bytes.
    const std::vector<double> flat = numbers_of_child([&] {
      alarm(60);
      return flat_outcome(body);
    });
    Outcome outcome;
    std::size_t at = 0;
    const auto whole = [&] { return static_cast<std::int64_t>(flat.at(at++)); };
    for (int r = 0; r < P; ++r) {
      Member& member = outcome.members.emplace_back();
      member.end_s = flat.at(at++);
      member.bytes_sent = whole();
      member.bytes_received = whole();
      member.compute_s = flat.at(at++);
      member.communicate_s = flat.at(at++);
      member.wait_s = flat.at(at++);
      for (std::size_t k = 0; k < record::time_parts; ++k) member.parts.push_back(flat.at(at++));
      for (std::int64_t length = whole(); length > 0; --length) member.result.push_back(flat.at(at++));
    }
    outcome.messages = whole();
    outcome.bytes = whole();
    outcome.links.assign(flat.begin() + static_cast<std::ptrdiff_t>(at), flat.end());
    return outcome;
  }

 private:
  base::Slot<cluster::Topology> several_devices() const {
    auto star = std::make_unique<cluster::Star>();
    star->devices_per_host = devices;
    star->device_bandwidth_bytes_per_s = device_B;
    star->device_latency_s = device_alpha;
    return base::Slot<cluster::Topology>(cluster::topologies(), std::move(star));
  }

  std::vector<double> flat_outcome(const Body& body) const {
    cluster::Options options;
    options.host_spec = {.speed_flops_per_s = speed, .bandwidth_bytes_per_s = B, .latency_s = latency_s};
    options.workers = P;
    options.charge_reductions = charge_reductions;
    options.collectives = collectives;
    options.efficiency = efficiency;
    options.flow_limit_bytes_per_s = flow_limit;
    if (devices > 1) options.topology = several_devices();
    if (topology) options.topology = *topology;
    options.slow_links = slow_links;
    options.network_model = network_model;
    options.measured = measured;
    cluster::Cluster cluster(options, P);
    cluster::World world(cluster, "group", P, 0);
    values::Dispatcher dispatcher({.numbers = numbers, .label = {}});
    std::vector<int> all(static_cast<std::size_t>(P));
    std::iota(all.begin(), all.end(), 0);
    const auto members = std::make_shared<const std::vector<int>>(all);
    std::vector<values::Tensor> results(all.size());
    std::vector<double> ends(all.size());
    for (std::size_t r = 0; r < speeds.size(); ++r) world.ranks().set_relative_speed(static_cast<int>(r), speeds[r]);
    if (end_s) cluster.at(*end_s, [&] { world.end(); });
    for (int r = 0; r < P; ++r)
      world.ranks().start(r, [&, r] {
        const auto i = static_cast<std::size_t>(r);
        const cluster::Communicator comm(world, members, r, 0);
        if (i < arrivals.size()) world.ranks().compute(r, speed * world.ranks().relative_speed(r) * arrivals[i]);
        results[i] = body(comm, dispatcher);
        ends[i] = world.now();
      });
    cluster.run();
    world.end();
    record::Record record;
    world.fill(record);
    std::vector<double> flat;
    for (std::size_t i = 0; i < all.size(); ++i) {
      flat.insert(flat.end(), {ends[i], static_cast<double>(record.ranks[i].bytes_sent),
                               static_cast<double>(record.ranks[i].bytes_received)});
      flat.insert(flat.end(), {record.ranks[i].compute_s, record.ranks[i].communicate_s, record.ranks[i].wait_s});
      for (std::size_t k = 0; k < record::time_parts; ++k)
        flat.push_back(record.ranks[i].parts[static_cast<record::TimePart>(k)]);
      const bool any = numbers && results[i];
      const auto value = any ? results[i].value() : std::span<const double>();
      flat.push_back(static_cast<double>(value.size()));
      flat.insert(flat.end(), value.begin(), value.end());
    }
    flat.push_back(static_cast<double>(record.messages));
    flat.push_back(static_cast<double>(record.bytes));
    for (const record::LinkUse& link : record.links)
      flat.insert(flat.end(), {static_cast<double>(link.bytes), link.utilisation});
    return flat;
  }
};

/// Everything that two outcomes can differ in, times to nine digits or to `margin_s`, the rest exactly.
inline void check_equal(const Group::Outcome& a, const Group::Outcome& b, double margin_s = 1e-15) {
  REQUIRE(a.members.size() == b.members.size());
  const auto near = [&](double x) { return Approx(x).epsilon(1e-9).margin(margin_s); };
  for (std::size_t r = 0; r < a.members.size(); ++r) {
    CAPTURE(r);
    CHECK(a.members[r].result == b.members[r].result);
    CHECK(a.members[r].end_s == near(b.members[r].end_s));
    CHECK(a.members[r].compute_s == near(b.members[r].compute_s));
    CHECK(a.members[r].communicate_s == near(b.members[r].communicate_s));
    CHECK(a.members[r].wait_s == near(b.members[r].wait_s));
    // Whether a member waits for another's work, its sums or its messages is told apart message by message only.
    const auto within = [](record::TimePart part) {
      return part == record::TimePart::wait_gradient || part == record::TimePart::wait_worker ||
             part == record::TimePart::wait_transfer || part == record::TimePart::wait_other;
    };
    double within_a = 0.0, within_b = 0.0;
    for (std::size_t k = 0; k < record::time_parts; ++k) {
      const auto part = static_cast<record::TimePart>(k);
      CAPTURE(record::field_name(part));
      if (within(part))
        within_a += a.members[r].parts[k], within_b += b.members[r].parts[k];
      else
        CHECK(a.members[r].parts[k] == near(b.members[r].parts[k]));
    }
    CHECK(within_a == near(within_b));
    CHECK(a.members[r].bytes_sent == b.members[r].bytes_sent);
    CHECK(a.members[r].bytes_received == b.members[r].bytes_received);
  }
  CHECK(a.messages == b.messages);
  CHECK(a.bytes == b.bytes);
  REQUIRE(a.links.size() == b.links.size());
  for (std::size_t i = 0; i < a.links.size(); ++i)
    CHECK(a.links[i] == Approx(b.links[i]).epsilon(margin_s > 1e-12 ? 1e-6 : 1e-9).margin(1e-15));
}

/// Returns the input of rank r: numbers whose sums round, so that the order of additions shows.
inline std::vector<double> contribution(int r, std::int64_t d) {
  std::vector<double> x;
  x.reserve(static_cast<std::size_t>(d));
  for (std::int64_t i = 0; i < d; ++i) x.push_back(1.0 / (3.0 + static_cast<double>((7 * r + 5 * i + r * i) % 101)));
  return x;
}

/// The contribution as a tensor. Where no numbers are computed, each rank has a tensor of its own without any.
inline values::Tensor contributed(values::Dispatcher& dispatcher, int r, std::int64_t d) {
  if (dispatcher.numbers()) return dispatcher.constant(contribution(r, d));
  return dispatcher.dispatch({.name = "contribution", .numbered = false}, d, {}, {});
}

/// The lengths that every collective must get right with P ranks.
inline std::vector<std::int64_t> lengths(int P) { return {0, 1, P - 1, P, 1000}; }

}  // namespace simgrad::tests
