/// SimGrid's flags for each network model, and the repair that makes sharing fair where latencies differ.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "cluster/options.h"

namespace simgrid::kernel::resource {
class Action;
}

namespace simgrad::cluster {

class Cluster;

/// The --cfg flags of a model.
std::vector<std::string> simgrid_flags(NetworkModel model);

/// Flags that make SimGrid share all links anew at every change. By default SimGrid looks only at links that a change
/// concerns, and 3.32 overlooks some: when several flows of one host get past their latency at one instant, it misses
/// links of some of them. Their targets then receive more than their links carry, if several hosts send to each. The
/// flags' cost grows with the flows under way, so only programs that need them get them.
std::vector<std::string> flags_for_many_to_many();

/// Makes SimGrid look at all links of every flow that gets past its latency, which is what 3.32 overlooks. A change
/// then costs as much as the flows that are connected with it by links, which pays where these are few. For `ideal`
/// where all routes have one latency. Call once the hosts are built.
void share_links_of_late_flows();

/// `ideal` on a platform whose routes differ in latency: SimGrid weights a flow by 1/latency once its latency is paid;
/// from then on this gives every flow the weight 1, so that shares are max-min fair. Call once the platform is built.
/// Where all latencies are equal so are the weights, and nothing needs repair.
/// latency_multiple: of a new flow between two hosts; none: 1.
using FlowMultiple =
    std::function<double(double bytes, const simgrid::s4u::Host* source, const simgrid::s4u::Host* target)>;
void share_fairly(const FlowMultiple& latency_multiple = {});

/// The flow that SimGrid is creating, while it asks for the flow's factors.
const simgrid::kernel::resource::Action& newest_flow();

/// The factors of latency that cluster.protocol has for flows between hosts. Only where there is one.
FlowMultiple protocol_latency(const Cluster& cluster);

/// The rules of a model that hold between hosts only: `ethernet` takes the time of frames, a protocol has its factors
/// of the bandwidth, and `tcp` leaves the flows between the devices of a host as `ideal` has them, but for the sharing
/// of links. Call once the hosts are built.
void spare_hosts(const Cluster& cluster);

/// The most bytes a second that one flow from a host to another gets: cluster.flow_limit, and under `ethernet` its
/// window / (2 latency). Infinite: nothing but its links limits it.
double most_of_flow(const Cluster& cluster, int from, int to);

/// The part of the links' bandwidth that messages from a host to another have: under `ethernet` the goodput between
/// hosts. 1 under `ideal`; the other models' factors are SimGrid's.
double payload_part(const Cluster& cluster, int from, int to);

/// Multiplies the time of a new flow's bytes; its links are busy for as long.
void stretch_transfers(const FlowMultiple& multiple);

}  // namespace simgrad::cluster
