// Classes of hosts: who is of which, how fast it computes, and what links are called.
#include "cluster/fabric/host_class.h"

#include <simgrid/s4u.hpp>

#include "catch.h"
#include "cluster/fabric/cluster.h"
#include "cluster/fabric/link_class.h"
#include "cluster/ranks/communicator.h"
#include "cluster/ranks/ranks.h"
#include "cluster/ranks/world.h"
#include "simulation.h"

namespace host_class_test {

using namespace simgrad;
using namespace simgrad::cluster;

namespace {

HostClass host_class(const char* name, int count, double speed, HostRole role = HostRole::worker) {
  HostClass one;
  one.name = name;
  one.count = count;
  one.speed_flops_per_s = speed;
  one.role = role;
  return one;
}

/// Five workers, of which two are gpus and two are cpus, and two servers, of which one is a box.
Options mixed() {
  Options options;
  options.workers = 5;
  options.host_spec.speed_flops_per_s = 1e9;
  options.host_classes = {host_class("gpu", 2, 8e9), host_class("box", 1, 3e9, HostRole::server),
                          host_class("cpu", 2, 2e9)};
  return options;
}

}  // namespace

TEST_CASE("workers take the classes in order, servers those of servers, and the rest are plain hosts") {
  const std::string classes = tests::text_of_child([] {
    const Cluster cluster(mixed(), 7);
    std::string text;
    for (int host = 0; host < 7; ++host) text += cluster.host_class(host) + " ";
    return text;
  });
  CHECK(classes == "gpu gpu cpu cpu host box host ");
}

TEST_CASE("a host computes at the speed of its class") {
  const std::vector<double> ends = tests::numbers_of_child([] {
    Cluster cluster(mixed(), 7);
    World world(cluster, "w", 5, 2);
    std::vector<double> seconds(7);
    for (int rank = 0; rank < 7; ++rank)
      world.ranks().start(rank, [&, rank] {
        world.ranks().compute(rank, 24e9);
        seconds[static_cast<std::size_t>(rank)] = world.now();
      });
    cluster.run();
    return seconds;
  });
  const std::vector<double> expected{3, 3, 12, 12, 24, 8, 24};
  for (std::size_t rank = 0; rank < 7; ++rank) CHECK(ends[rank] == Approx(expected[rank]).epsilon(1e-12));
}

TEST_CASE("a star's links are of the class nic") {
  CHECK(tests::text_of_child([] {
          const Cluster cluster(mixed(), 2);
          std::vector<simgrid::s4u::Link*> route;
          cluster.host(0)->route_to(cluster.host(1), route, nullptr);
          std::string text;
          for (const auto* link : route) text += link->get_name() + " " + link_class(*link, false) + "\n";
          return text;
        }) == "nic-0_UP nic\nnic-1_DOWN nic\n");
}

}  // namespace host_class_test
