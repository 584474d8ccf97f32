/// The step of local SGD before an average, in buckets of layers.
///
/// With b_i the end of the backward pass through bucket i and of its update (the last layers' is the first), the
/// average of bucket i ends at c_i = max(b_i, c_(i-1)) + T_allreduce(P, M_i).
#pragma once

#include <vector>

#include "cluster/ranks/side_stream.h"
#include "strategies/buckets/buckets.h"
#include "strategies/replicas/local_sgd.h"

namespace simgrad::strategies {

class LocalSgd::AveragingStep {
 public:
  /// All must outlive it.
  AveragingStep(const LocalSgd& options, Worker& worker, CompressedSum& moves);

  /// One update of the replica, and the average of all.
  void operator()(State& state);

 private:
  /// Starts the average of a bucket beside the pass.  w: its updated parameters.  begun: those at the beginning of the
  /// round, where codes of moves are summed.
  void start(const Tensor& w, const Tensor& begun, std::int64_t first);

  const LocalSgd& options_;
  Worker& worker_;
  CompressedSum& moves_;
  std::vector<Stretch> buckets_;
  cluster::SideStream beside_;
};

}  // namespace simgrad::strategies
