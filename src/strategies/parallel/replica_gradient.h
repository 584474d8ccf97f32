/// The gradient that the ranks of a replica make together: each its part, with sums where parts overlap.
#pragma once

#include <optional>
#include <vector>

#include "cluster/ranks/communicator.h"
#include "strategies/parallel/part_gradient.h"
#include "strategies/parallel/sharing_ranks.h"
#include "strategies/parallel/slice_cache.h"
#include "strategies/strategy.h"

namespace simgrad::strategies {

class ReplicaGradient {
 public:
  /// stages: this rank's pipeline.  sharing: outlives this object.
  ReplicaGradient(const Worker& worker, const cluster::Communicator& stages, const SharingRanks& sharing);

  /// Begins an update's gradient.  followed: false where only lengths are seen.  ready: may be null; it is called with
  /// each layer, once it is complete.
  void begin(bool followed, const Worker::LayerReady& ready);
  /// Adds a micro-batch's gradient of a segment; nothing: only lengths are seen.  completes: it is the last one, or is
  /// taken by itself.
  /// Virtual time: of sums over the tensor ranks, of parameters of which each has a part of the gradient; likewise over
  /// ranks along context and expert, where the strategy asks for layers as they are ready and does not sum over them.
  void add(std::size_t chunk, std::size_t segment, const Tensor& g, bool completes);
  /// Drops what has been added of a segment, once it is taken.
  void drop(std::size_t chunk, std::size_t segment) { gradient_->drop(chunk, segment); }
  /// Returns the gradient of this rank's part.  Virtual time: of the sum over the replica's ranks with the same
  /// parameters, if there has been none, and of the sum of tied parameters, which two stages have.
  Tensor finish();
  /// Gradients of parameters that all tensor ranks hold are agreed upon in the cache. It outlives this object.
  void agree_in(SliceCache& cache) { cache_ = &cache; }
  /// As training::GradientMaker has it.
  Tensor squares(const Tensor& g, const Tensor& of_shards) const;
  std::vector<models::ParameterStretch> counted_elsewhere() const;

 private:
  void sum_shared();
  void sum(const std::vector<models::ParameterStretch>& stretches, const std::vector<training::Dimension>& along);
  void sum_partial(std::size_t chunk, std::size_t segment, models::Among among);
  void agree(std::size_t chunk, std::size_t segment);
  void replace(const std::vector<models::ParameterStretch>& stretches, const Tensor& g);
  std::vector<models::ParameterStretch> common_stretches(std::size_t chunk, std::size_t segment,
                                                         const std::vector<models::ParameterStretch>& of_all) const;
  Tensor joined(const std::vector<models::ParameterStretch>& stretches) const;
  void sum_tied();

  const Worker& worker_;
  cluster::Communicator stages_;
  const SharingRanks& sharing_;
  std::vector<models::Among> summed_here_;       ///< over whose ranks the strategy does not sum, but this object
  std::vector<models::Among> with_other_norms_;  ///< whose ranks have other parameters, or gradients of a replica
  SliceCache* cache_ = nullptr;
  std::optional<cluster::Communicator> tied_;  ///< the two ranks that hold tied parameters, if this does
  const Worker::LayerReady* ready_ = nullptr;
  std::optional<PartGradient> gradient_;
};

}  // namespace simgrad::strategies
