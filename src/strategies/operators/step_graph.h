/// The operators of one training step, from those of a model: each forward and backward, on each micro-batch.
///
/// A backward operator reads what the forward one kept, and the derivatives of its output, one from each operator that
/// reads this output; so its edges are the forward ones reversed. It is where the forward operator is, and so are the
/// parameters and their update.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "models/operators.h"
#include "strategies/operators/placing.h"
#include "training/memory/formula.h"

namespace simgrad::strategies {

/// One operator of a step.
struct StepOperator {
  std::size_t unit = 0;  ///< of the model
  int micro = 0;
  bool backward = false;
  bool operator==(const StepOperator&) const = default;
};

/// Numbers the operators of a step: micro-batch by micro-batch, forwards through all units and back.
class StepNumbers {
 public:
  StepNumbers(std::size_t units, int micro_batches) : units_(units), micro_batches_(micro_batches) {}
  std::size_t count() const { return 2 * units_ * static_cast<std::size_t>(micro_batches_); }
  std::size_t of(const StepOperator& op) const {
    const std::size_t first = 2 * units_ * static_cast<std::size_t>(op.micro);
    return first + (op.backward ? 2 * units_ - 1 - op.unit : op.unit);
  }
  StepOperator at(std::size_t number) const;
  int micro_batches() const { return micro_batches_; }
  std::size_t units() const { return units_; }

 private:
  std::size_t units_;
  int micro_batches_;
};

/// The units that read each unit's output.
std::vector<std::vector<std::size_t>> readers_of(const std::vector<models::ModelOperator>& units);

/// Whether the first and the last unit share parameters, so that they must be on one device.
bool tied(const models::Model& model, const models::Problem& problem, std::size_t units);

/// Bytes that a device must have for each unit: parameters, gradients, the optimizer's vectors, and the activations
/// that the unit's forward operators keep on a step's rows.
std::vector<double> memory_of_units(const training::MemoryTerms& terms, const std::vector<models::ModelOperator>& units,
                                    int micro_batches);

/// The costs of a step on the ranks' devices.  terms: with the run's cluster, on whose host r rank r lives.
PlacementProblem step_problem(const training::MemoryTerms& terms, const std::vector<models::ModelOperator>& units,
                              int micro_batches);

}  // namespace simgrad::strategies
