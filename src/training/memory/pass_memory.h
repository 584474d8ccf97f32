/// The activations and gradients of a worker's passes through the layers.
///
/// Source of recomputation: training/learning/units.h.  A unit that is recomputed keeps what comes in at its entrance;
/// its backward pass begins with all of its activations.
#pragma once

#include <cstdint>
#include <span>

#include "models/model.h"
#include "training/learning/units.h"
#include "training/memory/ledger.h"
#include "training/precision.h"

namespace simgrad::training {

/// Bytes of a sample that a layer keeps from the forward to the backward pass.
double kept_bytes(std::span<const models::Layer> layers, std::size_t layer, Recompute recompute,
                  const NumberBytes& bytes);

/// Tells a ledger what the passes over so many rows hold and release.
class PassMemory {
 public:
  PassMemory(Ledger& ledger, std::span<const models::Layer> layers, Recompute recompute, const NumberBytes& bytes,
             std::int64_t rows, std::int64_t others = 0);

  void forward(std::size_t layer);
  /// The layer's backward pass begins: activations that were not kept are computed again.
  void enter_backward(std::size_t layer);
  /// It ends. keeps: whether its gradient stays until the update.
  void leave_backward(std::size_t layer, bool keeps);
  /// A forward pass through all layers and a backward pass whose gradients stay.
  void go_there_and_back();

 private:
  double kept(std::size_t layer, Recompute recompute) const;

  Ledger& ledger_;
  std::span<const models::Layer> layers_;
  Recompute recompute_;
  NumberBytes bytes_;
  double rows_;
  double others_;           ///< numbers of gradients beside the layers': of tasks that have had their passes
  double gradients_ = 0.0;  ///< of the layers that this backward pass has left, and of those behind where it began,
                            ///< which another chunk of the model has made
  bool left_any_ = false;
};

}  // namespace simgrad::training
