/// A sparse model trained by one worker that updates the touched rows of one table.
#pragma once

#include "strategies/strategy.h"

namespace simgrad::strategies {

/// Whether rows can be updated alone: a sparse model without a penalty, whose numbers are computed, and an optimizer
/// that can do so.
bool updates_rows(const Worker& worker);

/// Computes step after step the gradient of the batch's keys, and updates their rows.
/// Virtual time: the gradient's flops, and the optimizer's flops on the numbers that change.
void train_by_rows(Worker& worker);

}  // namespace simgrad::strategies
