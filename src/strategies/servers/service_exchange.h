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

/// The messages of one step, where all sums are awaited together.
class ServiceExchange {
 public:
  /// gradients, sums: the codes that are sent instead of them.  All must outlive it.
  ServiceExchange(const Worker& worker, training::Encoder& gradients, const training::Encoder& sums)
      : worker_(worker), gradients_(gradients), sums_(sums) {}

  /// Pushes a piece of g, and begins to receive its sum. Blocks until the services have it.
  void push(const Tensor& g, const SummedPiece& piece);
  /// Blocks until all sums have come.  Returns (d).
  Tensor sum();

 private:
  struct Answer {
    cluster::Pending message;
    std::int64_t first = 0;
  };

  const Worker& worker_;
  training::Encoder& gradients_;
  const training::Encoder& sums_;
  std::vector<Answer> answers_;
};

}  // namespace simgrad::strategies
