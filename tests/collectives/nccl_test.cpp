// NCCL's choice between ring and tree, and the time of what was chosen.
#include "collectives/nccl.h"

#include <tuple>

#include "collectives/double_binary_tree.h"
#include "collectives/group.h"
#include "collectives/ring.h"

namespace nccl_test {

using namespace simgrad;
using namespace simgrad::tests;
using cluster::Communicator;
using collectives::NcclFabric;
using collectives::NcclProtocol;
using values::Dispatcher;

namespace {

double end_s(const Group& group, const collectives::Allreduce& algorithm, std::int64_t d) {
  const auto outcome =
      group.run([&](const Communicator& comm, Dispatcher& dispatcher) { return algorithm(comm, dispatcher.zeros(d)); });
  double last = 0.0;
  for (const auto& member : outcome.members) last = std::max(last, member.end_s);
  return last;
}

/// A star that counts how often it is asked whether two devices are of one host.
struct CountingStar : cluster::Star {
  inline static std::int64_t asked = 0;

  bool inside_host(int from, int to, int workers) const override {
    ++asked;
    return Star::inside_host(from, to, workers);
  }
};

}  // namespace

TEST_CASE("the times that NCCL expects are those of its model, by hand") {
  const NcclFabric one_host{.ranks = 8, .hosts = 1, .inside_bytes_per_s = 200e9, .channels = 10};
  // Ring, Simple: 8.4 us, 14 hops of 3.4 us, 14/8 of the bytes at 200 GB/s.
  CHECK(collectives::nccl_seconds(one_host, false, NcclProtocol::simple, 8e6) ==
        Approx(8.4e-6 + 14 * 3.4e-6 + 1.75 * 8e6 / 200e9).epsilon(1e-12));
  // Ring, LL: a quarter of the bandwidth.
  CHECK(collectives::nccl_seconds(one_host, false, NcclProtocol::ll, 1e3) ==
        Approx(6.6e-6 + 14 * 0.6e-6 + 1.75 * 1e3 / 50e9).epsilon(1e-12));
  // Tree, LL, on 4 hosts of 8 behind 12.5 GB/s: 7 hops in the host, lg 4 between hosts, up and down; 2^9 numbers of 64
  // bytes get 0.7 of the bandwidth.
  const NcclFabric four_hosts{.ranks = 32, .hosts = 4, .nics_bytes_per_s = 12.5e9, .channels = 2};
  CHECK(collectives::nccl_seconds(four_hosts, true, NcclProtocol::ll, 32768) ==
        Approx(6.8e-6 + 2 * (7 * 0.6e-6 + 2 * 5e-6) + 32768 / (0.7 * 0.5 * 0.92 * 12.5e9 / 3.8)).epsilon(1e-12));
  // Ring, Simple, between hosts: 8 of 62 hops cross, the others take 3.4 us; long chunks make latencies 1.4 times as
  // long.
  CHECK(collectives::nccl_seconds(four_hosts, false, NcclProtocol::simple, 1e9) ==
        Approx(1.4 * (8.4e-6 + 54 * 3.4e-6 + 8 * 14e-6) + 62.0 / 32 * 1e9 / 12.5e9).epsilon(1e-12));
  const NcclFabric pcie{.ranks = 8, .inside_bytes_per_s = 12e9, .inside = collectives::NcclInside::pcie};
  CHECK(std::isinf(collectives::nccl_seconds(pcie, false, NcclProtocol::ll128, 1e6)));
}

TEST_CASE("on two hosts NCCL counts twice the NICs for trees, but no more than the links inside, and once for rings") {
  // Tree, Simple, of 2^22 numbers of 64 bytes: 0.9 of the bandwidth, of which a tree has 0.92. Half is a vector's.
  // Ampere's trees on two hosts carry 23.6 GB/s a channel, which does not bind here; each host is a chain of 8.
  constexpr double bytes = 64.0 * (1 << 22), latency_s = 2 * (7 * 28e-6 + 28e-6);
  const auto tree_s = [](double inside, double nics) {
    const NcclFabric fabric{
        .ranks = 16, .hosts = 2, .inside_bytes_per_s = inside, .nics_bytes_per_s = nics, .channels = 16};
    return collectives::nccl_seconds(fabric, true, NcclProtocol::simple, bytes);
  };
  CHECK(tree_s(240e9, 25e9) == Approx(latency_s + bytes / (0.9 * 0.5 * 0.92 * 50e9)).epsilon(1e-12));
  CHECK(tree_s(40e9, 25e9) == Approx(latency_s + bytes / (0.9 * 0.5 * 0.92 * 40e9)).epsilon(1e-12));
  const NcclFabric rings{
      .ranks = 16, .hosts = 2, .inside_bytes_per_s = 240e9, .nics_bytes_per_s = 25e9, .channels = 16};
  // Ring, Simple: 4 of 30 hops cross; long chunks make latencies 1.4 times as long.
  CHECK(collectives::nccl_seconds(rings, false, NcclProtocol::simple, bytes) ==
        Approx(1.4 * (8.4e-6 + 26 * 3.4e-6 + 4 * 14e-6) + 30.0 / 16 * bytes / 25e9).epsilon(1e-12));
}

TEST_CASE("a tree that enters and leaves a host at one device keeps 0.85 of its bandwidth") {
  // Tree, LL, of 512 bytes: the whole of 0.92/3.8 of the NICs' bandwidth; half of it is a vector's.
  const auto rate = [](int devices, collectives::NcclGeneration generation) {
    const NcclFabric fabric{
        .ranks = 4 * devices, .hosts = 4, .nics_bytes_per_s = 25e9, .channels = 16, .generation = generation};
    const double latency_s = 6.8e-6 + 2 * ((devices - 1) * 0.6e-6 + 2 * 5e-6);
    return 512 / (collectives::nccl_seconds(fabric, true, NcclProtocol::ll, 512) - latency_s);
  };
  constexpr double whole = 0.5 * 0.92 / 3.8 * 25e9;
  CHECK(rate(8, collectives::NcclGeneration::ampere) == Approx(whole).epsilon(1e-9));
  CHECK(rate(8, collectives::NcclGeneration::hopper) == Approx(0.85 * whole).epsilon(1e-9));
  CHECK(rate(1, collectives::NcclGeneration::volta) == Approx(0.85 * whole).epsilon(1e-9));
}

TEST_CASE("on two hosts LL, and the channels of trees, carry what NCCL's tables say for two hosts") {
  // graph/tuning.cc of NCCL 2.20.3: GB/s of LL with a processor of Intel, and of a tree's channel on Ampere.
  for (const auto& [hosts, of_ll, of_tree] : {std::tuple{2, 39.0e9, 23.6e9}, {4, 20.4e9, 17.8e9}}) {
    CAPTURE(hosts);
    const NcclFabric fast{
        .ranks = 8 * hosts, .hosts = hosts, .inside_bytes_per_s = 400e9, .nics_bytes_per_s = 400e9, .channels = 2};
    const auto another_gb_s = [&](bool tree, NcclProtocol protocol) {
      return collectives::nccl_seconds(fast, tree, protocol, 2e9) -
             collectives::nccl_seconds(fast, tree, protocol, 1e9);
    };
    const double P = fast.ranks;
    CHECK(another_gb_s(false, NcclProtocol::ll) == Approx(2 * (P - 1) / P * 1e9 / of_ll).epsilon(1e-9));
    CHECK(another_gb_s(true, NcclProtocol::simple) == Approx(2 * 1e9 / (2 * of_tree)).epsilon(1e-9));
  }
}

TEST_CASE("NCCL takes trees for short vectors among many hosts, and rings for long ones") {
  const NcclFabric fabric{.ranks = 256, .hosts = 32, .nics_bytes_per_s = 25e9, .channels = 2};
  CHECK(collectives::nccl_choice(fabric, 1e3).name() == "nccl tree LL");
  CHECK(collectives::nccl_choice(fabric, 4e9).name() == "nccl ring Simple");
  const NcclFabric two{.ranks = 2, .hosts = 1, .inside_bytes_per_s = 200e9, .channels = 10};
  CHECK(collectives::nccl_choice(two, 1e9).name() == "nccl ring Simple");
}

TEST_CASE("the chosen algorithm takes its own time on the cluster's links, after that of the call") {
  for (const auto way : {cluster::Collectives::messages, cluster::Collectives::automatic})
    for (const std::int64_t d : {10, 4'000'000}) {
      CAPTURE(d);
      const Group group{.P = 8, .numbers = false, .collectives = way, .devices = 4};
      const collectives::Nccl nccl;
      const NcclFabric fabric{
          .ranks = 8, .hosts = 2, .inside_bytes_per_s = device_B, .nics_bytes_per_s = B, .channels = 2};
      const auto choice = collectives::nccl_choice(fabric, 8.0 * static_cast<double>(d));
      collectives::Ring ring;
      ring.slices = 2;
      collectives::DoubleBinaryTree tree;
      tree.overlap = true;
      const double alone = choice.tree ? end_s(group, tree, d) : end_s(group, ring, d);
      CHECK(end_s(group, nccl, d) == Approx(choice.call_s + alone).epsilon(1e-9));
    }
}

TEST_CASE("the hosts of a group are looked for once for all of its members and calls") {
  const int P = 16, devices = 4, hosts = P / devices;
  auto star = std::make_unique<CountingStar>();
  star->devices_per_host = devices;
  const Group group{.P = P, .topology = base::Slot<cluster::Topology>(cluster::topologies(), std::move(star))};
  const auto outcome = group.run([&](const Communicator& comm, Dispatcher& dispatcher) {
    const std::int64_t before = CountingStar::asked;
    int found = 0;
    for (int call = 0; call < 3; ++call) found = collectives::Nccl().fabric(comm).hosts;
    return dispatcher.constant({static_cast<double>(CountingStar::asked - before), static_cast<double>(found)});
  });
  // The first member's first call asks about every device but the first one of each host.
  CHECK(outcome.members[0].result == std::vector<double>{P - hosts, hosts});
  for (std::size_t member = 1; member < P; ++member)
    CHECK(outcome.members[member].result == std::vector<double>{0, hosts});
}

}  // namespace nccl_test
