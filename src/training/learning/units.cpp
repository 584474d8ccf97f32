#include "training/learning/units.h"

#include <algorithm>
#include <utility>

namespace simgrad::training {

std::vector<ModelUnit> units_of(std::span<const models::Layer> layers) {
  std::vector<ModelUnit> units;
  for (std::size_t i = 0; i < layers.size(); ++i) {
    if (i == 0 || layers[i].unit != layers[i - 1].unit) units.push_back({.first = layers[i].first, .first_layer = i});
    units.back().count += layers[i].count;
    ++units.back().layers;
    units.back().tied = layers[i].tied;
    units.back().begins += gradients_begun(layers, i);
  }
  return units;
}

std::int64_t gradients_begun(std::span<const models::Layer> layers, std::size_t layer) {
  const std::int64_t made_by_head = layer == 0 ? layers.back().tied : 0;
  return layers[layer].count + layers[layer].tied - made_by_head;
}

UnitVisits::UnitVisits(std::vector<std::size_t> units, std::vector<std::size_t> in_use)
    : units_(std::move(units)), in_use_(std::move(in_use)), first_(units_.size()), last_(units_.size()) {
  const std::size_t known = units_.empty() ? 0 : std::ranges::max(units_) + 1;
  const auto mark = [&](std::vector<bool>& marks, std::size_t visit, std::vector<bool>& seen) {
    marks[visit] = !seen[units_[visit]];
    seen[units_[visit]] = true;
  };
  std::vector<bool> before(known), behind(known);
  for (std::size_t k = 0; k < count(); ++k) mark(first_, k, before);
  for (std::size_t k = count(); k-- > 0;) mark(last_, k, behind);
}

UnitVisits UnitVisits::there_and_back(std::size_t units) {
  std::vector<std::size_t> all(2 * units);
  for (std::size_t u = 0; u < units; ++u) all[u] = all[all.size() - 1 - u] = u;
  std::vector<std::size_t> one_at_a_time(all.size(), 1);
  return {std::move(all), std::move(one_at_a_time)};
}

std::int64_t UnitVisits::gathered(std::size_t visit, bool again, std::span<const ModelUnit> units) const {
  const ModelUnit& unit = units[units_[visit]];
  return unit.count + (again || !visited(0) ? unit.tied : 0);
}

bool UnitVisits::visited(std::size_t unit) const { return std::ranges::find(units_, unit) != units_.end(); }

std::vector<std::size_t> UnitVisits::ends_of_gathers(std::size_t limit, bool again,
                                                     std::span<const ModelUnit> units) const {
  std::vector<std::size_t> ends;
  for (std::size_t visit = 0; visit < count(); ++visit) {
    std::vector<bool> in_memory(units.size());
    std::size_t places = limit, end = visit + 1 - in_use_[visit];
    for (; end < count(); ++end) {
      const std::size_t unit = units_[end];
      const bool tied = units[unit].tied > 0;
      if (units[unit].count == 0 && !tied) continue;
      const bool beside_itself = again && (in_memory[unit] || (tied && in_memory.front()));
      if (end > visit && (places == 0 || beside_itself)) break;
      if (places > 0) --places;
      in_memory[unit] = true;
      if (tied) in_memory.front() = true;
    }
    ends.push_back(end);
  }
  return ends;
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
  if (layer.count == 0 && layer.products.empty()) return 0.0;
  if (!of_both_factors(layer)) return layer.backward_flops;
  if (layer.products.empty()) return layer.backward_flops / 2.0;
  double flops = 0.0;
  for (const models::Product& product : layer.products) flops += product.parameters ? product.flops() : 0.0;
  return flops;
}

}  // namespace simgrad::training
