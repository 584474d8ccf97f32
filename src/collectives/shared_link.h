/// Messages of one length through one link, which they share fairly.
#pragma once

#include <span>
#include <vector>

#include "cluster/computed/collective_timing.h"

namespace simgrad::collectives {

/// When each message is through that starts at starts[i], takes the costs's latency first and then its share of the
/// link; infinite for one that never starts.
/// Source: L. Kleinrock, Queueing Systems, Volume 2, 1976 (processor sharing): what counts is how much of its service
/// every message under way has had, which is the same for all; so they end in the order in which they came.
std::vector<double> ends_through_one_link(const cluster::AlphaBetaGamma& costs, std::span<const double> starts,
                                          double bytes);

}  // namespace simgrad::collectives
