#include "cluster/fabric/message_times.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <numeric>
#include <simgrid/s4u.hpp>
#include <sstream>

#include "base/child_process.h"
#include "base/errors.h"
#include "cluster/fabric/cluster.h"
#include "cluster/fabric/routes.h"
#include "cluster/fabric/slow_start.h"
#include "cluster/ranks/communicator.h"
#include "cluster/ranks/ranks.h"
#include "cluster/ranks/world.h"
#include "values/dispatcher.h"

namespace simgrad::cluster {

namespace sg4 = simgrid::s4u;

namespace {

/// The result of `work` in a child process. Errors: ScenarioError for what `work` throws, EnvironmentError if it dies.
std::string in_a_child(const std::function<std::string()>& work) {
  const base::ChildEnd end = base::run_in_child(work);
  if (end.kind == base::ChildEnd::Kind::died) throw base::EnvironmentError("the simulating process " + end.death);
  if (end.kind == base::ChildEnd::Kind::threw) throw base::ScenarioError(end.text);
  return end.text;
}

/// Alpha, B and the route's text.
std::string route_of(const Cluster& cluster, int from, int to) {
  std::vector<sg4::Link*> links;
  double latency_s = 0.0;
  cluster.host(from)->route_to(cluster.host(to), links, &latency_s);
  double least = cluster.options().flow_limit(from, to);
  std::string names;
  for (const sg4::Link* link : links) {
    least = std::min(least, link->get_bandwidth());
    names += fmt::format("{}{}", names.empty() ? "" : ", ", link->get_name());
  }
  return fmt::format("{} {} host {} to host {} over {}", latency_s, least, from, to, names);
}

std::vector<double> simulated_s(Cluster& cluster, int from, int to, const std::vector<std::int64_t>& bytes) {
  World world(cluster, "messages", cluster.hosts(), 0);
  values::Dispatcher timing({.numbers = false, .label = {}});
  std::vector<int> all(static_cast<std::size_t>(cluster.hosts()));
  std::iota(all.begin(), all.end(), 0);
  const auto members = std::make_shared<const std::vector<int>>(all);
  std::vector<double> seconds;
  const bool slowly = cluster.options().starts_slowly();
  double latency_s = 0.0;
  route_between(cluster.host(from), cluster.host(to), &latency_s);
  const double idle_s = idle_time_s(cluster.options(), 2.0 * latency_s);
  world.ranks().start(from, [&] {
    for (const std::int64_t size : bytes) {
      if (slowly) sg4::this_actor::sleep_for(2.0 * idle_s);  // each message finds an idle connection
      const double start_s = world.now();
      Communicator(world, members, from, 0).send(to, timing.zeros(size / 8));
      seconds.push_back(world.now() - start_s);
    }
  });
  world.ranks().start(to, [&] {
    for (std::size_t i = 0; i < bytes.size(); ++i) Communicator(world, members, to, 0).receive(from);
  });
  cluster.run();
  return seconds;
}

}  // namespace

MessageTimes message_times(const Options& options, const std::vector<std::int64_t>& bytes) {
  Options links;
  links.workers = std::max<std::int64_t>(2, options.workers);
  links.topology = options.topology;
  links.platform = options.platform;
  links.host_spec = options.host_spec;
  links.efficiency = options.efficiency;
  links.flow_limit_bytes_per_s = options.flow_limit_bytes_per_s;
  links.slow_links = options.slow_links;
  links.frame = options.frame;
  const base::Slot<Protocol> none = links.protocol;
  links.window_bytes = options.window_bytes;
  links.processor_s_a_byte = options.processor_s_a_byte;
  links.initial_window = options.initial_window;
  links.idle_time_s = options.idle_time_s;
  const auto last = static_cast<int>(links.workers) - 1;
  MessageTimes times;
  times.bytes = bytes;
  for (const NetworkModel model :
       {NetworkModel::ideal, NetworkModel::tcp, NetworkModel::infiniband, NetworkModel::ethernet}) {
    links.network_model = model;
    links.protocol = links.shares_fairly() ? options.protocol : none;
    std::istringstream told(in_a_child([&] {
      Cluster cluster(links, last + 1);
      std::string text;
      const std::string route = route_of(cluster, 0, last);
      for (const double seconds : simulated_s(cluster, 0, last, bytes)) text += fmt::format("{} ", seconds);
      return text + route;
    }));
    std::vector<double>& seconds = times.seconds[static_cast<std::size_t>(model)];
    seconds.resize(bytes.size());
    for (double& each : seconds) told >> each;
    told >> times.latency_s >> times.bandwidth_bytes_per_s >> std::ws;
    std::getline(told, times.route);
  }
  return times;
}

}  // namespace simgrad::cluster
