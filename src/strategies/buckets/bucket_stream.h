/// Buckets that a rank sends beside its passes: at most so many at a time, the most urgent first.
///
/// Source: A. Jayarajan et al., "Priority-based Parameter Propagation for Distributed DNN Training", MLSys 2019; Y.
/// Peng et al., "A Generic Communication Scheduler for Distributed DNN Training Acceleration" (ByteScheduler), SOSP
/// 2019.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "cluster/ranks/pending.h"
#include "cluster/ranks/side_stream.h"

namespace simgrad::strategies {

class BucketStream {
 public:
  /// Starts the messages of a bucket, from the actor whose communicator that is.
  using Begin = std::function<std::vector<cluster::Pending>(const cluster::Communicator&)>;

  /// credits: buckets under way at a time. The communicator must outlive the stream.
  BucketStream(const cluster::Communicator& comm, std::int64_t credits);

  /// Says that the bucket can be sent, and returns at once. Its sending begins when a credit is free and no bucket with
  /// a smaller number waits.
  void ready(std::size_t bucket, Begin begin);

 private:
  struct Queue;
  cluster::SideStream stream_;
  std::shared_ptr<Queue> queue_;  ///< shared with the side actor; its transfers end before the stream
};

}  // namespace simgrad::strategies
