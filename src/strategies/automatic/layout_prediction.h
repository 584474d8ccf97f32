/// The time of a step under a layout of a model on a mesh of ranks, predicted without a simulation.
///
/// A stage takes, for a micro-batch, the passes of its units with their exchanges (unit_times.h). The schedule's table
/// with these times and the hops between stages gives the end of each stage; behind it stand the sums of parameters
/// that ranks of a replica share, the sum of the gradients among replicas as a ring, and the update. Strategies that
/// exchange less often are predicted as though they summed gradients once a step. Messages have the links to
/// themselves, but for those that all ranks of a stage send at one time, and take latency + bytes / bandwidth, as
/// network_model "ideal" has it. Neither stragglers nor failures count.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <tuple>
#include <vector>

#include "strategies/automatic/layout_times.h"
#include "strategies/strategy.h"

namespace simgrad::strategies {

struct PredictedLayout {
  Parallel parallel;  ///< with all sizes; `stages` too where the model is cut into stages
  std::int64_t data = 1;
  double step_s = 0.0;       ///< the sum of the five that follow
  double computing_s = 0.0;  ///< of the stage with most passes
  double exchanges_s = 0.0;  ///< of that stage, among ranks that share units
  double waiting_s = 0.0;    ///< for other stages, hops included
  double sums_s = 0.0;       ///< of gradients, behind the passes
  double update_s = 0.0;
  /// The need of the rank that needs the largest part of its device's memory; 0: memory was not looked at.
  double memory_bytes = 0.0;
};

class LayoutPredictor {
 public:
  /// whole: of the whole model and all ranks, with the run's cluster; it and the strategy outlive this object.
  LayoutPredictor(const Strategy& strategy, const training::MemoryTerms& whole);

  /// programs: whether stages are dealt by dynamic programming (stage_program.h), in place of `stages` or `balance`.
  /// Memory is not looked at.
  PredictedLayout predict(const Parallel& parallel, bool programs);
  /// Returns the layout itself if its stages fit into memory, or the fastest one found with the same sizes whose stages
  /// do; sets `memory_bytes`. Where stages are divided by the program, units then go to the neighbouring stage as long
  /// as that makes the step shorter.  Nothing: none is found.
  std::optional<PredictedLayout> fitting(PredictedLayout layout, bool programs);

 private:
  /// Units that are too much for a stage.
  struct TooMuch {
    std::size_t stage;
    std::int64_t first, end;
  };
  using Firsts = std::vector<std::int64_t>;

  LayoutTimes times_of_layout(const Parallel& parallel);
  Firsts programmed(const LayoutTimes& times, const std::vector<TooMuch>& too_much) const;
  PredictedLayout timed_with(const LayoutTimes& times, const Firsts& firsts) const;
  bool holds_states(const LayoutTimes& times) const;
  PredictedLayout improved(PredictedLayout layout, const LayoutTimes& times) const;
  std::vector<TooMuch> too_full(PredictedLayout& layout, const LayoutTimes& times) const;

  const Strategy& strategy_;
  const training::MemoryTerms& whole_;
  ConcurrentMessages messages_;
  std::map<std::tuple<std::int64_t, bool, std::int64_t, std::int64_t, bool>, std::vector<SharedUnit>> units_;
};

}  // namespace simgrad::strategies
