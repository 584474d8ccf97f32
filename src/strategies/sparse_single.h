/// A sparse model trained by one worker that changes the touched rows in place.
#pragma once

#include "strategies/strategy.h"

namespace simgrad::strategies {

/// Whether it can be: a sparse model without a penalty, whose numbers are computed, and an optimizer that can update
/// rows alone.
bool trains_in_place(const Worker& worker);

/// Step after step the gradient of the batch's keys, and an update of their rows.
/// Virtual time: the gradient's flops, and the optimizer's of the numbers that change.
void train_in_place(Worker& worker);

}  // namespace simgrad::strategies
