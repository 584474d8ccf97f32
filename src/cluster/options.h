/// The scenario's section [cluster]: hosts, links, the network model, and what goes wrong.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/describe.h"
#include "base/registry.h"
#include "cluster/fabric/background.h"
#include "cluster/fabric/host_class.h"
#include "cluster/fabric/jitter.h"
#include "cluster/fabric/protocol.h"
#include "cluster/failures/failures.h"
#include "cluster/faulty/faulty.h"
#include "cluster/stragglers/stragglers.h"
#include "cluster/topologies/topology.h"

namespace simgrad::cluster {

/// The model of the network, which turns bytes into seconds.
enum class NetworkModel { ideal, tcp, infiniband, ethernet };
inline constexpr std::size_t network_models_count = 4;
std::string_view name(NetworkModel model);
std::span<const base::Choice> network_model_choices();

/// The Ethernet frames that carry messages under the model `ethernet`.
enum class Frame {
  standard,  ///< 1500 bytes of IP packet
  jumbo      ///< 9000 bytes
};
/// The part of a link's rate that is left to the messages: TCP's payload of a frame / the frame's bytes on the wire.
double goodput(Frame frame);

/// The simulation of collectives whose last arrival determines every member's end.
enum class Collectives {
  automatic,  ///< at the last arrival, from their transfers' routes, where nothing else is on them
  messages    ///< message by message
};

/// The sharing of hosts among jobs.
enum class Sharing {
  processor,  ///< their ranks share the cores fairly, all the time
  gang        ///< they compute in turns
};

/// When a run that never ends is given up: it becomes `failed`, with the rank and step where it was.
struct Watchdog : base::Described {
  double simulated_s = 1e7;  ///< the clock's microseconds are exact only up to about here
  double real_s = 24.0 * 3600.0;
  std::int64_t events = 1'000'000;

  void describe(base::Describer& d) override;
};

/// A link that gives only a part of its bandwidth, both ways.
struct SlowLink : base::Described {
  std::string link;
  double factor = 1.0;

  void describe(base::Describer& d) override;
};

/// The options that `platform` replaces by its file.
inline constexpr std::array<std::string_view, 6> said_by_platform{"topology",  "speed",   "device",
                                                                  "bandwidth", "latency", "hosts"};

struct Options : base::Described {
  std::int64_t workers = 4;
  base::Slot<Topology> topology{topologies(), "star"};
  std::string platform;                          ///< a SimGrid XML file instead of a topology; empty: none
  HostSpec host_spec;                            ///< every host and its NIC; unused on a platform
  base::Slot<Device> device{devices(), "none"};  ///< of every host whose class says nothing else
  std::vector<HostClass> host_classes;           ///< [[cluster.hosts]]; hosts in none are as `machine` says
  double efficiency = 1.0;                       ///< part of every link's bandwidth that is given
  std::optional<double> flow_limit_bytes_per_s;  ///< limit of each flow between two hosts
  std::vector<SlowLink> slow_links;
  NetworkModel network_model = NetworkModel::ideal;
  Frame frame = Frame::standard;  ///< of `ethernet`
  base::Slot<Protocol> protocol{protocols(), "none"};
  double window_bytes = 4.0 * 1024 * 1024;  ///< of `ethernet`: most bytes of a flow that are not acknowledged
  double processor_s_a_byte = 0.0;          ///< of `ethernet`: of the core at either end of a flow
  std::int64_t initial_window = 10;         ///< of `ethernet`: packets; 0: no slow start
  std::optional<double> idle_time_s;        ///< of `ethernet`: after which a window is the initial one again
  Collectives collectives = Collectives::automatic;
  std::string measured;                        ///< a file of measured collectives; empty: none
  std::optional<std::int64_t> measured_ranks;  ///< the ranks of that file's rows where it does not say them
  std::vector<double> relative_speeds;         ///< speeds of ranks 0, 1, ...; the rest run at 1
  base::Slot<Stragglers> stragglers{cluster::stragglers(), "none"};
  base::Slot<FaultyWorkers> faulty{faulty_workers(), "none"};
  base::Slot<Jitter> jitter{jitters(), "none"};
  std::vector<BackgroundFlow> background;
  double overlap_slowdown = 0.0;  ///< part of its speed that a host loses to its messages, and messages to its work
  std::int64_t link_bins = 0;     ///< intervals of each link's use over time; 0: not kept
  Sharing sharing = Sharing::processor;
  std::int64_t quantum = 1;  ///< steps of a turn
  bool charge_reductions = true;
  std::optional<double> memory_bytes;                       ///< of a rank's device; none: not known, and anything fits
  std::optional<double> storage_bandwidth_bytes_per_s;      ///< none: writing and reading checkpoints takes no time
  std::optional<double> host_memory_bandwidth_bytes_per_s;  ///< none: copying a checkpoint there takes no time
  FailureOptions failures;
  Watchdog watchdog;

  void describe(base::Describer& d) override;

  /// The device of a host of a topology; null: it has none.
  const Device* device_of(int host) const;
  /// Sustained flop/s of a host of a topology; with a device the additions that its memory allows.
  double speed(int host) const;
  /// Whether messages between two hosts stay inside a machine of several devices; on a platform never.
  bool inside_host(int from, int to) const;
  /// The number of the NIC, among those of its machine, by which a host reaches other machines.
  int nic(int host) const;
  /// The devices of a host, each of which is a rank; 1: ranks do not share hosts.
  int devices_of_host() const;
  /// The most bytes a second that `flow_limit` leaves a flow from a host to another; infinite: it does not limit it.
  double flow_limit(int from, int to) const;
  /// Whether links are shared max-min fairly, and a message takes its latency once.
  bool shares_fairly() const;
  /// Whether messages may begin with TCP's slow start on some of the routes (fabric/slow_start.h).
  bool starts_slowly() const;
  /// Whether the latency of a route is not the same for all messages.
  bool varies_latencies() const { return protocol->there() || starts_slowly(); }
  /// Whether every host is as fast as the others, always, and none fails.
  bool undisturbed() const;
  /// Whether messages share links max-min fairly, and nothing else ever disturbs them: neither failures nor other
  /// traffic.
  bool constant_network() const;
  /// Whether messages are flows of the cluster's own network, not SimGrid's.  many_to_many: see Cluster.
  bool own_network(bool many_to_many) const { return (many_to_many || overlap_slowdown > 0.0) && constant_network(); }
  /// Whether a collective takes the time that its own transfers give: no option disturbs messages, and a crash stops
  /// all ranks.
  bool computes_collectives() const;
  /// Whether a message takes the same time between any two hosts, and never meets another one on a link but at a host
  /// that sends two or receives two at once.
  bool alike_routes() const;
};

}  // namespace simgrad::cluster
