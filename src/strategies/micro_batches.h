/// Gradient accumulation: a step's rows in several micro-batches, whose gradients are added up before the update.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "strategies/strategy.h"
#include "training/learning/batches.h"

namespace simgrad::strategies {

/// The options `micro_batches` and `no_sync`.
void describe_micro_batches(base::Describer& d, std::int64_t& micro_batches, bool& no_sync);

/// Refuses more micro-batches than the rows of any worker: some would be empty, and sent all the same.
std::optional<Refusal> micro_batches_refusal(std::int64_t micro_batches, const Circumstances& circumstances);

std::vector<training::MicroBatch> micro_batches_of(std::int64_t micro_batches);

/// sum += x; an empty sum becomes x.  Virtual time: a flop a number that is added.
void accumulate(const Worker& worker, Tensor& sum, const Tensor& x);

}  // namespace simgrad::strategies
