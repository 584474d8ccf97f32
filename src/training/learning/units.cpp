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

bool recomputed_as_a_whole(std::span<const models::Layer> layers, std::size_t layer, bool passes_on) {
  const std::int64_t unit = layers[layer].unit;
  if (unit == layers.back().unit) return passes_on && layer + 1 == layers.size();
  return layers[layer + 1].unit != unit;
}

double recomputed_flops(std::span<const models::Layer> layers, std::size_t layer, Recompute recompute, bool passes_on) {
  if (recompute == Recompute::none) return 0.0;
  if (recompute == Recompute::selective) return layers[layer].selective_flops;
  if (!recomputed_as_a_whole(layers, layer, passes_on)) return 0.0;
  const std::int64_t unit = layers[layer].unit;
  double flops = 0.0;
  for (std::size_t i = layer + 1; i-- > 0 && layers[i].unit == unit;) flops += layers[i].forward_flops;
  return flops;
}

double weight_flops(const models::Layer& layer) {
  if (!of_both_factors(layer)) return layer.backward_flops;
  if (layer.products.empty()) return layer.backward_flops / 2.0;
  double flops = 0.0;
  for (const models::Product& product : layer.products) flops += product.parameters ? product.flops() : 0.0;
  return flops;
}

}  // namespace simgrad::training
