// Every strategy on every topology: it trains, and what it learns does not depend on the cabling.
#include "cluster/topologies/wan.h"
#include "strategies/programs.h"

namespace topologies_test {

using namespace simgrad;
using namespace simgrad::tests;

namespace {

base::Slot<cluster::Topology> topology(std::string_view kind) {
  if (kind != "wan") return base::Slot<cluster::Topology>(cluster::topologies(), kind);
  auto wan = std::make_unique<cluster::Wan>();
  for (const char* name : {"eu", "us"}) {
    cluster::Site& site = wan->sites.emplace_back();
    site.name = name;
    site.hosts = name == std::string("eu") ? 2 : 20;
  }
  return base::Slot<cluster::Topology>(cluster::topologies(), std::move(wan));
}

}  // namespace

TEST_CASE("every strategy takes steps on every topology, servers on the hosts behind the workers") {
  std::vector<Named> strategies = parallel_strategies();
  strategies.push_back({"hogwild", hogwild()});
  strategies.push_back({"single", single()});
  for (const base::About& kind : base::Slot<cluster::Topology>(cluster::topologies(), "star").kinds())
    for (const Named& strategy : strategies) {
      CAPTURE(kind.kind, strategy.name);
      Trial trial{.program = strategy.program, .workers = strategy.name == "single" ? 1 : 4, .rows = 24, .features = 8};
      trial.cluster.topology = topology(kind.kind);
      trial.stop.steps = 2;
      const record::Record record = trial.run().record;
      CHECK(record.error.empty());
      CHECK(record.status == record::Status::stopped);
      for (const record::LinkUse& link : record.links) CHECK(link.link.starts_with(link.link_class + "-"));
    }
}

TEST_CASE(
    "ring allreduce on a ring of hosts is that of a star, and where one memory carries all its messages share it") {
  Trial trial{.program = ring_allreduce(), .workers = 4, .rows = 24, .features = 8000};
  trial.stop.steps = 2;
  const double star_s = trial.run().record.simulated_s;
  trial.cluster.topology = topology("ring");
  CHECK(trial.run().record.simulated_s == Approx(star_s).epsilon(1e-9));  // every message goes to a neighbour
  trial.cluster.topology = topology("shared_memory");
  const double chunk_s = trial.message_bytes() / 4 / B;
  CHECK(trial.run().record.simulated_s == Approx(star_s + 2 * 6 * (4 - 1) * chunk_s).epsilon(1e-9));
}

}  // namespace topologies_test
