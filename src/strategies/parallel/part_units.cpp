#include "strategies/parallel/part_units.h"

#include "base/errors.h"

namespace simgrad::strategies {

PartUnits::PartUnits(const models::ModelPart& part, std::span<const models::Layer> layers)
    : units_(training::units_of(layers)) {
  for (const training::ModelUnit& unit : units_) numbers_.push_back(layers[unit.first_layer].unit);
  for (const models::PlacedChunk& chunk : part.chunks()) {
    std::vector<std::vector<std::size_t>>& of_chunk = read_by_.emplace_back();
    for (const std::vector<models::ParameterStretch>& stretches : chunk.parameters) {
      std::vector<std::size_t>& units = of_chunk.emplace_back();
      for (const models::ParameterStretch& stretch : stretches)
        for (const Place& place : of_parameters(stretch)) units.push_back(place.unit);
      std::ranges::sort(units);
      units.erase(std::ranges::unique(units).begin(), units.end());
      if (units.size() > 1 && units_[units.back()].tied > 0) units.erase(units.begin());
    }
  }
}

std::size_t PartUnits::of_layer(const models::Layer& layer) const {
  return static_cast<std::size_t>(std::ranges::lower_bound(numbers_, layer.unit) - numbers_.begin());
}

std::vector<PartUnits::Place> PartUnits::of_parameters(const models::ParameterStretch& stretch) const {
  std::vector<Place> places;
  const auto behind = std::ranges::upper_bound(units_, stretch.first, {}, &training::ModelUnit::first);
  std::int64_t left = stretch.count;
  for (auto unit = static_cast<std::size_t>(behind - units_.begin()) - 1; left > 0; ++unit) {
    base::check(unit < units_.size(), "a segment's parameters are those of units");
    const std::int64_t first = std::max<std::int64_t>(stretch.first - units_[unit].first, 0);
    const std::int64_t count = std::min(left, units_[unit].count - first);
    if (count > 0) places.push_back({unit, first, count});
    left -= std::max<std::int64_t>(count, 0);
  }
  return places;
}

training::UnitVisits PartUnits::visits(std::span<const PipelineTask> tasks) const {
  std::vector<std::size_t> all, in_use;  // units, and how many of them are read by one pass
  UnitsInUse units_of_pass;
  std::size_t now = 0;
  const auto need = [&](const std::vector<std::size_t>& units) {
    const auto enter = [&](std::size_t unit) {
      all.push_back(unit);
      in_use.push_back(++now);
    };
    units_of_pass.become(units, enter, [&](std::size_t) { --now; });
  };
  for (const PipelineTask& task : tasks) {
    if (task.piece == Piece::weight_backward) continue;  // it reads activations and derivatives alone
    const auto& segments = read_by_[static_cast<std::size_t>(task.chunk)];
    for (std::size_t i = 0; i < segments.size(); ++i)
      need(segments[task.piece == Piece::forward ? i : segments.size() - 1 - i]);
    need({});
  }
  return {std::move(all), std::move(in_use)};
}

}  // namespace simgrad::strategies
