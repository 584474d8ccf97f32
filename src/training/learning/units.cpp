#include "training/learning/units.h"

namespace simgrad::training {

std::vector<ModelUnit> units_of(std::span<const models::Layer> layers) {
  std::vector<ModelUnit> units;
  for (std::size_t i = 0; i < layers.size(); ++i) {
    if (i == 0 || layers[i].unit != layers[i - 1].unit) units.push_back({.first = layers[i].first, .first_layer = i});
    units.back().count += layers[i].count;
    ++units.back().layers;
  }
  return units;
}

double recomputed_flops(std::span<const models::Layer> layers, std::size_t layer, Recompute recompute) {
  if (recompute == Recompute::none) return 0.0;
  if (recompute == Recompute::selective) return layers[layer].selective_flops;
  const std::int64_t unit = layers[layer].unit;
  if (unit == layers.back().unit || layers[layer + 1].unit == unit) return 0.0;
  double flops = 0.0;
  for (std::size_t i = layer + 1; i-- > 0 && layers[i].unit == unit;) flops += layers[i].forward_flops;
  return flops;
}

}  // namespace simgrad::training
