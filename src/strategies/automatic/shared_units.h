/// The units of a cut model as each of the ranks that share them has them.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "models/cut_model.h"
#include "training/parts/mesh.h"

namespace simgrad::strategies {

int ranks_among(const models::Shares& shares, models::Among among);

/// One unit as each of the ranks that share it has it.
struct SharedUnit {
  std::vector<models::Layer> layers;
  std::vector<models::Segment> segments;
  std::int64_t parameters = 0;
  std::int64_t of_experts =
      0;                  ///< those that expert ranks have not in common, where sums along `expert` follow the passes
  bool passes_on = true;  ///< whether other units are behind it
  /// By kind of sharing: numbers of each segment's gradient that are added up over these ranks for each gradient.
  std::array<std::vector<double>, models::kinds_of_shares> partial;
};
/// whole: whether one stage has all units, so that the last one has no copy of a matrix tied to the first one's.
/// sums_along: the dimensions along which gradients are not summed within the passes.
std::vector<SharedUnit> units_shared(const models::Model& model, const models::Problem& problem,
                                     const models::Shares& shares, bool whole,
                                     std::span<const training::Dimension> sums_along);

/// The numbers of a rank's copy of the matrix that is tied to the first unit's; 0: none is tied.
double tied_numbers(const models::Model& model, const models::Problem& problem, const models::Shares& shares);

}  // namespace simgrad::strategies
