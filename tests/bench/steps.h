// Steps of a collective: by our ranks, and by a bare S4U program that sends the same messages.
#pragma once

#include <fmt/format.h>
#include <sys/resource.h>

#include <ctime>
#include <functional>
#include <map>
#include <memory>
#include <numeric>
#include <simgrid/s4u.hpp>
#include <vector>

#include "cluster/fabric/cluster.h"
#include "cluster/fabric/simgrid_versions.h"
#include "cluster/ranks/communicator.h"
#include "cluster/ranks/ranks.h"
#include "cluster/ranks/world.h"
#include "collectives/timed_schedule.h"
#include "record/record.h"
#include "simulation.h"
#include "values/dispatcher.h"

namespace simgrad::bench {

inline constexpr std::int64_t length = 125'000;  // 1 MB

inline double processor_s() { return static_cast<double>(std::clock()) / CLOCKS_PER_SEC; }

inline double peak_mib() {
  rusage usage = {};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<double>(usage.ru_maxrss) / 1024.0;
}

struct Measured {
  double step_s = 0.0;
  double messages = 0.0;  ///< a step
  double peak_mib = 0.0;
};

using StepBody = std::function<void(const cluster::Communicator&, const values::Tensor& x)>;

using Topology = base::Slot<cluster::Topology>;

template <class Kind>
Topology network() {
  return Topology(cluster::topologies(), std::make_unique<Kind>());
}

/// `steps` times that by P ranks that come at different times, each with 1 MB, without numbers.
/// own_network: messages are flows on the cluster's own network, as those of many-to-many strategies are.
inline Measured ours(const StepBody& body, int P, int steps, cluster::Collectives way, const Topology& topology,
                     bool own_network = false) {
  const auto measured = tests::numbers_of_child([&] {
    cluster::Options options;
    options.workers = P;
    options.collectives = way;
    options.topology = topology;
    cluster::Cluster cluster(options, P, own_network);
    cluster::World world(cluster, "w", P, 0);
    values::Dispatcher timing({.numbers = false, .label = {}});
    std::vector<int> all(static_cast<std::size_t>(P));
    std::iota(all.begin(), all.end(), 0);
    const auto members = std::make_shared<const std::vector<int>>(all);
    for (int r = 0; r < P; ++r)
      world.ranks().start(r, [&, r] {
        const cluster::Communicator comm(world, members, r, 0);
        const values::Tensor x = timing.zeros(length);
        for (int s = 0; s < steps; ++s) {
          world.ranks().compute(r, 1e4 * (r % 37));
          body(comm, x);
        }
      });
    const double start = processor_s();
    cluster.run();
    const double took = processor_s() - start;
    world.end();
    record::Record record;
    world.fill(record);
    return std::vector{took / steps, static_cast<double>(record.messages) / steps, peak_mib()};
  });
  return {measured[0], measured[1], measured[2]};
}

/// The schedule's messages and additions by plain SimGrid: a rank on each of these hosts.
inline double bare(const collectives::JointSchedule& schedule,
                   const std::function<std::vector<simgrid::s4u::Host*>()>& hosts_of_engine, int steps) {
  namespace sg4 = simgrid::s4u;
  return tests::numbers_of_child([&] {
    const std::vector<sg4::Host*> hosts = hosts_of_engine();
    const auto P = static_cast<int>(hosts.size());
    const auto mailbox = [](int from, int to) { return sg4::Mailbox::by_name(fmt::format("{}>{}", from, to)); };
    for (int r = 0; r < P; ++r)
      cluster::new_actor("rank", hosts[static_cast<std::size_t>(r)], [&, r] {
        int payload = r;
        std::map<int, sg4::Mailbox*> to;
        std::map<int, sg4::Mailbox*> from;
        for (int s = 0; s < steps; ++s) {
          if (r % 37 > 0) sg4::this_actor::sleep_for(1e-6 * (r % 37));
          for (int round = 0; round < schedule.rounds(); ++round) {
            const auto turn = schedule.exchange(round, r);
            sg4::CommPtr sending;
            if (turn.target >= 0) {
              auto& box = to[turn.target];
              if (!box) box = mailbox(r, turn.target);
              sending = box->put_async(&payload, static_cast<std::uint64_t>(schedule.split().bytes(turn.sent)));
            }
            if (turn.source >= 0) {
              auto& box = from[turn.source];
              if (!box) box = mailbox(turn.source, r);
              box->get<int>();
            }
            if (sending) sending->wait();
            if (turn.source >= 0 && turn.reduce && turn.received.count > 0)
              sg4::this_actor::sleep_for(static_cast<double>(turn.received.count) / 1e10);
          }
        }
      });
    const double start = processor_s();
    sg4::Engine::get_instance()->run();
    return std::vector{(processor_s() - start) / steps};
  })[0];
}

}  // namespace simgrad::bench
