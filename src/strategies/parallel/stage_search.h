/// Searches for stages of a pipeline whose largest cost is least.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

namespace simgrad::strategies {

/// The cost of a stage with the units first .. end - 1. It does not fall with more units.
using CostOfStage = std::function<double(std::size_t stage, std::int64_t first, std::int64_t end)>;

/// The largest cost of a stage.  firsts: the first unit of each stage, and behind the last one the number of units.
double largest(const std::vector<std::int64_t>& firsts, const CostOfStage& cost);

/// The cut whose largest cost is least, to a millionth; of those, one whose largest second cost is least, likewise.
/// begin: any cut of these units into stages.
std::vector<std::int64_t> least_largest(const std::vector<std::int64_t>& begin, const CostOfStage& cost,
                                        const CostOfStage& second);

/// Costs by stage, of a cut into pieces: those of stage i are i, stages + i, 2 stages + i, ...
using CostsOfCut = std::function<std::vector<double>(const std::vector<std::int64_t>& firsts)>;

/// A cut whose largest cost is not above that of any of the given ones: from each of them on, a unit goes from the
/// stage with the largest cost to another one as long as that makes the largest one fall.
std::vector<std::int64_t> improved(const std::vector<std::vector<std::int64_t>>& begins, std::size_t stages,
                                   const CostsOfCut& costs);

}  // namespace simgrad::strategies
