/// Changes of [parallel] that make a rank fit into the memory of its device.
#pragma once

#include <string>
#include <vector>

#include "strategies/parallel/on_mesh.h"
#include "training/memory/formula.h"

namespace simgrad::experiment {

/// Each change by itself, from its smallest value on, with the memory that a rank then needs: "parallel.pipeline = 8
/// (30 GB)". Only those that are enough, and that the model and the batch allow on as many workers.
std::vector<std::string> mesh_changes_that_fit(const strategies::OnMesh& strategy, const training::MemoryTerms& terms,
                                               double limit_bytes);

}  // namespace simgrad::experiment
