// Double binary trees up and down at once: their shape, their closed form, their sums.
#include "collectives/trees_at_once.h"

#include <algorithm>

#include "cluster/topologies/gpu_hosts.h"
#include "collectives/double_binary_tree.h"
#include "collectives/group.h"

namespace trees_at_once_test {

using namespace simgrad;
using namespace simgrad::tests;
using cluster::Communicator;
using collectives::Parents;
using values::Dispatcher;

namespace {

collectives::DoubleBinaryTree at_once(double chunk_bytes) {
  collectives::DoubleBinaryTree trees;
  trees.overlap = true;
  trees.chunk_bytes = chunk_bytes;
  return trees;
}

double last_end_s(const Group::Outcome& outcome) {
  double last = 0.0;
  for (const auto& member : outcome.members) last = std::max(last, member.end_s);
  return last;
}

Group::Outcome allreduce(const Group& group, double chunk_bytes, std::int64_t d) {
  const collectives::DoubleBinaryTree trees = at_once(chunk_bytes);
  return group.run([&](const Communicator& comm, Dispatcher& dispatcher) {
    return trees(comm, contributed(dispatcher, comm.rank(), d));
  });
}

}  // namespace

TEST_CASE("the members of a host are a chain, and the chains' ends a double binary tree") {
  const std::vector<Parents> trees = collectives::trees_of_hosts({{0, 1, 2}, {3, 4, 5}});
  // Among two hosts the first tree has the first one as its root, the second tree the second one.
  CHECK(trees[0] == Parents{-1, 0, 1, 0, 3, 4});
  CHECK(trees[1] == Parents{1, 2, 5, 4, 5, -1});
  const std::vector<Parents> alone = collectives::trees_of_hosts({{0, 1, 2}});
  CHECK(alone[0] == Parents{-1, 0, 1});
  CHECK(alone[1] == Parents{1, 2, -1});
}

// Each of two members is the root of one tree, and a leaf of the other: a NIC has two hops in each direction.
TEST_CASE("two members exchange halves up and down at once") {
  for (const int chunks : {1, 2, 50})
    for (const auto way : {cluster::Collectives::messages, cluster::Collectives::automatic}) {
      CAPTURE(chunks);
      const Group group{.P = 2, .charge_reductions = false, .numbers = false, .collectives = way};
      const double c = 8000.0;
      const std::int64_t d = 2 * 1000 * chunks;
      // A chunk goes up and down, at half of the bandwidth; the others follow it.
      const double expected = 2 * (alpha + 2 * c / B) + (chunks - 1) * 2 * c / B;
      CHECK(last_end_s(allreduce(group, c, d)) == Approx(expected).epsilon(1e-9));
    }
}

TEST_CASE("a chain of devices takes the way to its root and back, and the chunks that follow") {
  Group group{.P = 4, .charge_reductions = false, .numbers = false, .collectives = cluster::Collectives::automatic};
  auto hosts = std::make_unique<cluster::GpuHosts>();
  hosts->devices = 4;
  hosts->nvlink_bandwidth_bytes_per_s = device_B;
  hosts->nvlink_latency_s = device_alpha;
  group.topology = base::Slot<cluster::Topology>(cluster::topologies(), std::move(hosts));
  const double c = 8000.0;
  for (const int chunks : {1, 30}) {
    CAPTURE(chunks);
    // The links of the two inner devices have four hops in each direction, up and down in both trees.
    const double expected = 6 * (device_alpha + 4 * c / device_B) + (chunks - 1) * 4 * c / device_B;
    CHECK(last_end_s(allreduce(group, c, 2 * 1000 * chunks)) == Approx(expected).epsilon(1e-9));
  }
}

TEST_CASE("long vectors take 2 M beta, and few chunks the latency of lg P levels up and down") {
  const Group group{.P = 16, .charge_reductions = false, .numbers = false};
  const std::int64_t d = 4'000'000;
  CHECK(last_end_s(allreduce(group, 64e3, d)) == Approx(2 * 8.0 * d / B).epsilon(0.1));
  const double few = last_end_s(allreduce(group, 64e3, 10));
  CHECK(few > 2 * 4 * alpha);
  CHECK(few < 2 * 5 * alpha + 1e-6);
}

TEST_CASE("trees at once give all ranks one sum, to the last bit") {
  for (const int P : {1, 2, 5, 6})
    for (const int devices : {1, 3})
      for (const std::int64_t d : {0, 1, 1000}) {
        CAPTURE(P, devices, d);
        const Group group{.P = P, .arrivals = {0.0, 1e-4}, .devices = devices};
        const auto outcome = allreduce(group, 1000.0, d);
        for (const auto& member : outcome.members) {
          REQUIRE(member.result == outcome.members[0].result);
          for (std::size_t i = 0; i < member.result.size(); ++i) {
            double sum = 0.0;
            for (int r = 0; r < P; ++r) sum += contribution(r, d)[i];
            CHECK(member.result[i] == Approx(sum).epsilon(1e-14));
          }
          CHECK(member.compute_s + member.communicate_s + member.wait_s == Approx(last_end_s(outcome)).margin(1e-12));
        }
        CHECK(outcome.bytes == 2 * (P - 1) * 8 * d);
      }
}

TEST_CASE("a world that ends in the middle has sent the chunks that have started") {
  Group group{.P = 2, .charge_reductions = false, .numbers = false};
  const double c = 8000.0;
  group.end_s = alpha + 5 * c / B;
  const auto outcome = allreduce(group, c, 2 * 1000 * 3);
  for (const auto& member : outcome.members) CHECK(member.communicate_s == Approx(*group.end_s).epsilon(1e-9));
  // A chunk leaves in 2 c/B: the 3 of each half have gone up, and those that were there at alpha + 2 c/B and 4 c/B go
  // down.
  CHECK(outcome.messages == 2 * (3 + 2));
}

}  // namespace trees_at_once_test
