/// When each task of a pipeline's table begins and ends, without a simulation.
#pragma once

#include <span>
#include <vector>

#include "strategies/parallel/schedules/table.h"

namespace simgrad::strategies {

/// Times of one micro-batch on one piece of the model, in any unit.
struct PieceTimes {
  double forward = 1.0;
  double input_backward = 1.0;
  double weight_backward = 1.0;
  double hop = 0.0;  ///< of activations to the next piece, or of their gradients back; both stages may work meanwhile
};

struct TimedTask {
  double start = 0.0;
  double end = 0.0;
};

/// The times of a table. All are in the unit of the pieces' times.
struct TimedTable {
  std::vector<std::vector<TimedTask>> tasks;  ///< by stage, as in the table
  double makespan = 0.0;                      ///< from the first task's start to the last one's end
  /// The longest time from a stage's own first start to its own last end, at most `makespan`. Steps follow each other
  /// at this distance where a stage begins the next step without waiting for the others. The bubbles published for
  /// zb_h2 count this time.
  double period = 0.0;
  double work = 0.0;  ///< of the stage that has the most

  double bubble() const { return makespan - work; }
  /// The bubble between steps that do not wait for each other.
  double steady_bubble() const { return period - work; }
};

/// Every piece of the model takes an equal part of its stage's time, and a hop the whole. times: of one stage.  Returns
/// one entry a piece.
std::vector<PieceTimes> equal_pieces(const PieceTimes& times, const PipelineShape& shape);

/// Each stage does its tasks in order, each as soon as its input is there; hops do not block their sender, and cost
/// nothing between chunks of one stage. times: one entry a piece of the model. The table must have no fault.
TimedTable timed(const PipelineTable& table, const PipelineShape& shape, std::span<const PieceTimes> times);

}  // namespace simgrad::strategies
