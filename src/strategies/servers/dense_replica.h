/// The parameters of a sparse model that are replicated on the workers.
#pragma once

#include <vector>

#include "cluster/ranks/communicator.h"
#include "strategies/servers/sparse_parameter_server.h"
#include "training/sparse/sparse_learning.h"

namespace simgrad::strategies {

/// The parameters that the workers hold, if any; equal on all of them.
class DenseReplica {
 public:
  DenseReplica(Worker& worker, const SparseParameterServer& options);
  /// No parameters where the servers hold all of them.
  const Tensor& w() const { return state_.w; }
  /// One update by the sum of all workers' parts.  Virtual time: a ring allreduce, and the optimizer's flops.
  void update(const Tensor& part);

 private:
  /// The sum of all workers' parts, by an allreduce.
  Tensor sum(const Tensor& part) const;

  Worker& worker_;
  const SparseParameterServer& options_;
  training::SparseLearning& learning_;
  std::vector<cluster::Communicator> among_;  ///< the workers; none where there is no replica
  State state_;
};

/// The state of replicas at the beginning, from a rank's start.
State replica_state(const training::SparseLearning& learning, const State& start);

}  // namespace simgrad::strategies
