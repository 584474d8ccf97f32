/// The precision of SimGrid's solver, fitted to the weights that `tcp` and `infiniband` give to flows.
#pragma once

namespace simgrad::cluster {

class Cluster;

/// These models weight a flow by the inverse of its penalty: the latency of its route and, for each link of it, a
/// constant divided by the link's bandwidth. SimGrid takes weights below its precision for nothing, and ends in an
/// assertion once a link has such flows alone. Where links are so slow, or so slow while they fail, this makes the
/// precision finer than the least weight. Call it once links have their bandwidths.
/// Errors: ScenarioError where weights are farther apart than a double's digits.
void fit_solver_precision(const Cluster& cluster);

}  // namespace simgrad::cluster
