/// Messages on links of constant bandwidth, each a flow: the network model `ideal` without SimGrid's activities.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <memory_resource>
#include <span>
#include <vector>

#include "cluster/fabric/link_numbers.h"
#include "cluster/fabric/max_min.h"

namespace simgrid::kernel::timer {
class Timer;
}

namespace simgrad::cluster {

class Cluster;
class FlowNetwork;
class Interference;

/// The links from host to host that flows share.
struct FlowRoute {
  double latency_s = 0.0;
  double flow_limit_bytes_per_s = 0.0;  ///< of each flow on it; infinite: none
  int source = 0, target = 0;           ///< hosts
  std::span<const int> links;
};

/// The bytes of a message on their way.
class Flow {
 public:
  virtual ~Flow() = default;
  Flow() = default;
  Flow(const Flow&) = delete;
  Flow& operator=(const Flow&) = delete;

  double start_s() const { return start_s_; }    ///< negative: it has not started
  double finish_s() const { return finish_s_; }  ///< negative: it is not over

 protected:
  /// The flow is over: its target has all bytes. Called outside every actor, but for a flow that takes no time.
  virtual void arrived() = 0;
  /// Called when all flows that end at the same instant have arrived; the flow may be gone afterwards.
  virtual void left() = 0;

 private:
  friend class FlowNetwork;
  using Date = std::map<double, std::vector<Flow*>>::iterator;

  double start_s_ = -1.0;
  double finish_s_ = -1.0;
  double left_bytes_ = 0.0;  ///< at `since_s_`
  double rate_ = 0.0;
  double since_s_ = 0.0;
  const FlowRoute* route_ = nullptr;
  std::uint64_t order_ = 0;  ///< of its start
  int number_ = -1;          ///< among those that share links; -1: none of them
  bool under_way_ = false;
  Date date_;
  std::size_t place_ = 0;  ///< among the flows of that date
};

/// Flows that end at one instant arrive in the order of their starts.
///
/// A flow takes its route's latency, during which it uses no bandwidth; then it has its max-min fair share of the
/// links.
///
/// SimGrid takes some ten microseconds for a transfer among many, since an actor's list of transfers is walked through
/// at the end of each, and its sharing of all links looks at all flows at every event. Here a change concerns the flows
/// that are connected with it by links, and flows that end at one instant are one event.
class FlowNetwork {
 public:
  explicit FlowNetwork(Cluster& cluster);
  ~FlowNetwork();
  FlowNetwork(const FlowNetwork&) = delete;
  FlowNetwork& operator=(const FlowNetwork&) = delete;

  /// The route between two hosts, which stays where it is.
  const FlowRoute& route(int source, int target);
  /// Starts a flow; it must stay where it is until it is over or cancelled.
  void start(Flow& flow, const FlowRoute& route, double bytes);
  /// A flow that takes no time: between ranks of one host.
  void pass(Flow& flow);
  /// Takes a flow off the network.  Returns whether it was under way.
  bool cancel(Flow& flow);
  /// The slowdown of a host's products and messages by each other; null: there is none.
  Interference* interference() const { return interference_.get(); }

 private:
  /// A host's way into one of its links, which no other host has.
  struct Port {
    int first_link = 0;  ///< that the host's messages go through
    int number = 0;      ///< of the port, among the links that are shared
    double bandwidth_bytes_per_s = 0.0;
  };
  using Dates = std::map<double, std::vector<Flow*>>;
  int shared_number(int link);
  int port(int host, int first_link);
  void change_ports(int host);
  void put(Flow& flow, double date_s);
  void take(Flow& flow);
  void begin_bytes(Flow& flow, double now);
  void leave_links(Flow& flow);
  void share(double now);
  void wake_at(double date_s);
  void wake_at_first_date();
  void wake();

  Cluster& cluster_;
  LinkNumbers numbers_;
  std::vector<int> shared_numbers_;       ///< by link: among the links and ports that are shared
  int shared_ = 0;                        ///< so many links and ports
  std::vector<std::vector<Port>> ports_;  ///< by host
  std::unique_ptr<Interference> interference_;
  std::deque<FlowRoute> routes_;
  std::pmr::monotonic_buffer_resource links_of_routes_;
  MaxMinSharing sharing_;
  std::vector<Flow*> flows_;  ///< by number in `sharing_`
  Dates dates_;               ///< at which flows get past their latency, or end
  Dates::iterator put_last_;  ///< the date to which a flow was put last; the end: it is gone
  std::uint64_t started_ = 0;
  simgrid::kernel::timer::Timer* timer_ = nullptr;
  double timer_s_ = 0.0;
};

}  // namespace simgrad::cluster
