/// The units of a model: stretches of layers whose parameters are gathered together, and whose activations are
/// recomputed together.
///
/// Source of recomputation: T. Chen et al., "Training Deep Nets with Sublinear Memory Cost", 2016; selective:
/// V. Korthikanti et al., "Reducing Activation Recomputation in Large Transformer Models", MLSys 2023.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "models/model.h"

namespace simgrad::training {

/// The activations that the backward pass computes a second time instead of keeping them.
enum class Recompute {
  none,
  selective,  ///< those that are large and cheap: Layer::selective
  full        ///< all of a unit, from what comes in at its entrance
};

/// Layers first_layer .. first_layer + layers - 1, and their parameters.
struct ModelUnit {
  std::int64_t first = 0;  ///< where its parameters begin in w
  std::int64_t count = 0;
  std::size_t first_layer = 0;
  std::size_t layers = 0;
  std::int64_t tied = 0;    ///< Layer::tied of its last layer: parameters of the first unit that its passes read, too
  std::int64_t begins = 0;  ///< gradients_begun of its layers
};

/// The units of these layers, in forward order.
std::vector<ModelUnit> units_of(std::span<const models::Layer> layers);

/// The numbers of gradients that are in memory from this layer's backward pass on: its own, and those of a tied
/// embedding, which the head makes, and which the embedding adds to.
std::int64_t gradients_begun(std::span<const models::Layer> layers, std::size_t layer);

/// The units that the passes of a gradient go to, one after the other, where a pass reads the parameters of one unit at
/// a time. Pass k is the k-th visit.
class UnitVisits {
 public:
  /// in_use: of each visit, how many units the pass reads that it belongs to: those of the last visits.
  UnitVisits(std::vector<std::size_t> units, std::vector<std::size_t> in_use);
  /// One micro-batch: forwards through so many units, then backwards.
  static UnitVisits there_and_back(std::size_t units);

  std::size_t count() const { return units_.size(); }
  std::size_t operator[](std::size_t visit) const { return units_[visit]; }
  /// Whether it is the unit's first visit of all; its last one.
  bool first(std::size_t visit) const { return first_[visit]; }
  bool last(std::size_t visit) const { return last_[visit]; }
  bool visited(std::size_t unit) const;
  /// The numbers that are gathered for a visit, if any are: its unit's, and those of a tied embedding, unless the
  /// embedding's unit stays in memory.  again: every visit gathers its unit, which is dropped behind it; false: the
  /// first visit alone.
  std::int64_t gathered(std::size_t visit, bool again, std::span<const ModelUnit> units) const;
  /// For each visit the first one behind it whose unit is not gathered yet while it goes on, where at most `limit`
  /// units are gathered at a time, those in use included. Parameters that are in memory are gathered again once they
  /// have been dropped. Units without parameters take no place in the limit.
  std::vector<std::size_t> ends_of_gathers(std::size_t limit, bool again, std::span<const ModelUnit> units) const;

 private:
  std::vector<std::size_t> units_, in_use_;
  std::vector<bool> first_, last_;
};

/// Whether full recomputation computes the layer's unit again before the backward pass through this layer: its last.
bool recomputed_as_a_whole(std::span<const models::Layer> layers, std::size_t layer, bool passes_on);

/// A sample's flops that the backward pass through that layer begins with: those of its unit's forward pass in the
/// unit's last layer, or those of the layer's selective part. The last unit has its activations still where nothing
/// comes between its forward and its backward pass.  passes_on: other ranks have the layers behind, so that much comes.
double recomputed_flops(std::span<const models::Layer> layers, std::size_t layer, Recompute recompute,
                        bool passes_on = false);

/// Whether the backward pass has the gradients of both factors of a product by parameters: of the first layer only that
/// of the parameters is wanted.
inline bool of_both_factors(const models::Layer& layer) { return layer.backward_flops > 1.5 * layer.forward_flops; }

/// A sample's flops of Layer::backward_flops that are for the gradients of the parameters.
double weight_flops(const models::Layer& layer);

}  // namespace simgrad::training
