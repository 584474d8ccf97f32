/// The stages of a pipeline by dynamic programming over the units of a model.
///
/// With m micro-batches, t_i seconds of stage i for the passes of one of them, and h_i for its hops to the next stage,
/// a step takes about the sum of all t_i + h_i plus (m - 1) times the largest t_i. For each largest time that is
/// allowed, a table has the least sum of the stages up to i with the units up to u; the allowed times are tried from
/// the smallest on, until no larger one can give a shorter step. Source: L. Zheng et al., "Alpa: Automating Inter- and
/// Intra-Operator Parallelism for Distributed Deep Learning", OSDI 2022, section 5; the stage with most work alone: D.
/// Narayanan et al., "PipeDream: Generalized Pipeline Parallelism for DNN Training", SOSP 2019, section 3.1. Unlike
/// Alpa, a stage's devices are given, so that they may be of different kinds: X. Jia et al., "Whale: Efficient Giant
/// Model Training over Heterogeneous GPUs", ATC 2022.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <vector>

namespace simgrad::strategies {

/// Seconds of a micro-batch, forward and back.
struct StageCost {
  static constexpr double impossible = std::numeric_limits<double>::infinity();
  double passes_s = 0.0;  ///< of the stage's devices; `impossible`: they cannot hold these units
  double hops_s = 0.0;    ///< to the next stage and back
};
/// The cost of a stage with the units first .. end - 1.
using CostOfUnits = std::function<StageCost(std::size_t stage, std::int64_t first, std::int64_t end)>;

struct ProgrammedStages {
  std::vector<std::int64_t> firsts;  ///< the first unit of each stage, and behind the last one the number of units
  double step_s = StageCost::impossible;
};

/// The stages with the shortest step, each with one unit at least; no firsts: no cut is possible.  units >= stages.
ProgrammedStages program_stages(std::int64_t units, std::size_t stages, std::int64_t micro_batches,
                                const CostOfUnits& cost);

}  // namespace simgrad::strategies
