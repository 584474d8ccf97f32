/// A bound from below on the time of a candidate's step, without simulating it.
#pragma once

#include "planner/candidate.h"

namespace simgrad::planner {

/// The terms of the bound, in seconds of one step over all workers.
struct StepBound {
  double compute_s = 0.0;  ///< the flops of the batch's gradient, shared out evenly
  double bubble_s = 0.0;   ///< of a mesh: computing of other stages, uneven stages, exchanges that nothing hides
  double bytes_s = 0.0;    ///< the gradient's bytes that leave and enter a host, over its fastest link
  double rounds_s = 0.0;   ///< the rounds of a sum among all replicas, each a latency

  /// Communication may hide behind computing, but neither can be shorter.
  double step_s() const;
};

/// Each of p workers computes at least a p-th of the batch's flops on average, at best at the largest size of its
/// products. A pipeline of s stages with m micro-batches and v chunks a stage adds (s - 1) / (m v) of that, unless its
/// schedule fills the bubble with the weights' gradients; mesh_step_s() often knows more. An allreduce of n bytes among
/// d replicas sends 2 (d - 1) / d n from each; it needs log2 d rounds. Source: P. Patarasuk, X. Yuan, Bandwidth Optimal
/// All-reduce Algorithms for Clusters of Workstations, 2009. Strategies that need not exchange all of a gradient in a
/// step have no bytes here.
StepBound step_bound(const Candidate& candidate);

}  // namespace simgrad::planner
