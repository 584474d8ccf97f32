/// The units of a rank's part of a model, where their parameters are gathered for the passes that read them.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "models/model_part.h"
#include "strategies/parallel/schedules/schedule.h"
#include "training/learning/units.h"

namespace simgrad::strategies {

class PartUnits {
 public:
  /// layers: of the part, which outlives this object.
  PartUnits(const models::ModelPart& part, std::span<const models::Layer> layers);

  /// The units whose parameters that segment reads, ascending, without a tied embedding: ModelUnit::tied has that.
  const std::vector<std::size_t>& read_by(std::size_t chunk, std::size_t segment) const {
    return read_by_[chunk][segment];
  }
  std::size_t of_layer(const models::Layer& layer) const;
  /// The units that a stretch of the part's w is in, and the stretch of each.
  struct Place {
    std::size_t unit;
    std::int64_t first, count;  ///< in the unit
  };
  std::vector<Place> of_parameters(const models::ParameterStretch& stretch) const;
  std::size_t count() const { return units_.size(); }
  std::span<const training::ModelUnit> all() const { return units_; }
  const training::ModelUnit& operator[](std::size_t unit) const { return units_[unit]; }
  /// The visits of a stage that does these tasks.
  training::UnitVisits visits(std::span<const PipelineTask> tasks) const;

 private:
  std::vector<training::ModelUnit> units_;
  std::vector<std::int64_t> numbers_;  ///< Layer::unit, by unit
  std::vector<std::vector<std::vector<std::size_t>>> read_by_;
};

/// The units that are read at one time, as passes go from segment to segment.
class UnitsInUse {
 public:
  /// These units are needed from now on. enter(unit): one that was not; leave(unit): one that is not any longer.
  template <class Enter, class Leave>
  void become(const std::vector<std::size_t>& units, Enter enter, Leave leave) {
    const std::vector<std::size_t> before = std::exchange(units_, units);
    for (const std::size_t unit : before)
      if (std::ranges::find(units, unit) == units.end()) leave(unit);
    for (const std::size_t unit : units)
      if (std::ranges::find(before, unit) == before.end()) enter(unit);
  }
  const std::vector<std::size_t>& all() const { return units_; }

 private:
  std::vector<std::size_t> units_;
};

}  // namespace simgrad::strategies
