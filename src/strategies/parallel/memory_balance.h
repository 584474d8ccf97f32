/// Stages of a pipeline that need about as much memory.
///
/// Source of the search, which puts the ends of stages so that the largest cost is least: D. Narayanan et al.,
/// "PipeDream: Generalized Pipeline Parallelism for DNN Training", SOSP 2019.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "strategies/parallel/parallel.h"
#include "strategies/strategy.h"

namespace simgrad::strategies {

/// The memory of consecutive units on a piece of the pipeline.
struct UnitMemory {
  std::vector<double> parameters;   ///< by unit: how many
  std::vector<double> activations;  ///< by unit: bytes that a micro-batch keeps
  std::vector<double> again;        ///< by unit: bytes beside them while its backward pass is under way
  std::vector<double> states;       ///< by piece: bytes a parameter: weights in all versions, gradient, optimizer
  std::vector<double> in_flight;    ///< by piece: micro-batches that have gone forward and not back
  double copied = 0.0;  ///< parameters of the first unit that the last one needs, too, where another piece has it

  double bytes(std::size_t first_unit, std::size_t end_unit, std::size_t piece) const;
};

/// As firsts_of_pieces has it: the piece with most bytes has as few as possible. Of the cuts with that, one in which
/// the largest cost is least.  costs: by unit.
std::vector<std::int64_t> balanced_by_memory(const UnitMemory& memory, std::span<const double> costs);

/// The memory of a model's units under a strategy on a mesh.  terms: of the whole model and all ranks.
UnitMemory unit_memory(const Strategy& strategy, const Parallel& parallel, const PipelineTable& table,
                       const training::MemoryTerms& terms);

}  // namespace simgrad::strategies
