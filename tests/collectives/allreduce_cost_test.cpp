// The cost line of every allreduce, and the golden values.
#include <algorithm>
#include <bit>
#include <cmath>

#include "collectives/allreduce.h"
#include "collectives/bcube.h"
#include "collectives/double_binary_tree.h"
#include "collectives/group.h"

namespace allreduce_cost_test {

using namespace simgrad;
using namespace simgrad::tests;
using cluster::Communicator;
using values::Dispatcher;

namespace {

constexpr std::int64_t d = 720'720;  // every P up to 16 divides it
constexpr double M = 8.0 * d;

struct Taken {
  double end_s = 0.0;
  Group::Outcome outcome;
};

Taken taken(const Group& group, const collectives::Allreduce& algorithm, std::int64_t length) {
  Taken all;
  all.outcome = group.run(
      [&](const Communicator& comm, Dispatcher& dispatcher) { return algorithm(comm, dispatcher.zeros(length)); });
  for (const auto& member : all.outcome.members) all.end_s = std::max(all.end_s, member.end_s);
  return all;
}

double takes(std::string_view algorithm, int P, bool charged = true, std::int64_t length = d) {
  return taken({.P = P, .charge_reductions = charged, .numbers = false},
               *collectives::allreduces().find(algorithm)->make(), length)
      .end_s;
}

int floor_lg(int P) { return std::bit_width(static_cast<unsigned>(P)) - 1; }
int ceil_lg(int P) { return std::bit_width(static_cast<unsigned>(P - 1)); }

}  // namespace

TEST_CASE("an allreduce takes what its cost line says") {
  for (int P = 2; P <= 16; ++P)
    for (const bool charged : {true, false}) {
      CAPTURE(P, charged);
      const double g = charged ? gamma_s : 0.0;
      const double share = (P - 1.0) / P * M;
      CHECK(takes("ring", P, charged) == Approx(2 * (P - 1) * alpha + 2 * share / B + share * g).epsilon(1e-9));
      const int core = 1 << floor_lg(P);
      const double fold = core == P ? 0.0 : 2 * alpha + 2 * M / B + M * g;
      const double core_share = (core - 1.0) / core * M;
      CHECK(takes("recursive_doubling", P, charged) ==
            Approx(floor_lg(P) * (alpha + M / B + M * g) + fold).epsilon(1e-9));
      CHECK(takes("tree", P, charged) == Approx(ceil_lg(P) * (2 * alpha + 2 * M / B + M * g)).epsilon(1e-9));
      CHECK(takes("naive", P, charged) == Approx(2 * alpha + (P - 1) * (2 * M / B + M * g)).epsilon(1e-9));
      if (core == P || P % 2 == 0)
        CHECK(takes("rabenseifner", P, charged) ==
              Approx(2 * floor_lg(P) * alpha + 2 * core_share / B + core_share * g + fold).epsilon(1e-9));
    }
}

TEST_CASE("the golden values of 100 MB at 10 Gb/s and 50 us") {
  struct Golden {
    int P;
    double ring, doubling, rabenseifner, tree;
  };
  for (const Golden& golden :
       {Golden{4, 0.12030, 0.16010, 0.12020, 0.32020}, Golden{8, 0.14070, 0.24015, 0.14030, 0.48030},
        Golden{16, 0.15150, 0.32020, 0.15040, 0.64040}}) {
    CAPTURE(golden.P);
    const auto golden_time = [&](std::string_view algorithm) { return takes(algorithm, golden.P, false, 12'500'000); };
    CHECK(golden_time("ring") == Approx(golden.ring).epsilon(1e-9));
    CHECK(golden_time("recursive_doubling") == Approx(golden.doubling).epsilon(1e-9));
    CHECK(golden_time("rabenseifner") == Approx(golden.rabenseifner).epsilon(1e-9));
    CHECK(golden_time("tree") == Approx(golden.tree).epsilon(1e-9));
  }
}

TEST_CASE("bcube has a stage for each factor of P, and sends as few bytes as a ring") {
  struct Case {
    int P;
    std::int64_t base;
    int stages;
  };
  for (const Case& c : {Case{2, 2, 1},
                        {8, 2, 3},
                        {16, 2, 4},
                        {16, 4, 2},
                        {16, 16, 1},
                        {12, 4, 2},
                        {6, 3, 2},
                        {7, 4, 1},
                        {14, 4, 2},
                        {15, 3, 2}}) {
    CAPTURE(c.P, c.base);
    collectives::BCube bcube;
    bcube.base = c.base;
    const Taken all = taken({.P = c.P, .numbers = false}, bcube, d);
    const double share = (c.P - 1.0) / c.P * M;
    CHECK(all.end_s == Approx(2 * c.stages * alpha + 2 * share / B + share * gamma_s).epsilon(1e-9));
    for (const auto& member : all.outcome.members)
      CHECK(static_cast<double>(member.bytes_sent) == Approx(2 * share).epsilon(1e-12));
  }
}

TEST_CASE("a double binary tree takes its rounds, and for long vectors little more than 2 M beta") {
  constexpr std::int64_t long_d = 1 << 23;  // 64 MB: 128 chunks of 256 KiB a half
  for (int P = 2; P <= 16; ++P) {
    CAPTURE(P);
    const auto tree = [&](double chunk_bytes) {
      collectives::DoubleBinaryTree algorithm;
      algorithm.chunk_bytes = chunk_bytes;
      return taken({.P = P, .charge_reductions = false, .numbers = false}, algorithm, long_d).end_s;
    };
    // A round is as long as one chunk; there are as many as the trees are high, and four for each chunk of a half.
    const auto rounds = [&](int chunks) { return tree(4.0 * long_d / chunks) / (alpha + 4.0 * long_d / chunks / B); };
    const double steady = P == 2 ? 2 : 4;  // with two members, each sends one half up and one down
    const double height = rounds(32) - steady * 32;
    CHECK(height == Approx(std::round(height)).margin(1e-6));
    CHECK(height <= 4 * ceil_lg(P));
    CHECK(rounds(64) == Approx(height + steady * 64).epsilon(1e-9));
    CHECK(tree(256 * 1024) < 1.35 * steady / 2 * 8.0 * long_d / B);
    CHECK(tree(256 * 1024) > steady / 2 * 8.0 * long_d / B);
  }
}

TEST_CASE("hierarchical takes a ring's halves inside and a ring across") {
  const auto hierarchical = collectives::allreduces().find("hierarchical")->make();
  for (const int hosts : {1, 2, 3, 4})
    for (const int devices : {2, 3, 4}) {
      CAPTURE(hosts, devices);
      const int P = hosts * devices;
      const Taken all = taken({.P = P, .numbers = false, .devices = devices}, *hierarchical, d);
      const double inside = (devices - 1) * device_alpha + (devices - 1.0) / devices * M / device_B;
      const double across = 2 * (hosts - 1) * alpha + 2.0 * (hosts - 1) / hosts * M / B;
      const double additions = ((devices - 1.0) / devices + (hosts - 1.0) / hosts / devices) * M * gamma_s;
      CHECK(all.end_s == Approx(2 * inside + across + additions).epsilon(1e-9));
    }
}

TEST_CASE("rabenseifner halves inside the hosts first, and sends as little across as hierarchical") {
  for (const auto way : {cluster::Collectives::messages, cluster::Collectives::automatic})
    for (const int hosts : {2, 4})
      for (const int devices : {2, 4}) {
        CAPTURE(way, hosts, devices);
        const int P = hosts * devices;
        const Taken all = taken({.P = P, .numbers = false, .collectives = way, .devices = devices},
                                *collectives::allreduces().find("rabenseifner")->make(), d);
        const double inside = floor_lg(devices) * device_alpha + (devices - 1.0) / devices * M / device_B;
        const double across = floor_lg(hosts) * alpha + (hosts - 1.0) / hosts * M / B;  // of all devices of a host
        CHECK(all.end_s == Approx(2 * (inside + across) + (P - 1.0) / P * M * gamma_s).epsilon(1e-9));
      }
}

TEST_CASE("ranks beyond a power of two hand their vectors to the neighbour on their host") {
  // Three hosts of two: 0 goes to 1 and 2 to 3. Of the core 1, 3, 4, 5 first 1 and 3 exchange, and 4 and 5 in their
  // host. Then 1 and 4 exchange, and 3 and 5, through one card of the third host.
  const double fold = 2 * (device_alpha + M / device_B) + M * gamma_s;
  for (const auto way : {cluster::Collectives::messages, cluster::Collectives::automatic}) {
    CAPTURE(way);
    const auto run = [&](std::string_view algorithm) {
      return taken({.P = 6, .numbers = false, .collectives = way, .devices = 2},
                   *collectives::allreduces().find(algorithm)->make(), d);
    };
    const Taken doubling = run("recursive_doubling"), halving = run("rabenseifner");
    CHECK(doubling.end_s == Approx(fold + 2 * alpha + 3 * M / B + 2 * M * gamma_s).epsilon(1e-9));
    CHECK(halving.end_s == Approx(fold + 4 * alpha + 2 * (0.5 + 2 * 0.25) * M / B + 0.75 * M * gamma_s).epsilon(1e-9));
    const double sent_by_doubling[] = {1, 3, 1, 3, 2, 2}, sent_by_halving[] = {1, 2.5, 1, 2.5, 1.5, 1.5};  // vectors
    for (std::size_t r = 0; r < 6; ++r) {
      CHECK(static_cast<double>(doubling.outcome.members[r].bytes_sent) == sent_by_doubling[r] * M);
      CHECK(static_cast<double>(halving.outcome.members[r].bytes_sent) == sent_by_halving[r] * M);
    }
  }
}

TEST_CASE("on one host hierarchical is the ring") {
  const Group group{.P = 4, .numbers = false, .devices = 4};
  CHECK(taken(group, *collectives::allreduces().find("hierarchical")->make(), d).end_s ==
        Approx(taken(group, *collectives::allreduces().find("ring")->make(), d).end_s).epsilon(1e-9));
}

TEST_CASE("a flat ring over devices takes as long as its slowest hop, one NIC a host") {
  // Ring neighbours on two hosts share nothing: only one device of a host sends across, and one receives.
  const int hosts = 3;
  const int devices = 4;
  const int P = hosts * devices;
  const Taken all = taken({.P = P, .charge_reductions = false, .numbers = false, .devices = devices},
                          *collectives::allreduces().find("ring")->make(), d);
  CHECK(all.end_s == Approx(2 * (P - 1) * alpha + 2.0 * (P - 1) / P * M / B).epsilon(1e-9));
}

TEST_CASE("the ring's bytes a rank do not grow with P, and its latency does") {
  const auto ring = collectives::allreduces().find("ring")->make();
  double bytes = 0.0;
  for (const int P : {2, 4, 8, 16}) {
    const Taken all = taken({.P = P, .charge_reductions = false, .numbers = false}, *ring, d);
    const auto sent = static_cast<double>(all.outcome.members[0].bytes_sent);
    CHECK(sent == Approx(2.0 * (P - 1) / P * M).epsilon(1e-12));
    CHECK(sent < 2 * M);
    CHECK(sent > bytes);
    bytes = sent;
    CHECK(takes("ring", P, false, 0) == Approx(2 * (P - 1) * alpha).epsilon(1e-9));
  }
}

TEST_CASE("empty messages pay their latency, wherever latencies differ") {
  // A flow that ends with its latency leaves nothing behind that a later flow could meet.
  const auto ring = collectives::allreduces().find("ring")->make();
  for (const int P : {4, 10, 40}) {
    CAPTURE(P);
    const Taken all = taken({.P = P, .numbers = false, .devices = 2}, *ring, 0);
    CHECK(all.end_s == Approx(2 * (P - 1) * alpha).epsilon(1e-9));
    for (const auto& member : all.outcome.members) CHECK(member.end_s == Approx(2 * (P - 1) * alpha).epsilon(1e-9));
  }
}

}  // namespace allreduce_cost_test
