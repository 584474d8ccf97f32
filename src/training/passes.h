/// The passes of a worker through a model, unit by unit, for strategies that do something between the units.
#pragma once

#include <cstddef>
#include <cstdint>

#include "training/learning/batches.h"
#include "training/learning/units.h"
#include "training/memory/pass_memory.h"
#include "values/tensor.h"

namespace simgrad::training {

class Worker;

/// The actions of a strategy while passes go from unit to unit: it gathers parameters, and takes gradients.
class UnitVisitor {
 public:
  virtual ~UnitVisitor() = default;

  /// A pass is about to read the unit's parameters. Blocks until they are there.
  virtual void enter(std::size_t unit) = 0;
  /// The pass has read them.
  virtual void leave(std::size_t unit) = 0;
  /// The parameters of a unit that has been entered.  Returns (ModelUnit::count).
  virtual values::Tensor parameters(std::size_t unit) const = 0;
  /// Whether it takes the gradient of every micro-batch that a rank of a mesh has in a step; false: their sum, with the
  /// last one.
  virtual bool takes_each_micro_batch() const { return false; }
  /// The backward pass is about to make the unit's gradient. Not called by passes that keep the gradient of all
  /// parameters (Worker::adds_up_micro_batches, where the visitor does not take each).
  virtual void make_gradient(std::size_t unit) = 0;
  /// The unit's gradient over the micro-batch is complete.  g: (d), with the unit's stretch in its place.
  virtual void complete(std::size_t unit, const values::Tensor& g) = 0;
};

/// One micro-batch of this device's share of a step. Forwards through all units, then backwards from the last to the
/// first.
class Passes {
 public:
  /// Blocks until the rows have been read.
  Passes(Worker& worker, std::int64_t step, MicroBatch micro);

  void run(UnitVisitor& visitor);

 private:
  /// Virtual time: the unit's flops / speed, for the rows of the micro-batch.
  void forward(const ModelUnit& unit);
  /// Virtual time: as of `forward`, with the flops that compute the unit's activations again.
  void backward(const ModelUnit& unit);
  /// The worker's part of the gradient of the step's mean loss over these rows. The parts of all micro-batches add up.
  /// w: (d).  Returns (d).  Virtual time: none.
  values::Tensor gradient(const values::Tensor& w) const;

  Worker& worker_;
  Share share_;
  std::int64_t rows_;  ///< of the micro-batch
  double step_work_;   ///< of the step's gradient
  PassMemory memory_;
};

}  // namespace simgrad::training
