/// A worker's messages to the services of BytePS, and their answers.
#pragma once

#include <cstdint>
#include <vector>

#include "cluster/ranks/pending.h"
#include "strategies/servers/summation_shares.h"
#include "strategies/strategy.h"
#include "training/compressors/encoder.h"
#include "training/worker.h"

namespace simgrad::strategies {

/// The messages of one step.
class ServiceExchange {
 public:
  /// gradients, sums: the codes that are sent instead of them.  All must outlive it.
  ServiceExchange(const Worker& worker, training::Encoder& gradients, const training::Encoder& sums)
      : worker_(worker), gradients_(gradients), sums_(sums) {}

  /// Pushes a piece of g, and begins to receive its sum. Blocks until the services have it.  comm: of the actor.
  void push(const cluster::Communicator& comm, const Tensor& g, const SummedPiece& piece);
  /// Blocks until all sums have come.  last_first: whether the last piece of the vector was pushed first.  Returns (d).
  Tensor sum(const cluster::Communicator& comm, bool last_first);

 private:
  struct Answer {
    cluster::Pending message;
    std::int64_t first = 0;
  };

  const Worker& worker_;
  training::Encoder& gradients_;
  const training::Encoder& sums_;
  std::vector<std::vector<Answer>> answers_;  ///< by piece
};

}  // namespace simgrad::strategies
