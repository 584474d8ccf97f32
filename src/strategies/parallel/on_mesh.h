/// A strategy among the ranks of a mesh that hold the same part of a model.
///
/// The strategy is any that works in lockstep on replicas: it sees a communicator of the ranks with its own part, that
/// part as its model, and a gradient that the ranks of its replica make together. Ranks that share sequences hold the
/// same parameters, each with a gradient of its own tokens: a strategy that sums all gradients has them as workers too,
/// so that it makes one sum over data x context, and shards parameters among as many, as Megatron-LM and torchtitan do.
/// For others the ranks of a replica sum them first.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "strategies/parallel/parallel.h"
#include "strategies/strategy.h"

namespace simgrad::strategies {

class OnMesh final : public Strategy {
 public:
  /// warning: a sentence about this mesh on this cluster, or empty.
  OnMesh(std::shared_ptr<const Strategy> strategy, Parallel parallel, std::string warning = {});

  void operator()(Worker& worker) const override;
  Traits traits(int P) const override;
  std::optional<Refusal> refusal(const Circumstances& circumstances) const override;
  std::vector<std::string> warnings(std::int64_t P, std::uint64_t seed) const override;
  record::MemoryParts memory(const training::MemoryTerms& terms) const override;
  std::shared_ptr<const Strategy> alone() const override { return strategy_->alone(); }

  const Parallel& parallel() const { return parallel_; }
  /// The memory of a rank of each stage.
  std::vector<record::MemoryParts> memory_of_stages(const training::MemoryTerms& terms) const;
  /// The memory of each stage's tensor ranks; of one of them where they have equal shares.
  std::vector<std::vector<record::MemoryParts>> memory_of_tensor_ranks(const training::MemoryTerms& terms) const;
  /// The strategy among the ranks with one part.
  const std::shared_ptr<const Strategy>& strategy() const { return strategy_; }
  /// The replicas of the model on so many ranks, as far as each has rows of its own.
  std::int64_t replicas(std::int64_t P) const { return parallel_.shares_of_batch(P); }

 private:
  std::vector<cluster::Recovery> recoveries(const Traits& traits) const;
  std::optional<Refusal> model_refusal(const Circumstances& circumstances) const;
  std::optional<Refusal> strategy_refusal(const Circumstances& circumstances) const;
  std::optional<Refusal> stage_replicas_refusal(const Circumstances& circumstances) const;
  std::optional<Refusal> slices_refusal(const Circumstances& circumstances) const;
  std::optional<Refusal> length_refusal(const Circumstances& circumstances) const;
  std::optional<Refusal> return_refusal(const Circumstances& circumstances) const;
  const PipelineTable& table() const;

  std::shared_ptr<const Strategy> strategy_;
  Parallel parallel_;
  std::string warning_;
  mutable std::optional<PipelineTable> table_;  ///< made by the first rank; the same for all
};

/// The strategy as one on a mesh; null where its model is not cut.
inline const OnMesh* mesh_under(const Strategy& strategy) { return dynamic_cast<const OnMesh*>(&strategy); }

/// The workers of a strategy on the mesh of so many ranks, and its traits with as many.
std::int64_t workers_on_mesh(const Strategy& strategy, const Parallel& parallel, std::int64_t ranks);
Traits traits_on_mesh(const Strategy& strategy, const Parallel& parallel, std::int64_t ranks);

/// The strategy among the ranks of the mesh; itself if the model is not cut.
std::shared_ptr<const Strategy> on_mesh(std::shared_ptr<const Strategy> strategy, const Parallel& parallel,
                                        std::string warning = "");

}  // namespace simgrad::strategies
