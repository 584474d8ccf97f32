// Rings beside work on the blocks that they carry: computed and by messages, against a program that goes block by
// block.
#include "collectives/block_work.h"

#include <random>

#include "cluster/ranks/block_work_scope.h"
#include "cluster/ranks/side_stream.h"
#include "cluster/topologies/gpu_hosts.h"
#include "cluster/topologies/torus.h"
#include "collectives/group.h"
#include "collectives/ring.h"
#include "scratch.h"

namespace block_work_test {

using namespace simgrad;
using namespace simgrad::tests;
using cluster::Collectives;
using cluster::Communicator;
using values::Dispatcher;
using values::Tensor;

namespace {

/// Members that come at some time, and work on blocks for so long each.
struct Drawn {
  std::vector<double> arrivals_s, block_s;
  std::int64_t chunk = 0;  ///< numbers
  bool sums = false;
  std::size_t members() const { return arrivals_s.size(); }
};

Drawn drawn(std::size_t members, int trial, bool sums) {
  std::mt19937 draw(static_cast<unsigned>(97 * trial) + static_cast<unsigned>(members));
  const auto seconds = [&](double most) { return most * static_cast<double>(draw() % 1000) / 1000.0; };
  Drawn ring{
      .arrivals_s = {}, .block_s = {}, .chunk = 1000 + 20'000 * static_cast<std::int64_t>(draw() % 3), .sums = sums};
  const double late_s = trial % 3 == 0 ? 0.0 : 2e-3, work_s = trial % 4 == 0 ? 2e-3 : 4e-4;
  for (std::size_t r = 0; r < members; ++r) {
    ring.arrivals_s.push_back(1e-3 + seconds(late_s));
    ring.block_s.push_back(trial % 5 == 0 ? work_s / 2 : seconds(work_s));
  }
  return ring;
}

/// When each member has done its work and has its result, where each of them takes one block after the other: it begins
/// with a block that has come, and sends the sums of a block with which it has computed.
std::vector<double> block_by_block_s(const Drawn& ring) {
  const std::size_t P = ring.members();
  const double transfer_s = alpha + 8.0 * static_cast<double>(ring.chunk) / B;
  const double adds_s = ring.sums ? static_cast<double>(ring.chunk) / speed : 0.0;
  std::vector<double> come_s = ring.arrivals_s, done_s = ring.arrivals_s;
  for (std::size_t r = 0; r < P; ++r) done_s[r] += ring.block_s[r];
  for (std::size_t round = 1; round < P; ++round) {
    std::vector<double> ready_s = come_s;
    for (std::size_t r = 0; r < P && ring.sums; ++r) ready_s[r] = std::max(come_s[r], done_s[r]);
    for (std::size_t r = 0; r < P; ++r) {
      const double left_s = std::max(ready_s[r], ready_s[(r + P - 1) % P]);
      come_s[r] = std::max(left_s, ready_s[(r + 1) % P]) + transfer_s + adds_s;
      done_s[r] = ring.sums ? done_s[r] + ring.block_s[r] : std::max(done_s[r], come_s[r]) + ring.block_s[r];
    }
  }
  for (std::size_t r = 0; r < P; ++r) done_s[r] = std::max(done_s[r], come_s[r]);
  return done_s;
}

/// As ring attention does: the work on the last block of an all-gather stands behind the ring.
Group::Outcome beside_work(Group group, const Drawn& ring, Collectives ways) {
  group.P = static_cast<int>(ring.members());
  group.arrivals = ring.arrivals_s;
  group.collectives = ways;
  return group.run([&](const Communicator& comm, Dispatcher& dispatcher) {
    const auto P = static_cast<double>(comm.size()), block_s = ring.block_s[static_cast<std::size_t>(comm.rank())];
    const auto compute = [&](double blocks) {
      comm.world().ranks().compute(comm.rank(), speed * blocks * block_s, record::Work::forward);
    };
    cluster::SideStream stream(comm);
    const Tensor x = contributed(dispatcher, comm.rank(), ring.sums ? comm.size() * ring.chunk : ring.chunk);
    const int task = stream.start_collective([&, x](const Communicator& side) {
      const cluster::BlockWorkScope working(side, block_s);
      return ring.sums ? collectives::reduce_scatter(side, x)
                       : collectives::all_gather(side, x, comm.size() * ring.chunk);
    });
    compute(ring.sums ? P : P - 1);
    const Tensor result = stream.wait(task);
    if (!ring.sums) compute(1);
    return result;
  });
}

}  // namespace

TEST_CASE("a ring beside work ends as one that goes block by block") {
  for (const bool sums : {false, true})
    for (const std::size_t P : {2, 3, 5})
      for (int trial = 0; trial < 12; ++trial) {
        CAPTURE(sums, P, trial);
        const Drawn ring = drawn(P, trial, sums);
        const std::vector<double> expected_s = block_by_block_s(ring);
        const Group::Outcome computed = beside_work({}, ring, Collectives::automatic);
        const Group::Outcome by_messages = beside_work({}, ring, Collectives::messages);
        for (std::size_t r = 0; r < P; ++r) {
          CAPTURE(r);
          CHECK(computed.members[r].end_s == Approx(expected_s[r]).epsilon(1e-9));
          CHECK(by_messages.members[r].end_s == Approx(expected_s[r]).epsilon(1e-9));
        }
        check_equal(computed, by_messages);
      }
}

TEST_CASE("a member that a ring keeps waiting for the work of another one waits for its gradient") {
  // The slow member sends its first sums after 3 ms, when the fast one has computed for 2 ms.
  const Drawn ring{.arrivals_s = {1e-3, 1e-3}, .block_s = {1e-3, 3e-3}, .chunk = 1000, .sums = true};
  for (const auto ways : {Collectives::automatic, Collectives::messages}) {
    CAPTURE(ways == Collectives::messages);
    const Group::Member fast = beside_work({}, ring, ways).members[0];
    CHECK(fast.parts[static_cast<std::size_t>(record::TimePart::wait_gradient)] == Approx(1e-3).epsilon(1e-9));
    CHECK(fast.communicate_s == Approx(alpha + 8000 / B).epsilon(1e-9));
  }
}

TEST_CASE("a measured ring communicates in its rounds, and waits for the work of others between them") {
  // Rounds of 1 ms begin when the slow member has computed with its first two blocks: after 3 ms and after 6 ms.
  const Drawn ring{.arrivals_s = {1e-3, 1e-3, 1e-3}, .block_s = {1e-3, 1e-3, 3e-3}, .chunk = 1000, .sums = true};
  const Scratch scratch;
  const Group group{.measured =
                        scratch.write("t.csv", "ranks,bytes,seconds,collective\n3,24000,0.002,reduce_scatter\n")};
  const Group::Member fast = beside_work(group, ring, Collectives::automatic).members[0];
  CHECK(fast.end_s == Approx(8e-3).epsilon(1e-9));
  CHECK(fast.communicate_s == Approx(2e-3).epsilon(1e-9));
  CHECK(fast.parts[static_cast<std::size_t>(record::TimePart::wait_gradient)] == Approx(2e-3).epsilon(1e-9));
}

TEST_CASE("a ring beside work that the end of the training cuts is as far computed as by messages") {
  for (const bool sums : {false, true})
    for (int trial = 0; trial < 8; ++trial) {
      const Drawn ring = drawn(4, trial, sums);
      const std::vector<double> ends_s = block_by_block_s(ring);
      for (const double share : {0.3, 0.6, 0.9}) {
        CAPTURE(sums, trial, share);
        const Group group{.end_s = 1e-3 + share * (std::ranges::max(ends_s) - 1e-3)};
        check_equal(beside_work(group, ring, Collectives::automatic), beside_work(group, ring, Collectives::messages));
      }
    }
}

TEST_CASE(
    "a ring beside work is the same computed and by messages where hops share links, or hosts have several NICs") {
  const std::vector<std::pair<const char*, Topology>> topologies = {
      {"torus", topology_of<cluster::Torus>()}, {"gpu_hosts", topology_of<cluster::GpuHosts>([](auto& hosts) {
                                                   hosts.devices = 4;
                                                   hosts.nics = 4;
                                                 })}};
  for (const auto& [name, topology] : topologies)
    for (const bool sums : {false, true})
      for (int trial = 0; trial < 6; ++trial) {
        CAPTURE(name, sums, trial);
        const Drawn ring = drawn(8, trial, sums);
        const Group group{.topology = topology};
        check_equal(beside_work(group, ring, Collectives::automatic), beside_work(group, ring, Collectives::messages),
                    5e-10);
      }
}

}  // namespace block_work_test
