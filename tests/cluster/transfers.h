// Transfers of so many bytes between hosts of a cluster, all started at once, and when each ends.
#pragma once

#include <numeric>
#include <simgrid/s4u.hpp>
#include <string>
#include <vector>

#include "cluster/fabric/cluster.h"
#include "cluster/ranks/communicator.h"
#include "cluster/ranks/ranks.h"
#include "cluster/ranks/world.h"
#include "cluster/topologies/wired.h"
#include "simulation.h"
#include "values/dispatcher.h"

namespace simgrad::tests {

struct Transfer {
  int from = 0;
  int to = 0;
  std::int64_t numbers = 0;  ///< doubles
};

inline std::vector<double> transfer_ends(const cluster::Options& options, int hosts,
                                         const std::vector<Transfer>& transfers, bool many_to_many = false) {
  return numbers_of_child([&] {
    cluster::Cluster cluster(options, hosts, many_to_many);
    cluster::World world(cluster, "transfers", hosts, 0);
    values::Dispatcher timing({.numbers = false, .label = {}});
    std::vector<int> all(static_cast<std::size_t>(hosts));
    std::iota(all.begin(), all.end(), 0);
    const auto members = std::make_shared<const std::vector<int>>(all);
    std::vector<double> ends(transfers.size());
    for (std::size_t i = 0; i < transfers.size(); ++i) {
      const Transfer& each = transfers[i];
      world.ranks().start(each.from, [&, each] {
        cluster::Communicator(world, members, each.from, 0).send(each.to, timing.zeros(each.numbers));
      });
      world.ranks().start(each.to, [&, each, i] {
        cluster::Communicator(world, members, each.to, 0).receive(each.from);
        ends[i] = world.now();
      });
    }
    cluster.run();
    return ends;
  });
}

/// The links from a host to another, "nic-0_UP nic-1_DOWN ".
inline std::string route(const cluster::Options& options, int hosts, int from, int to) {
  return text_of_child([&] {
    const cluster::Cluster cluster(options, hosts);
    std::vector<simgrid::s4u::Link*> links;
    double latency_s = 0.0;
    cluster.host(from)->route_to(cluster.host(to), links, &latency_s);
    std::string text;
    for (const auto* link : links) text += link->get_name() + " ";
    return text;
  });
}

}  // namespace simgrad::tests
