// The log of collectives: predicted time, time, and the distance between the members' arrivals.
#include "cluster/computed/collective_log.h"

#include "cluster/fabric/cluster.h"
#include "cluster/ranks/ranks.h"
#include "cluster/ranks/world.h"
#include "collectives/allreduce.h"
#include "collectives/group.h"
#include "record/record.h"

namespace collective_log_test {

using namespace simgrad;
using namespace simgrad::tests;
using cluster::CollectiveLog;

namespace {

struct Use {
  double predicted_s, simulated_s, skew_s, duration_s, exposed_s;
  std::int64_t calls, bytes, members;
};

/// Two calls of an allreduce of d numbers.
Use use_of(const std::string& algorithm, int P, std::int64_t d, std::vector<double> arrivals,
           cluster::Collectives how) {
  const std::vector<double> flat = numbers_of_child([&] {
    cluster::Options options;
    options.host_spec = {.speed_flops_per_s = speed, .bandwidth_bytes_per_s = B, .latency_s = alpha};
    options.workers = P;
    options.collectives = how;
    cluster::Cluster cluster(options, P);
    cluster::World world(cluster, "group", P, 0);
    values::Dispatcher timing({.numbers = false, .label = {}});
    std::vector<int> all(static_cast<std::size_t>(P));
    std::iota(all.begin(), all.end(), 0);
    const auto members = std::make_shared<const std::vector<int>>(all);
    const auto allreduce = collectives::allreduces().find(algorithm)->make();
    for (int r = 0; r < P; ++r)
      world.ranks().start(r, [&, r] {
        const cluster::Communicator comm(world, members, r, 0);
        for (int call = 0; call < 2; ++call) {
          if (!arrivals.empty()) cluster::pause(arrivals[static_cast<std::size_t>(r)]);
          (*allreduce)(comm, timing.zeros(d));
        }
      });
    cluster.run();
    world.end();
    record::Record record;
    world.fill(record);
    std::vector<double> numbers;
    for (const record::CollectiveUse& use : record.collectives)
      numbers.insert(numbers.end(), {use.predicted_s, use.simulated_s, use.skew_s, *use.duration_s, *use.exposed_s,
                                     static_cast<double>(use.calls), static_cast<double>(use.bytes),
                                     static_cast<double>(use.members)});
    return numbers;
  });
  REQUIRE(flat.size() == 8);
  const auto whole = [&](std::size_t at) { return static_cast<std::int64_t>(flat[at]); };
  return {flat[0], flat[1], flat[2], flat[3], flat[4], whole(5), whole(6), whole(7)};
}

/// A call whose members come at 1, the last one at 2, and end at 4; each is awaited from 3 on.
cluster::CollectiveCall call_of(std::size_t members) {
  cluster::CollectiveCall call;
  for (std::size_t m = 0; m < members; ++m) {
    const double arrival_s = m + 1 < members ? 1.0 : 2.0;
    call.arrive(arrival_s);
    call.end(arrival_s, 4.0, 3.0);
  }
  return call;
}

}  // namespace

TEST_CASE("a collective whose members come together takes what is predicted, which is the closed form") {
  for (const auto how : {cluster::Collectives::automatic, cluster::Collectives::messages})
    for (const int P : {2, 4, 8}) {
      const std::int64_t d = 80000;
      const double M = 8.0 * static_cast<double>(d), share = (P - 1.0) / P;
      CAPTURE(P);
      const Use ring = use_of("ring", P, d, {}, how);
      CHECK(ring.predicted_s == Approx(2 * (P - 1) * alpha + 2 * share * M / B + share * M * gamma_s).epsilon(1e-9));
      CHECK(ring.simulated_s == Approx(ring.predicted_s).epsilon(1e-9));
      CHECK(ring.skew_s == Approx(0.0).margin(1e-12));
      CHECK(ring.calls == 2);
      CHECK(ring.bytes == 8 * d);
      CHECK(ring.members == P);
      const Use naive = use_of("naive", P, d, {}, how);
      CHECK(naive.predicted_s == Approx(2 * alpha + 2 * (P - 1) * M / B + (P - 1) * M * gamma_s).epsilon(1e-9));
      CHECK(naive.simulated_s == Approx(naive.predicted_s).epsilon(1e-9));
    }
}

TEST_CASE("how far apart the members of a collective come is its skew, and no part of what it takes") {
  for (const auto how : {cluster::Collectives::automatic, cluster::Collectives::messages}) {
    const Use use = use_of("recursive_doubling", 4, 1000, {0.0, 0.1, 0.5, 0.6}, how);
    CHECK(use.skew_s == Approx(0.6 - 0.3).epsilon(1e-9));  // each round anew: all leave the first one together
    CHECK(use.simulated_s == Approx(use.predicted_s).epsilon(1e-9));
    CHECK(use.duration_s == Approx(use.skew_s + use.predicted_s).epsilon(1e-9));  // all end together
    CHECK(use.exposed_s == Approx(use.duration_s).epsilon(1e-9));                 // the ranks' own calls
  }
}

TEST_CASE("calls of one collective may overlap: a member's n-th belongs to the others' n-th") {
  const auto members = std::make_shared<const std::vector<int>>(std::vector{0, 1});
  CollectiveLog log;
  cluster::CollectiveCalls& calls = log.calls(members, 0, "chain", 8, [] { return 0.25; });
  calls.arrive(0, 1.0);
  calls.leave(0, 2.0);  // it only sends
  calls.arrive(0, 3.0);
  calls.arrive(1, 2.0);
  calls.leave(1, 4.0);
  CHECK(log.uses().front().calls == 1);
  CHECK(log.uses().front().skew_s == Approx(0.5));
  CHECK(log.uses().front().simulated_s == Approx(2.0));
  CHECK(*log.uses().front().duration_s == Approx((1.0 + 2.0) / 2));
  calls.arrive(1, 5.0);  // and never leaves: does not count
  calls.leave(0, 6.0);
  CHECK(log.uses().front().calls == 1);
  CHECK(log.uses().front().predicted_s == 0.25);
}

TEST_CASE("the same collective in groups of equal size is one line, of another size another") {
  CollectiveLog log;
  for (const std::vector<int>& group : {std::vector{0, 1}, std::vector{2, 3}, std::vector{4, 5, 6}})
    log.calls(std::make_shared<const std::vector<int>>(group), 0, "ring", 8,
              [&] { return static_cast<double>(group.size()); })
        .add(call_of(group.size()));
  const auto uses = log.uses();
  REQUIRE(uses.size() == 2);
  CHECK(uses[0].calls == 2);
  CHECK(uses[0].predicted_s == 2.0);
  CHECK(uses[1].members == 3);
  CHECK(*uses[0].duration_s == Approx((3.0 + 2.0) / 2));
  CHECK(*uses[1].duration_s == Approx((3.0 + 3.0 + 2.0) / 3));
  CHECK(*uses[1].exposed_s == Approx(1.0));
}

}  // namespace collective_log_test
