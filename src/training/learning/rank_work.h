/// A rank's work as flops at the nominal speed of its host, so that stragglers, slow hosts and shared cores stretch it.
#pragma once

#include <optional>

#include "training/learning/layer_times.h"
#include "training/learning/units.h"

namespace simgrad::training {

/// A pass's place among those of a step on its rank.
struct InStep {
  bool first = true;  ///< no pass of the step has read the parameters before
  bool adds = false;  ///< the rank keeps the gradient of earlier passes of the step, to which this one adds its own
};

/// The work of gradients. Without a device and without measured layers it is the flops themselves; else it is the
/// seconds that the layers take, times the speed. It is charged, and the flops are what the record counts.
class RankWork {
 public:
  /// device: the host's; null: it has none.  layers must outlive it.  speed: flop/s of the host.  passes_on: whether
  /// other ranks have the layers behind (recomputed_flops).  passes: on a device.
  RankWork(std::span<const models::Layer> layers, const cluster::Device* device, Precision precision, double speed,
           Recompute recompute = Recompute::none, bool passes_on = false, const ParameterPasses& passes = {});

  /// The work of a gradient over so many rows, which has so many flops.
  double gradient(double flops, std::int64_t rows) const;
  /// The work of the forward pass through all layers; of the two passes through one layer, the backward pass with what
  /// it computes again.
  double forward(std::int64_t rows) const;
  double forward(std::size_t layer, std::int64_t rows) const;
  double backward(std::size_t layer, std::int64_t rows) const;
  /// The work of a layer's forward pass that is repeated to recompute.
  double again(std::size_t layer, std::int64_t rows) const { return again(layers_[layer], rows); }
  /// Two parts of the work of a layer's backward pass: what is computed again, and the gradients of the parameters.
  double recomputed(std::size_t layer, std::int64_t rows) const;
  double weights(std::size_t layer, std::int64_t rows) const;
  /// The work of a layer that stands in the place of one of these: forwards; its recomputation; backwards without that;
  /// and the gradients of the parameters.
  double forward(const models::Layer& layer, std::int64_t rows) const { return forward(layer, rows, times_); }
  double again(const models::Layer& layer, std::int64_t rows) const { return forward(layer, rows, again_); }
  double backward(const models::Layer& layer, std::int64_t rows) const;
  double weights(const models::Layer& layer, std::int64_t rows) const;
  const models::Layer* layers() const { return layers_.data(); }
  const ParameterPasses& passes() const { return passes_; }
  /// The seconds of a gradient by kind, where a device says how long a layer takes; else zeros. What is computed again
  /// in the backward pass belongs to its kind, and that of selective recomputation to attention.
  KindTimes by_kind(std::int64_t rows) const;
  /// The work of flops that are no gradient of the layers.
  double of_flops(double flops) const { return times_ ? times_->flops_s(flops) * speed_ : flops; }

 private:
  double backward(std::int64_t rows) const;
  double forward(const models::Layer& layer, std::int64_t rows, const std::optional<LayerTimes>& times) const;

  std::span<const models::Layer> layers_;
  std::optional<LayerTimes> times_, again_;  ///< of passes, and of forward passes that are repeated; none: no device
  bool by_layer_;                            ///< whether a device or a measured layer says how long a layer takes
  double speed_;
  Recompute recompute_;
  bool passes_on_;
  ParameterPasses passes_;
};

}  // namespace simgrad::training
