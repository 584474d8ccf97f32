// Collectives beside a rank's computing, on its side stream; and in phases: computed, and message by message.
#include "cluster/ranks/side_stream.h"

#include <random>

#include "cluster/topologies/fat_tree.h"
#include "cluster/topologies/gpu_hosts.h"
#include "cluster/topologies/pod.h"
#include "cluster/topologies/torus.h"
#include "collectives/allreduce.h"
#include "collectives/group.h"
#include "collectives/ring.h"

namespace side_stream_test {

using namespace simgrad;
using namespace simgrad::tests;
using cluster::Communicator;
using cluster::SideStream;
using values::Dispatcher;
using values::Tensor;

namespace {

/// SimGrid lets events within 1e-12 s happen together, and sets a flow's weight two such intervals after its latency;
/// some hundred rounds add up to this.
constexpr double simgrid_precision_s = 5e-10;

std::vector<std::pair<std::string, Topology>> several_topologies() {
  return {{"star", topology_of<cluster::Star>([](auto& star) { star.devices_per_host = 2; })},
          {"pod", topology_of<cluster::Pod>([](auto& pod) {
             pod.devices = 4;
             pod.nics = 4;
             pod.hosts_per_group = 4;
           })},
          {"gpu_hosts", topology_of<cluster::GpuHosts>([](auto& hosts) {
             hosts.devices = 4;
             hosts.nics = 4;
           })},
          {"fat_tree", topology_of<cluster::FatTree>()},
          {"torus", topology_of<cluster::Torus>()}};
}

/// A rank's steps: it computes, hands over a vector to be summed beside, and so on; then waits for the sums, with some
/// more work between them.
struct Steps {
  std::vector<double> before_s;   ///< each vector
  std::vector<double> between_s;  ///< after each sum
  std::vector<std::int64_t> lengths;
};

Steps drawn(int rank, int trial) {
  std::mt19937 shared(static_cast<unsigned>(trial)), own(static_cast<unsigned>(1000 * trial + rank));
  Steps steps;
  const auto vectors = 1 + shared() % 4;
  for (unsigned k = 0; k < vectors; ++k) {
    steps.lengths.push_back(static_cast<std::int64_t>(1000 + shared() % 60'000));
    steps.before_s.push_back(1e-6 * static_cast<double>(own() % 600));
    steps.between_s.push_back(own() % 2 == 0 ? 0.0 : 1e-6 * static_cast<double>(own() % 300));
  }
  return steps;
}

/// Whether a host has several devices, each with a NIC of its own: the rings between hosts share no link.
bool has_rails(const std::string& name) { return name == "pod" || name == "gpu_hosts"; }

/// The tasks that are handed over as one collective.
enum class Entered { none, every_other, all };

Group::Outcome overlapped(const Group& group, const std::string& algorithm, int trial,
                          Entered entered = Entered::none) {
  const auto chosen = collectives::allreduces().find(algorithm)->make();
  return group.run([&](const Communicator& comm, Dispatcher& dispatcher) {
    const Steps steps = drawn(comm.rank(), trial);
    const auto compute = [&](double seconds) { comm.world().ranks().compute(comm.rank(), speed * seconds); };
    SideStream beside(comm);
    Tensor last;
    for (int step = 0; step < 2; ++step) {
      std::vector<int> sums;
      for (std::size_t k = 0; k < steps.lengths.size(); ++k) {
        compute(steps.before_s[k]);
        const Tensor x = contributed(dispatcher, comm.rank(), steps.lengths[k]);
        const auto sum = [&chosen, x](const Communicator& side) { return (*chosen)(side, x); };
        const bool enters = entered == Entered::all || (entered == Entered::every_other && k % 2 == 0);
        sums.push_back(enters ? beside.start_collective(sum) : beside.start(sum));
      }
      for (std::size_t k = 0; k < sums.size(); ++k) {
        last = beside.wait(sums[k]);
        compute(steps.between_s[k]);
      }
      last = (*chosen)(comm, last);  // and one of the rank itself
    }
    return last;
  });
}

void check_same(const Group::Outcome& a, const Group::Outcome& b) {
  REQUIRE(a.members.size() == b.members.size());
  for (std::size_t r = 0; r < a.members.size(); ++r) {
    CAPTURE(r);
    CHECK(a.members[r].result == b.members[r].result);
    CHECK(a.members[r].end_s == b.members[r].end_s);
    CHECK(a.members[r].compute_s == b.members[r].compute_s);
    CHECK(a.members[r].communicate_s == b.members[r].communicate_s);
    CHECK(a.members[r].wait_s == b.members[r].wait_s);
    CHECK(a.members[r].parts == b.members[r].parts);
    CHECK(a.members[r].bytes_sent == b.members[r].bytes_sent);
  }
}

}  // namespace

TEST_CASE("collectives beside the computing take the same times computed and message by message") {
  int trial = 0;
  for (const auto& [name, topology] : several_topologies())
    for (const std::string algorithm : {"ring", "rabenseifner", "hierarchical"})
      for (const int P : {2, 8, 16}) {
        if (algorithm == "hierarchical" && !has_rails(name)) continue;
        ++trial;
        CAPTURE(name, algorithm, P, trial);
        Group group{.P = P, .numbers = false};
        group.topology = topology;
        const Group::Outcome messages = overlapped(group, algorithm, trial);
        group.collectives = cluster::Collectives::automatic;
        check_equal(overlapped(group, algorithm, trial), messages, simgrid_precision_s);
        double last_s = 0.0;
        for (const auto& member : messages.members) last_s = std::max(last_s, member.end_s);
        for (const double fraction : {0.3, 0.7}) {  // cut in the middle
          CAPTURE(fraction);
          group.end_s = fraction * last_s;
          group.collectives = cluster::Collectives::messages;
          const Group::Outcome cut = overlapped(group, algorithm, trial);
          group.collectives = cluster::Collectives::automatic;
          check_equal(overlapped(group, algorithm, trial), cut, simgrid_precision_s);
        }
      }
}

TEST_CASE("collectives that a side stream enters without its actor are those of the actor, to the last bit") {
  int trial = 0;
  for (const auto& [name, topology] : several_topologies())
    for (const std::string algorithm : {"ring", "rabenseifner", "hierarchical"})
      for (const int P : {1, 2, 8, 16})
        for (const Entered entered : {Entered::every_other, Entered::all}) {
          if (algorithm == "hierarchical" && !has_rails(name)) continue;
          ++trial;
          CAPTURE(name, algorithm, P, trial);
          Group group{.P = P, .numbers = false};
          group.topology = topology;
          group.collectives = cluster::Collectives::automatic;
          const Group::Outcome by_actor = overlapped(group, algorithm, trial);
          check_same(overlapped(group, algorithm, trial, entered), by_actor);
          double last_s = 0.0;
          for (const auto& member : by_actor.members) last_s = std::max(last_s, member.end_s);
          group.end_s = 0.6 * last_s;
          check_same(overlapped(group, algorithm, trial, entered), overlapped(group, algorithm, trial));
        }
}

TEST_CASE("an error in a task that is entered by a timer ends the run with the rank") {
  Group group{.P = 4, .numbers = false};
  group.collectives = cluster::Collectives::automatic;
  const auto run = [&] {
    return group.run([](const Communicator& comm, Dispatcher& dispatcher) {
      const Tensor x = contributed(dispatcher, comm.rank(), 100);
      SideStream beside(comm);
      beside.start_collective([x](const Communicator& side) { return collectives::Ring()(side, x); });
      return beside.wait(beside.start_collective([](const Communicator& side) -> Tensor {
        if (side.rank() == 2) throw std::runtime_error("no vector");
        return {};
      }));
    });
  };
  CHECK_THROWS_WITH(run(), ContainsSubstring("rank 2") && ContainsSubstring("no vector"));
}

TEST_CASE("a hierarchical allreduce takes the same times and gives the same bits computed and message by message") {
  std::mt19937 random(5);
  for (const auto& [name, topology] : several_topologies()) {
    if (!has_rails(name)) continue;
    for (const int P : {4, 7, 8, 16})
      for (const std::int64_t length : {0, 3, 1000, 50'001}) {
        CAPTURE(name, P, length);
        Group group{.P = P};
        group.topology = topology;
        for (int r = 0; r < P; ++r) group.arrivals.push_back(1e-6 * static_cast<double>(random() % 500));
        const auto run = [&] {
          return group.run([&](const Communicator& comm, Dispatcher& dispatcher) {
            const auto chosen = collectives::allreduces().find("hierarchical")->make();
            Tensor x = (*chosen)(comm, contributed(dispatcher, comm.rank(), length));
            return (*chosen)(comm, x, collectives::Reduction::max);
          });
        };
        const Group::Outcome messages = run();
        group.collectives = cluster::Collectives::automatic;
        check_equal(run(), messages, simgrid_precision_s);
      }
  }
}

TEST_CASE("a hierarchical allreduce that is cut has the same times computed and message by message") {
  std::mt19937 random(7);
  for (const auto& [name, topology] : several_topologies()) {
    if (!has_rails(name)) continue;
    for (const int P : {8, 24})  // two hosts, and six
      for (const double fraction : {0.05, 0.2, 0.35, 0.45, 0.5, 0.55, 0.6, 0.7, 0.8, 0.9, 0.97}) {
        CAPTURE(name, P, fraction);
        Group group{.P = P, .numbers = false};
        group.topology = topology;
        for (int r = 0; r < P; ++r) {
          group.arrivals.push_back(1e-6 * static_cast<double>(random() % 500));
          group.speeds.push_back(1.0 / static_cast<double>(1 + random() % 3));
        }
        const auto run = [&] {
          return group.run([&](const Communicator& comm, Dispatcher& dispatcher) {
            const auto chosen = collectives::allreduces().find("hierarchical")->make();
            return (*chosen)(comm, contributed(dispatcher, comm.rank(), 60'001));
          });
        };
        double last_s = 0.0;
        for (const auto& member : run().members) last_s = std::max(last_s, member.end_s);
        group.end_s = fraction * last_s;
        const Group::Outcome messages = run();
        group.collectives = cluster::Collectives::automatic;
        const Group::Outcome computed = run();
        check_equal(computed, messages, simgrid_precision_s);
        for (const Group::Member& member : computed.members)
          CHECK(member.compute_s + member.communicate_s + member.wait_s == Approx(*group.end_s).epsilon(1e-9));
      }
  }
}

// Rank 0 hands over its vector at the beginning, and computes; rank 1 comes at 0.4 ms. The ring of two is a transfer of
// a half, its additions, and a transfer of the other half. Rank 0 counts the rest of it from the end of its computing
// on.
TEST_CASE("the part of a collective that its rank waits for is worked out by hand") {
  constexpr std::int64_t d = 100'000;
  constexpr double late_s = 0.4e-3;
  const double half_s = alpha + 4.0 * d / B;
  const double received_s = late_s + half_s, added_s = received_s + d / 2 / speed, end_s = added_s + half_s;
  const auto rest = [](double since_s, double from_s, double to_s) {
    return std::max(0.0, to_s - std::max(since_s, from_s));
  };
  for (const auto how : {cluster::Collectives::messages, cluster::Collectives::automatic})
    for (const double computes_s : {0.1e-3, 0.5e-3, 0.5 * (received_s + added_s), 1e-3, 2e-3}) {
      CAPTURE(computes_s);
      Group group{.P = 2, .numbers = false, .collectives = how};
      const auto outcome = group.run([&](const Communicator& comm, Dispatcher& dispatcher) {
        SideStream beside(comm);
        auto& ranks = comm.world().ranks();
        if (comm.rank() == 1) ranks.compute(1, speed * late_s);
        const Tensor x = contributed(dispatcher, comm.rank(), d);
        const auto ring = collectives::allreduces().find("ring")->make();
        const int sum = beside.start([&](const Communicator& side) { return (*ring)(side, x); });
        if (comm.rank() == 0) ranks.compute(0, speed * computes_s);
        return beside.wait(sum);
      });
      const Group::Member& first = outcome.members[0];
      CHECK(first.end_s == Approx(std::max(end_s, computes_s)).epsilon(1e-9));
      CHECK(first.wait_s == Approx(rest(computes_s, 0.0, late_s)).epsilon(1e-9).margin(1e-11));
      CHECK(first.compute_s == Approx(computes_s + rest(computes_s, received_s, added_s)).epsilon(1e-9));
      const double transfers_s = rest(computes_s, late_s, received_s) + rest(computes_s, added_s, end_s);
      CHECK(first.communicate_s == Approx(transfers_s).epsilon(1e-9).margin(1e-11));
      CHECK(outcome.members[1].communicate_s == Approx(2 * half_s).epsilon(1e-9));
    }
}

}  // namespace side_stream_test
