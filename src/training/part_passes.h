/// The passes of a micro-batch through the chunks of a rank's part of a cut model.
#pragma once

#include <cstdint>
#include <map>

#include "training/learning/learning.h"
#include "training/memory/pass_memory.h"
#include "values/tensor.h"

namespace simgrad::models {
class ModelPart;
}

namespace simgrad::training {

class Worker;

/// The pieces of a backward pass that are done at one time.
enum class BackwardPiece : unsigned char {
  whole,
  inputs,   ///< the derivatives by what came in, for which the stage before waits; what is computed again counts here
  weights,  ///< the gradients of the parameters
};

/// One micro-batch on one rank. Its work is charged segment by segment.
class PartPasses {
 public:
  /// micro: the rank's share of the step's batch is cut into so many.  step_work: of the step's gradient on this part,
  /// over all micro-batches; for stragglers.
  PartPasses(Worker& worker, std::int64_t step, MicroBatch micro, double step_work);

  std::int64_t rows() const { return rows_; }
  /// Which rows of the training set they are.
  RowSet row_numbers() const;
  /// Virtual time: the flops of the segment's layers / speed, or what the device takes; of a share of this work.
  void forward(std::size_t chunk, std::size_t segment, double share = 1.0);
  /// Whether the backward pass through that segment begins with its unit's forward pass, a second time.
  bool repeats_forward(std::size_t chunk, std::size_t segment) const;
  /// less: a share of the whole backward pass that is left to more(). What is computed again counts here, but a unit as
  /// a whole (repeats_forward): that is up to more().
  void backward(std::size_t chunk, std::size_t segment, BackwardPiece piece, double less = 0.0);
  /// Virtual time: of another share of the segment's work: forward, backward, or forward a second time (recompute).
  void more(std::size_t chunk, std::size_t segment, record::Work kind, double share);
  /// The numbers of a step of the pass.  Virtual time: none.
  values::Tensor run(const CutStep& step, const CutInputs& inputs) const;

 private:
  struct Amount {
    double work = 0.0, flops = 0.0;
  };
  Amount of_segment(std::size_t chunk, std::size_t segment, bool backward) const;
  void charge(double work, double flops, record::Work kind) const;

  Worker& worker_;
  const models::ModelPart& part_;
  Share share_;
  std::int64_t rows_;
  double step_work_;
  PassMemory memory_;
};

}  // namespace simgrad::training
