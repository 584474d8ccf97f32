/// The passes of a worker through a model, unit by unit, for strategies that do something between the units.
#pragma once

#include <cstdint>

#include "training/learning/batches.h"
#include "training/learning/units.h"
#include "training/memory/pass_memory.h"
#include "values/tensor.h"

namespace simgrad::training {

class Worker;

/// One micro-batch of the worker's next step. Forwards through all units, then backwards from the last to the first.
class Passes {
 public:
  /// Blocks until the rows have been read. The last micro-batch completes the step's batch.
  Passes(Worker& worker, MicroBatch micro);

  /// Virtual time: the unit's flops / speed, for the rows of the micro-batch.
  void forward(const ModelUnit& unit);
  /// Likewise, with the flops that compute its activations again.
  void backward(const ModelUnit& unit);
  /// The worker's part of the gradient of the step's mean loss over these rows. The parts of all micro-batches add up.
  /// w: (d).  Returns (d).  Virtual time: none.
  values::Tensor gradient(const values::Tensor& w) const;

 private:
  Worker& worker_;
  Share share_;
  std::int64_t rows_;  ///< of the micro-batch
  double step_work_;   ///< of the step's gradient
  PassMemory memory_;
};

}  // namespace simgrad::training
