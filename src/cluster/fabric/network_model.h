/// SimGrid's flags for each network model, and the repair that makes sharing fair where latencies differ.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "cluster/options.h"

namespace simgrad::cluster {

/// The --cfg flags of a model.
std::vector<std::string> simgrid_flags(NetworkModel model);

/// Flags that make SimGrid share all links anew at every change. By itself it looks only at those that a change
/// concerns, and in 3.32 it overlooks some: of flows that get past their latency at one instant, those from a host with
/// several. Their targets then take more than their links carry, if several hosts send to each. What it costs grows
/// with the flows under way, so it is for those who need it.
std::vector<std::string> flags_for_many_to_many();

/// `ideal` on a platform whose routes differ in latency: SimGrid weights a flow by 1/latency once its latency is paid;
/// from then on this gives every flow the weight 1, so that shares are max-min fair. Call once the platform is built.
/// Where all latencies are equal so are the weights, and nothing needs repair.
/// latency_multiple: of a new flow between two hosts; none: 1.
using FlowMultiple = std::function<double(const simgrid::s4u::Host* source, const simgrid::s4u::Host* target)>;
void share_fairly(const FlowMultiple& latency_multiple = {});

/// A new flow's bytes take that many times as long, and its links are taken by it for as long.
void stretch_transfers(const FlowMultiple& multiple);

}  // namespace simgrad::cluster
