/// The tables of a mesh's stages: of a step, and of as much of one as their memory depends on.
#pragma once

#include <cstdint>

#include "strategies/parallel/parallel.h"

namespace simgrad::strategies {

/// The table of the mesh's stages. An asynchronous schedule's stands for a stream of micro-batches, of which some are
/// enough.
PipelineTable table_of(const Parallel& parallel);

/// The micro-batches of an asynchronous schedule's stream that fill every stage, twice.
int enough_of_stream(const PipelineShape& shape);

/// As many micro-batches as a stage needs to be as full as it is with those of a step: behind the first ones, each
/// takes the room of one that is done. All of them, where a stage holds all at a time.
std::int64_t enough_micro_batches(const Parallel& parallel);
/// The table of a step with so many.
PipelineTable table_for_memory(const Parallel& parallel);

}  // namespace simgrad::strategies
