#include "collectives/flat.h"

#include <algorithm>

#include "cluster/ranks/ranks.h"
#include "cluster/ranks/world.h"
#include "collectives/group.h"

namespace flat_test {

using namespace simgrad;
using namespace simgrad::tests;
using cluster::Communicator;
using values::Dispatcher;
using values::Tensor;

namespace {

/// Rank `root` reduces what all others bring.
Group::Outcome reduce(const Group& group, int root, std::int64_t d) {
  return group.run([&](const Communicator& comm, Dispatcher& dispatcher) {
    if (comm.rank() == root) return collectives::FlatReduce(comm, root).sum();
    comm.send(root, contributed(dispatcher, comm.rank(), d));
    return Tensor();
  });
}

Group::Outcome broadcast(const Group& group, int root, std::int64_t d) {
  return group.run([&](const Communicator& comm, Dispatcher& dispatcher) {
    const bool sends = comm.rank() == root;
    return collectives::flat_broadcast(comm, root, sends ? contributed(dispatcher, root, d) : Tensor()).tensor;
  });
}

}  // namespace

TEST_CASE("flat broadcast gives everybody the root's vector after alpha + n M beta") {
  for (int P = 1; P <= 16; ++P)
    for (const std::int64_t d : lengths(P)) {
      const int root = P / 2;
      CAPTURE(P, d);
      const Group::Outcome outcome = broadcast({.P = P}, root, d);
      const int n = P - 1;
      const double expected = n == 0 ? 0.0 : alpha + n * 8.0 * static_cast<double>(d) / B;
      for (const Group::Member& member : outcome.members) {
        CHECK(member.result == contribution(root, d));
        CHECK(member.end_s == Approx(expected).epsilon(1e-9));
      }
      CHECK(outcome.messages == n);
      CHECK(outcome.bytes == n * 8 * d);
    }
}

TEST_CASE("flat reduce adds in the order of ranks, after alpha + n M beta + n M gamma") {
  for (const bool charged : {true, false})
    for (int P = 2; P <= 16; ++P)
      for (const std::int64_t d : lengths(P)) {
        const int root = P / 2;
        CAPTURE(charged, P, d);
        const Group::Outcome outcome = reduce({.P = P, .charge_reductions = charged}, root, d);
        std::vector<double> sum(static_cast<std::size_t>(d));
        for (int r = 0; r < P; ++r)
          if (r != root)
            for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += contribution(r, d)[i];
        const Group::Member& at_root = outcome.members[static_cast<std::size_t>(root)];
        CHECK(at_root.result == sum);
        const double n = P - 1;
        const double M = 8.0 * static_cast<double>(d);
        const double expected = alpha + n * M / B + (charged ? n * M * gamma_s : 0.0);
        CHECK(at_root.end_s == Approx(expected).epsilon(1e-9));
        CHECK(outcome.messages == P - 1);
        CHECK(at_root.bytes_received == (P - 1) * 8 * d);
      }
}

TEST_CASE("flat reduce of unequal arrivals ends at alpha + max_j (t_j + (n-j) M beta), then adds") {
  const std::vector<std::vector<double>> cases{{0.0, 0.1, 0.5, 0.55},
                                               {0.55, 0.1, 0.0, 0.5},
                                               {0.0, 0.0, 0.0, 0.0},
                                               {0.0, 0.01, 0.02, 0.03, 0.04, 0.05, 0.06},
                                               {3.0, 0.0}};
  const std::int64_t d = 12'500'000;
  const double M = 8.0 * static_cast<double>(d);  // 100 MB
  for (const std::vector<double>& arrivals : cases) {
    const auto n = arrivals.size();
    const int root = static_cast<int>(n);
    const Group group{.P = root + 1, .charge_reductions = false, .arrivals = arrivals, .numbers = false};
    const auto gather = [&](const Communicator& comm, Dispatcher& dispatcher) {
      if (comm.rank() == root) return collectives::FlatReduce(comm, root).sum();
      comm.send(root, dispatcher.zeros(d));
      return Tensor();
    };
    std::vector<double> t = arrivals;
    std::sort(t.begin(), t.end());
    double end_s = 0.0;
    for (std::size_t j = 0; j < n; ++j) end_s = std::max(end_s, alpha + t[j] + static_cast<double>(n - j) * M / B);
    CHECK(group.run(gather).members[n].end_s == Approx(end_s).epsilon(1e-9));

    Group adding = group;
    adding.charge_reductions = true;
    CHECK(adding.run(gather).members[n].end_s == Approx(end_s + static_cast<double>(n) * M * gamma_s).epsilon(1e-9));
  }
}

TEST_CASE("the first of those gathers ends at the golden 0.66005 s") {
  const Group group{.P = 5, .charge_reductions = false, .arrivals = {0.0, 0.1, 0.5, 0.55}, .numbers = false};
  const Group::Outcome outcome = group.run([](const Communicator& comm, Dispatcher& dispatcher) {
    if (comm.rank() == 4) return collectives::FlatReduce(comm, 4).sum();
    comm.send(4, dispatcher.zeros(12'500'000));
    return Tensor();
  });
  CHECK(outcome.members[4].end_s == Approx(0.66005).epsilon(1e-9));
}

TEST_CASE("a flat reduce receives while its root is busy") {
  const std::int64_t d = 1'250'000;
  const Group group{.P = 3, .charge_reductions = false, .numbers = false};
  const Group::Outcome outcome = group.run([&](const Communicator& comm, Dispatcher& dispatcher) {
    if (comm.rank() > 0) {
      comm.send(0, dispatcher.zeros(d));
      return Tensor();
    }
    collectives::FlatReduce reduce(comm, 0);
    comm.world().ranks().compute(0, speed);  // 1 s; the gather takes 0.016 s
    return reduce.sum();
  });
  CHECK(outcome.members[0].end_s == Approx(1.0).epsilon(1e-12));
  CHECK(outcome.members[1].end_s == Approx(alpha + 2 * 8.0 * static_cast<double>(d) / B).epsilon(1e-9));
}

}  // namespace flat_test
