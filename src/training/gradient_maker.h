/// Gradients that a rank makes together with others: those that hold the other parts of a model, or the other devices
/// of a worker.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "training/learning/batches.h"
#include "values/tensor.h"

namespace simgrad::models {
struct Layer;
struct ParameterStretch;
}  // namespace simgrad::models

namespace simgrad::training {

class SparseLearning;
struct SparseBatch;
struct TaskTurn;
class UnitVisitor;
class UnitVisits;

/// Called with each layer whose gradient is complete; g has its stretch in its place.
using LayerReady = std::function<void(const values::Tensor& g, const models::Layer& layer)>;

class GradientMaker {
 public:
  virtual ~GradientMaker() = default;
  /// This rank's part of the gradient over a micro-batch of the worker's share of that step.  ready: as
  /// Worker::gradient has it; may be null.
  virtual values::Tensor gradient(const values::Tensor& w, std::int64_t step, MicroBatch micro,
                                  const LayerReady& ready) = 0;
  /// Makes such a gradient with the parameters that the visitor has. It completes a unit's gradient once all ranks of
  /// the replica have given theirs.
  virtual void gradient(UnitVisitor& visitor, std::int64_t step, MicroBatch micro) = 0;
  virtual UnitVisits unit_visits() const = 0;

  // The other products of passes over rows: as Worker has them. Only of a worker of several devices.

  virtual values::Tensor assignments(const values::Tensor& w, std::int64_t step);
  virtual values::Tensor task_gradient(const values::Tensor& w, const TaskTurn& turn);
  virtual values::Tensor sparse_gradient(const SparseLearning& learning,
                                         const std::shared_ptr<const SparseBatch>& batch, const values::Tensor& at,
                                         const values::Tensor& replica);

  /// The sum of squares of the whole model's gradient, each parameter counted once.  g: this rank's part of it.
  /// of_shards: (1), that of this part where g is a shard of it; else nothing.  Returns (1); nothing: the sum is that
  /// of g.
  virtual values::Tensor squares(const values::Tensor& g, const values::Tensor& of_shards) const = 0;
  /// The stretches of this part's w that another rank counts in that sum, ascending.
  virtual std::vector<models::ParameterStretch> counted_elsewhere() const = 0;
  /// Whether a gradient is that of several micro-batches, which the rank adds up, unless a visitor takes each: it has
  /// that of all its parameters in memory meanwhile, and gives it up unit by unit in the last one.
  virtual bool adds_up_micro_batches() const = 0;
};

}  // namespace simgrad::training
