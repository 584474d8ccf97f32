/// Gradient accumulation: a step's rows in several micro-batches, whose gradients are added up before the update.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "strategies/strategy.h"
#include "training/learning/batches.h"

namespace simgrad::strategies {

/// The options `micro_batches` and `no_sync`.  by_units: gradients are reduced unit by unit, so that no_sync also
/// concerns the micro-batches of a mesh ([parallel]).
void describe_micro_batches(base::Describer& d, std::int64_t& micro_batches, bool& no_sync, bool by_units = false);

/// Refuses no_sync by units where a step has one micro-batch.
std::optional<Refusal> no_sync_refusal(std::int64_t micro_batches, bool no_sync, const Circumstances& circumstances);

/// Refuses more micro-batches than the rows of any worker: some would be empty, and sent all the same.
std::optional<Refusal> micro_batches_refusal(std::int64_t micro_batches, const Circumstances& circumstances);

std::vector<training::MicroBatch> micro_batches_of(std::int64_t micro_batches);

/// sum += x; an empty sum becomes x.  Virtual time: a flop a number that is added.
void accumulate(const Worker& worker, Tensor& sum, const Tensor& x);
/// Accumulates gradients that this rank's passes have made.  Virtual time: as above, but none where the passes add them
/// up (Participant::passes_add_up).
void accumulate_own(const Worker& worker, Tensor& sum, const Tensor& x);

}  // namespace simgrad::strategies
