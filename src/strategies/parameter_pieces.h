/// Parts of a vector of parameters: the stretches that some tasks have.
#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "models/task_model.h"
#include "values/tensor.h"

namespace simgrad::strategies {

/// The number of parameters in these stretches.
std::int64_t length(std::span<const models::ParameterRange> stretches);

/// Stretches of parameters, with their numbers.
using ParameterPieces = std::vector<std::pair<models::ParameterRange, values::Tensor>>;
/// The stretches of w, one after the other in one vector.
values::Tensor gathered(const values::Tensor& w, std::span<const models::ParameterRange> stretches);
/// Adds the numbers of such a vector to the pieces.
void scatter(const values::Tensor& numbers, std::span<const models::ParameterRange> stretches, ParameterPieces& pieces);
/// w with the pieces in place of its own numbers there.
values::Tensor replaced(const values::Tensor& w, ParameterPieces pieces);

}  // namespace simgrad::strategies
