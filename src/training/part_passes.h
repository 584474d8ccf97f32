/// The passes of a micro-batch through the chunks of a rank's part of a cut model.
#pragma once

#include <cstdint>
#include <map>

#include "models/cut_model.h"
#include "training/learning/learning.h"
#include "training/learning/rank_work.h"
#include "training/memory/pass_memory.h"
#include "values/tensor.h"

namespace simgrad::training {

class Worker;

/// The pieces of a backward pass that are done at one time.
enum class BackwardPiece : unsigned char {
  whole,
  inputs,   ///< the derivatives by what came in, for which the stage before waits; what is computed again counts here
  weights,  ///< the gradients of the parameters
};

/// The work of some of a segment's layers.
struct SegmentWork {
  record::Work kind = record::Work::forward;  ///< or backward, weights, forward a second time (recompute)
  BackwardPiece piece = BackwardPiece::whole;
  std::size_t first = 0, end = models::Step::all_layers;  ///< the layers, in the order of the pass
  /// A share of the whole work of the segment's first layer in this direction, which is left to more().
  double less = 0.0;
};

/// The rows of a micro-batch.
struct PassRows {
  std::int64_t step = 0;
  int share = 0;          ///< of the step's, of Participant::replicas()
  MicroBatch micro = {};  ///< of the share
  std::int64_t turn = 0;  ///< the rank's gradient that it is a part of, for stragglers
  InStep in_step = {};    ///< the pass among the rank's passes of the step
};

/// One micro-batch on one rank. A pass enters a segment, computes its layers in their order, and leaves it.
class PartPasses {
 public:
  /// turn_work: of the gradient on this part, over all of its micro-batches; for stragglers.
  PartPasses(Worker& worker, const PassRows& rows, double turn_work);

  std::int64_t rows() const { return rows_; }
  /// Which rows of the training set they are.
  RowSet row_numbers() const;
  /// The tokens of a sample that the rank's experts take in the segment where the router deals them evenly; 0: it has
  /// no experts, or pads them.
  double expert_tokens(std::size_t chunk, std::size_t segment) const;
  /// The segment's experts take so many tokens of the micro-batch, and work in proportion from now on.
  void take_tokens(std::size_t chunk, std::size_t segment, double tokens);
  /// The segment's activations are in memory from now on.
  void enter_forward(std::size_t chunk, std::size_t segment);
  /// The activations that are computed again are in memory, too.  Virtual time: of these, but of a unit as a whole
  /// (repeats_forward).
  void enter_backward(std::size_t chunk, std::size_t segment);
  /// The segment's gradients are made, and its activations are dropped.
  void leave_backward(std::size_t chunk, std::size_t segment);
  /// Virtual time: the flops of the layers / speed, or the time that the device takes.
  void compute(std::size_t chunk, std::size_t segment, const SegmentWork& work);
  /// Virtual time: of a share of the work of the segment's first layer.
  void more(std::size_t chunk, std::size_t segment, record::Work kind, double share);
  /// The seconds that more() takes from now on, where the rank does nothing else.
  double more_s(std::size_t chunk, std::size_t segment, record::Work kind, double share) const;
  /// Computes the gradients of the segment's parameters, and leaves it.
  void make_weights(std::size_t chunk, std::size_t segment);
  /// Whether the backward pass through that segment begins with its unit's forward pass, a second time.
  bool repeats_forward(std::size_t chunk, std::size_t segment) const;
  /// The numbers of a step of the pass.  Virtual time: none.
  values::Tensor run(const CutStep& step, const CutInputs& inputs) const;

 private:
  struct Amount {
    double work = 0.0, flops = 0.0;
  };
  std::size_t first_layer(std::size_t chunk, std::size_t segment) const;
  std::size_t layers(std::size_t chunk, std::size_t segment) const;
  Amount of_layer(std::size_t layer, record::Work kind, BackwardPiece piece) const;
  void charge(double work, double flops, record::Work kind) const;

  Worker& worker_;
  const models::ModelPart& part_;
  Share share_;
  std::int64_t rows_;
  std::int64_t turn_;
  double turn_work_;
  RankWork work_;
  PassMemory memory_;
  std::map<std::size_t, models::Layer> by_tokens_ = {};  ///< layers of experts whose tokens are known
};

}  // namespace simgrad::training
