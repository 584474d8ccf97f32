#include "collectives/broadcast.h"

#include <algorithm>
#include <bit>

#include "collectives/chain.h"
#include "collectives/group.h"

namespace broadcast_test {

using namespace simgrad;
using namespace simgrad::tests;
using cluster::Communicator;
using cluster::Packet;
using values::Dispatcher;

namespace {

Group::Outcome broadcast(const Group& group, const collectives::Broadcast& algorithm, int root, std::int64_t d) {
  return group.run([&](const Communicator& comm, Dispatcher& dispatcher) {
    Packet mine;
    if (comm.rank() == root) mine = Packet(contributed(dispatcher, root, d), 17);
    const Packet got = algorithm(comm, root, mine, d);
    CHECK(got.note<int>() == 17);
    return got.tensor;
  });
}

double end_of(const Group::Outcome& outcome) {
  double last = 0.0;
  for (const auto& member : outcome.members) last = std::max(last, member.end_s);
  return last;
}

int ceil_lg(int P) { return std::bit_width(static_cast<unsigned>(P - 1)); }

}  // namespace

TEST_CASE("every broadcast gives everybody the root's vector and note, whoever is the root") {
  for (const auto& entry : collectives::broadcasts().entries())
    for (int P = 1; P <= 16; ++P)
      for (const std::int64_t d : lengths(P)) {
        CAPTURE(entry.about.kind, P, d);
        const int root = P / 3;
        for (const auto& member : broadcast({.P = P}, *entry.make(), root, d).members)
          REQUIRE(member.result == contribution(root, d));
      }
}

TEST_CASE("a broadcast takes what its cost line says") {
  constexpr std::int64_t d = 720'720;  // every P up to 16 divides it
  const double M = 8.0 * d;
  const auto takes = [&](std::string_view kind, int P) {
    const auto algorithm = collectives::broadcasts().find(kind)->make();
    return end_of(broadcast({.P = P, .numbers = false}, *algorithm, 0, d));
  };
  for (int P = 2; P <= 16; ++P) {
    CAPTURE(P);
    CHECK(takes("flat", P) == Approx(alpha + (P - 1) * M / B).epsilon(1e-9));
    CHECK(takes("binomial", P) == Approx(ceil_lg(P) * (alpha + M / B)).epsilon(1e-9));
    CHECK(takes("chain", P) == Approx((P - 2 + 16) * (alpha + M / 16 / B)).epsilon(1e-9));
    if (std::has_single_bit(static_cast<unsigned>(P)))
      CHECK(takes("van_de_geijn", P) == Approx((ceil_lg(P) + P - 1) * alpha + 2.0 * (P - 1) / P * M / B).epsilon(1e-9));
  }
}

TEST_CASE("a chain has no more chunks than numbers") {
  collectives::ChainBroadcast chain;
  chain.chunks = 100;
  CHECK(end_of(broadcast({.P = 5, .numbers = false}, chain, 2, 10)) ==
        Approx((3 + 10) * (alpha + 8.0 / B)).epsilon(1e-9));
}

TEST_CASE("a chain of one chunk passes the whole vector on, of many it fills its links") {
  constexpr std::int64_t d = 1'000'000;
  collectives::ChainBroadcast chain;
  for (const std::int64_t chunks : {1, 10, 100}) {
    chain.chunks = chunks;
    const double c = static_cast<double>(chunks);
    CHECK(end_of(broadcast({.P = 5, .numbers = false}, chain, 2, d)) ==
          Approx((3 + c) * (alpha + 8.0 * d / c / B)).epsilon(1e-9));
  }
}

TEST_CASE("a chain's reduction gives the root the sum, whoever is the root, in the time of its cost line") {
  for (int P = 1; P <= 9; ++P)
    for (const std::int64_t d : lengths(P)) {
      CAPTURE(P, d);
      const int root = P / 3;
      const auto members =
          Group{.P = P}
              .run([&](const Communicator& comm, Dispatcher& dispatcher) {
                return collectives::chain_reduce(comm, root, contributed(dispatcher, comm.rank(), d), 4);
              })
              .members;
      for (int r = 0; r < P; ++r) {
        const std::vector<double>& result = members[static_cast<std::size_t>(r)].result;
        REQUIRE(result.size() == static_cast<std::size_t>(r == root ? d : 0));
        for (std::size_t j = 0; j < result.size(); ++j) {
          double sum = 0.0;
          for (int each = 0; each < P; ++each) sum += contribution(each, d)[j];
          REQUIRE(result[j] == Approx(sum).epsilon(1e-12));
        }
      }
    }
  constexpr std::int64_t d = 720'720;
  for (const int P : {2, 5, 8}) {
    CAPTURE(P);
    const double flops_s = static_cast<double>(d) / 16 / speed;
    const Group group{.P = P, .numbers = false};
    CHECK(end_of(group.run([&](const Communicator& comm, Dispatcher& dispatcher) {
            return collectives::chain_reduce(comm, 0, dispatcher.zeros(d), 16);
          })) == Approx((P - 2 + 16) * (alpha + 8.0 * d / 16 / B + flops_s)).epsilon(1e-9));
  }
}

}  // namespace broadcast_test
