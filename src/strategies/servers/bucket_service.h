/// A server that updates each bucket of its parameters as soon as all workers' gradients of it have come.
#pragma once

#include <functional>

#include "strategies/reductions/reduction.h"
#include "strategies/servers/push_service.h"

namespace simgrad::strategies {

struct BucketService {
  const training::Compressor& gradients;  ///< the codes that are sent instead of them, and of parameters
  const training::Compressor& parameters;
  const Reduce& reduce;
  Bucketing bucketing;
  double weight = 1.0;                         ///< of the workers' gradients, reduced
  std::function<void()> after_step = nullptr;  ///< called after the last bucket's update; or null
};

/// A worker of such servers: pushes and pulls buckets beside its passes until the training ends, which is while it
/// waits for an answer.  batch_of_version: whether a gradient is over the batch of the step that its parameters are of.
void work_in_buckets(Worker& worker, const UnitBuckets& buckets, const BucketTravel& travel,
                     const training::Compressor& gradients, const training::Compressor& parameters,
                     bool batch_of_version = false);

/// Runs until the training ends. Every step each worker pushes each bucket once.  Virtual time: decoding, additions and
/// the update of a bucket, once its last gradient has come; the answers go beside.
void serve_in_buckets(Server& server, const BucketService& service);

}  // namespace simgrad::strategies
