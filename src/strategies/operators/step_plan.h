/// A placed step: what each rank does in which order, and the messages between ranks.
///
/// The output of a forward operator goes once to each rank that reads it; a backward operator sends a derivative to
/// each operator that its forward one reads.
#pragma once

#include <compare>
#include <cstddef>
#include <map>
#include <utility>
#include <vector>

#include "models/cut_model.h"
#include "models/operators.h"
#include "strategies/operators/placing.h"
#include "strategies/operators/step_graph.h"

namespace simgrad::strategies {

/// Numbers that one operator makes for others: an output, or the derivatives of a unit's output.
struct StepValue {
  std::size_t maker = 0;  ///< number of the operator
  std::size_t of = 0;     ///< the unit whose output or derivatives it is
  auto operator<=>(const StepValue&) const = default;
};

class StepPlan {
 public:
  StepPlan(std::vector<models::ModelOperator> units, int micro_batches, PlacedSchedule placement);

  const std::vector<models::ModelOperator>& units() const { return units_; }
  const std::vector<std::size_t>& readers(std::size_t unit) const { return readers_[unit]; }
  const StepNumbers& numbers() const { return numbers_; }
  const PlacedSchedule& placement() const { return placement_; }
  int rank_of(std::size_t unit) const { return placement_.device[numbers_.of({unit, 0, false})]; }
  const std::vector<std::size_t>& order(int rank) const { return placement_.order[static_cast<std::size_t>(rank)]; }

  /// The values that one rank sends to another in a step, in that order.
  const std::vector<StepValue>& messages(int from, int to) const;
  /// The ranks to which an operator sends its values: pairs of rank and value, in that order.
  std::vector<std::pair<int, StepValue>> sent_by(std::size_t number) const;

  /// The units of each rank, as stretches of consecutive ones; none on a rank without operators.
  std::vector<std::vector<models::Chunk>> chunks() const;

 private:
  std::vector<models::ModelOperator> units_;
  std::vector<std::vector<std::size_t>> readers_;
  StepNumbers numbers_;
  PlacedSchedule placement_;
  std::map<std::pair<int, int>, std::vector<StepValue>> messages_;
};

}  // namespace simgrad::strategies
