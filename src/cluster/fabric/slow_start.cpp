#include "cluster/fabric/slow_start.h"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <memory>
#include <simgrid/kernel/resource/Action.hpp>
#include <simgrid/s4u.hpp>
#include <unordered_map>

#include "cluster/fabric/cluster.h"
#include "cluster/fabric/routes.h"

namespace simgrad::cluster {

namespace sg4 = simgrid::s4u;
using simgrid::kernel::resource::Action;

bool starts_slowly(const Options& options, double latency_s) {
  constexpr double least_round_trip_s = 1e-3;
  return options.network_model == NetworkModel::ethernet && options.initial_window > 0 &&
         2.0 * latency_s >= least_round_trip_s;
}

double slow_start_s(double bytes, double window_bytes, double round_trip_s, double bytes_per_s) {
  double seconds = 0.0;
  while (bytes > window_bytes && window_bytes < bytes_per_s * round_trip_s) {
    seconds += round_trip_s - window_bytes / bytes_per_s;
    bytes -= window_bytes;
    window_bytes *= 2.0;
  }
  return seconds;
}

double idle_time_s(const Options& options, double round_trip_s) {
  constexpr double least_variance_s = 0.2;
  return options.idle_time_s.value_or(round_trip_s + least_variance_s);
}

namespace {

constexpr double segment_bytes = 1460.0;  // of a packet's payload; initial_window is a number of them

/// All connections of a cluster. A message finds the window that messages which are over have left, whatever is under
/// way beside it, so that the order of messages at one instant decides about nothing.
class Connections {
 public:
  explicit Connections(const Cluster& cluster) : cluster_(cluster) {
    for (int host = 0; host < cluster.hosts(); ++host) numbers_[cluster.host(host)] = host;
  }

  /// The slow start of a flow that begins, as a multiple of its route's latency.
  double begin(double bytes, const sg4::Host* source, const sg4::Host* target, const Action& flow) {
    const int from = numbers_.at(source), to = numbers_.at(target);
    const Options& options = cluster_.options();
    if (options.inside_host(from, to) || !(bytes > 0.0)) return 0.0;
    const std::uint64_t key = static_cast<std::uint64_t>(from) << 32 | static_cast<std::uint32_t>(to);
    const auto [found, is_new] = connections_.try_emplace(key);
    Connection& tcp_connection = found->second;
    if (is_new) tcp_connection = connection(from, to);
    if (!tcp_connection.slow) return 0.0;
    const bool idle =
        tcp_connection.under_way == 0 && sg4::Engine::get_clock() - tcp_connection.ended_s > tcp_connection.idle_s;
    if (is_new || idle) tcp_connection.window_bytes = segment_bytes * static_cast<double>(options.initial_window);
    flows_[&flow] = {&tcp_connection, &flow, bytes};
    ++tcp_connection.under_way;
    const double bandwidth = std::min(tcp_connection.bandwidth_bytes_per_s * options.protocol->at(bytes).bandwidth,
                                      tcp_connection.limit_bytes_per_s);
    return slow_start_s(bytes, tcp_connection.window_bytes, tcp_connection.round_trip_s, bandwidth) /
           (tcp_connection.round_trip_s / 2.0);
  }

  /// A flow has ended: its bytes are acknowledged, or its connection broke off, and a new one follows.
  void over(const void* flow) {
    const auto found = flows_.find(flow);
    if (found == flows_.end()) return;
    const auto [connection, action, bytes] = found->second;
    const bool whole = action->get_state() == Action::State::FINISHED;
    --connection->under_way;
    connection->ended_s = whole ? sg4::Engine::get_clock() : -std::numeric_limits<double>::infinity();
    connection->window_bytes += whole ? bytes : 0.0;
    flows_.erase(found);
  }

 private:
  struct Connection {
    bool slow = false;
    double round_trip_s = 0.0;
    double idle_s = 0.0;
    double bandwidth_bytes_per_s = std::numeric_limits<double>::infinity();  ///< of payload, that the links carry
    double limit_bytes_per_s = 0.0;                                          ///< of one flow
    double window_bytes = 0.0;
    double ended_s = 0.0;  ///< the end of its last message
    int under_way = 0;
  };
  struct Flow {
    Connection* connection = nullptr;
    const Action* action = nullptr;
    double bytes = 0.0;
  };

  Connection connection(int from, int to) const {
    Connection tcp_connection;
    double latency_s = 0.0;
    for (const sg4::Link* const link : route_between(cluster_.host(from), cluster_.host(to), &latency_s))
      tcp_connection.bandwidth_bytes_per_s =
          std::min(tcp_connection.bandwidth_bytes_per_s, payload_part(cluster_, from, to) * cluster_.bandwidth(*link));
    tcp_connection.slow = starts_slowly(cluster_.options(), latency_s);
    tcp_connection.round_trip_s = 2.0 * latency_s;
    tcp_connection.idle_s = idle_time_s(cluster_.options(), tcp_connection.round_trip_s);
    tcp_connection.limit_bytes_per_s = most_of_flow(cluster_, from, to);
    return tcp_connection;
  }

  const Cluster& cluster_;
  std::unordered_map<const sg4::Host*, int> numbers_;
  std::unordered_map<std::uint64_t, Connection> connections_;  ///< by sender and receiver
  std::unordered_map<const void*, Flow> flows_;                ///< that are under way
};

}  // namespace

FlowMultiple slow_start_latency(const Cluster& cluster, const FlowMultiple& by_size) {
  const auto connections = std::make_shared<Connections>(cluster);
  sg4::Link::on_communication_state_change_cb([connections](auto& flow, Action::State) { connections->over(&flow); });
  return [connections, by_size](double bytes, const sg4::Host* source, const sg4::Host* target) {
    const double latency = by_size ? by_size(bytes, source, target) : 1.0;
    return latency + connections->begin(bytes, source, target, newest_flow());
  };
}

}  // namespace simgrad::cluster
