/// Messages of one length through one link, which they share fairly.
#pragma once

#include <span>
#include <vector>

#include "cluster/computed/collective_timing.h"

namespace simgrad::collectives {

/// The end of each message: it starts at starts[i], takes the costs' latency first, and then its share of the link;
/// infinite if it never starts.
/// Source: L. Kleinrock, Queueing Systems, Volume 2, 1976 (processor sharing). While two messages share the link they
/// get equal service, so messages end in the order in which they came.
std::vector<double> ends_through_one_link(const cluster::AlphaBetaGamma& costs, std::span<const double> starts,
                                          double bytes);

}  // namespace simgrad::collectives
