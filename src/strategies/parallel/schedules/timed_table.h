/// When each task of a pipeline's table begins and ends, without a simulation.
#pragma once

#include <span>
#include <vector>

#include "strategies/parallel/schedules/schedule.h"

namespace simgrad::strategies {

struct TimedTask {
  double start = 0.0;
  double end = 0.0;
};

/// The times of a table. All are in the unit of the pieces' times.
struct TimedTable {
  std::vector<std::vector<TimedTask>> tasks;  ///< by stage, as in the table
  double makespan = 0.0;                      ///< from the first task's start to the last one's end
  /// The longest time from a stage's own first start to its own last end. Steps follow each other at this distance
  /// where a stage begins the next step without waiting for the others; it is what the bubbles of zero-bubble
  /// schedules count. At most `makespan`.
  double period = 0.0;
  double work = 0.0;  ///< of the stage that has the most

  double bubble() const { return period - work; }
  double bubble_share() const { return bubble() / period; }
};

/// A piece of the model takes an equal part of its stage's time. times: of one stage.  Returns one entry a piece.
std::vector<PieceTimes> equal_pieces(const PieceTimes& times, const PipelineShape& shape);

/// Each stage does its tasks in order, each as soon as its input is there; hops do not block their sender, and cost
/// nothing between chunks of one stage. times: one entry a piece of the model; `hop` is the time between this piece and
/// the next one, in both directions. The table must have no fault.
TimedTable timed(const PipelineTable& table, const PipelineShape& shape, std::span<const PieceTimes> times);

}  // namespace simgrad::strategies
