/// The gradient that the ranks of a replica make together: each its part, with sums where parts overlap.
#pragma once

#include <optional>
#include <vector>

#include "cluster/ranks/communicator.h"
#include "strategies/parallel/part_gradient.h"
#include "strategies/strategy.h"

namespace simgrad::strategies {

class ReplicaGradient {
 public:
  /// stages: this rank's pipeline.  tensor: the ranks that share its products; nothing: it has whole ones.
  ReplicaGradient(const Worker& worker, const cluster::Communicator& stages,
                  std::optional<cluster::Communicator> tensor);

  /// Begins an update's gradient.  followed: false where only lengths are seen.  ready: may be null; it is called with
  /// each layer, once it is complete.
  void begin(bool followed, const Worker::LayerReady& ready);
  /// Adds a micro-batch's gradient of a segment; nothing: only lengths are seen.  completes: it is the last one.
  /// Virtual time: of the sum over the tensor ranks of parameters of which each has a part of the gradient.
  void add(std::size_t chunk, std::size_t segment, const Tensor& g, bool completes);
  /// Returns the gradient of this rank's part.  Virtual time: of the sum of tied parameters, which two stages have.
  Tensor finish();
  /// As Worker::GradientMaker has it.
  Tensor squares(const Tensor& g, const Tensor& of_shards) const;

 private:
  void sum_partial(const std::vector<models::ParameterStretch>& within);
  void sum_tied();
  Tensor counted_once(const Tensor& g) const;

  const Worker& worker_;
  cluster::Communicator stages_;
  std::optional<cluster::Communicator> tensor_, tied_;  ///< tied: the two ranks that hold tied parameters, if this does
  const Worker::LayerReady* ready_ = nullptr;
  std::optional<PartGradient> gradient_;
};

}  // namespace simgrad::strategies
