/// The memory of ranks as a formula of strategy, layers, formats and rows: known before a run begins.
///
/// Source: S. Rajbhandari et al., "ZeRO: Memory Optimizations Toward Training Trillion Parameter Models", SC 2020
/// (states); V. Korthikanti et al., "Reducing Activation Recomputation in Large Transformer Models", MLSys 2023
/// (activations).  N: parameters, of p bytes, their gradients g; o: bytes of the optimizer's vectors and of a master
/// copy, a parameter; A: bytes of the activations that a micro-batch keeps; u: the units of a model, N_u parameters
/// each.  A replica: N (p + g + o) + A less what the backward pass has released when the last gradient is made;
/// stage 1 of zero: N (p + g + o/P) + A; stage 2: N (p + (g + o)/P) + A + gradients of two units; stage 3 and fsdp:
/// N (p + g + o)/P + A + parameters of `limit` units + gradients of two.  The gradient of a tied embedding is in memory
/// from the head's backward pass on; where units are gathered, the embedding is among the head's parameters.  With main
/// gradients (MainGradients) a replica and stage 1 hold N g from the beginning, g = 4 bytes: 18 bytes a parameter with
/// Adam, and 6 + 12/P in stage 1, as Megatron-LM's own formula has them
/// (megatron/training/theoretical_memory_usage.py).
#pragma once

#include <cstdint>
#include <vector>

#include "models/model.h"
#include "record/memory.h"
#include "training/learning/units.h"
#include "training/precision.h"

namespace simgrad::cluster {
class Cluster;
}

namespace simgrad::training {

/// One moment of a step's passes on a rank of a mesh.
struct PassMoment {
  double activations = 0.0;  ///< bytes
  double made = 0.0;         ///< the share of its part's gradient that is in memory
  double complete = 0.0;     ///< parameters of the units whose gradients all micro-batches have been added to
  double reducing = 0.0;     ///< of the last one of these, whose gradient is in memory until the next one is complete
  double under_way = 0.0;    ///< likewise where every micro-batch is reduced by itself: numbers of gradients in memory
  double reduced = 0.0;      ///< and parameters of the units of which one micro-batch's gradient is complete
  std::size_t visits = 0;    ///< to units whose parameters are gathered, that have begun
  std::size_t in_use = 0;    ///< units that are read: those of the last visits
};
/// The passes of a rank of a mesh: their order is known, and not their times.
struct MeshPasses {
  std::vector<PassMoment> moments;
  UnitVisits visits;
  bool several = false;  ///< micro-batches, so that the whole gradient is in memory unless each is reduced by itself
};

/// The facts that memory depends on.
struct MemoryTerms {
  std::vector<models::Layer> layers;
  NumberBytes bytes;
  Recompute recompute = Recompute::none;
  std::int64_t workers = 1;
  std::int64_t rows = 0;           ///< of the rank with most rows, a step
  std::int64_t batch = 0;          ///< rows of a step over all ranks; for strategies that cut the model
  std::int64_t training_rows = 0;  ///< of all steps; for those that keep numbers of rows
  std::int64_t optimizer_vectors = 0;
  const models::Model* model = nullptr;  ///< whose layers they are; for strategies that cut it
  const models::Problem* problem = nullptr;
  const MeshPasses* mesh = nullptr;  ///< of the part that a rank of a mesh has; else null
  Precision precision = Precision::float64;
  double update_flops = 0.0;                  ///< of an update, a parameter
  bool fits_memory = true;                    ///< whether a rank's device must hold what the rank holds
  const cluster::Cluster* cluster = nullptr;  ///< of the run; null before it begins

  double parameters() const;
  /// Bytes a parameter of the optimizer's vectors and the master copy.
  double optimizer_bytes() const { return bytes.master + static_cast<double>(optimizer_vectors) * bytes.moment; }
};

/// The parts of a replica's memory that differ between strategies.
struct ReplicaMemory {
  std::int64_t micro_batches = 1;
  bool accumulates = false;      ///< the whole gradient is there when a backward pass begins
  double optimizer_share = 1.0;  ///< of the optimizer's vectors
  double bucket_numbers = 0.0;   ///< gradients in buckets beside the gradient, where it is in no buffer of its own
  MainGradients main_gradients = MainGradients::never;  ///< on a mesh always by_default
  /// Stage 2 of zero: the numbers of each piece, in the order of w, whose gradient is dropped once it is reduced.
  std::vector<std::int64_t> dropped = {};
};
/// A rank that holds all parameters.
record::MemoryParts replica_memory(const MemoryTerms& terms, const ReplicaMemory& replica);

/// A rank that gathers units.
struct ShardMemory {
  std::int64_t micro_batches = 1;
  bool no_sync = false;
  std::int64_t group = 1;
  std::int64_t limit = 2;
  bool reshard_after_forward = true;
  bool optimizer_on_host = false;
  bool parameters_on_host = false;
};
record::MemoryParts shard_memory(const MemoryTerms& terms, const ShardMemory& shard);

/// A server of a part of the parameters.  gradients: the workers' gradients that it holds at a time.
record::MemoryParts server_memory(const MemoryTerms& terms, double share, std::int64_t gradients);

}  // namespace simgrad::training
