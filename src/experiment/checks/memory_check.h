/// The check that a run's ranks fit into the memory of their devices.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "experiment/plan/settings.h"
#include "training/memory/formula.h"

namespace simgrad::experiment {

/// cluster.memory, or the least of the workers' devices; none: not known.
std::optional<double> device_memory_bytes(const Settings& settings);

/// The facts that the memory of that strategy's workers depends on, before the cluster is built.  problem: outlives
/// them.
training::MemoryTerms memory_terms(const Settings& settings, const strategies::Strategy& strategy,
                                   const models::Problem& problem, std::int64_t rows);

/// The memory that a worker of that strategy needs at its fullest.  rows: of the training set.
double worker_memory_bytes(const Settings& settings, const strategies::Strategy& strategy,
                           const models::Problem& problem, std::int64_t rows);

/// The nearest changes that make a worker fit into so many bytes, each with the memory that it then needs:
/// "parallel.pipeline = 8 (30 GB)".  rows: as above.
std::vector<std::string> changes_to_fit(const Settings& settings, const strategies::Strategy& strategy,
                                        const models::Problem& problem, std::int64_t rows, double limit_bytes);

/// The reason why a worker or a server of that strategy does not fit into its device, with the sum by term and the
/// nearest changes that make it fit; or empty.  rows: of the training set.
std::string memory_refusal(const Settings& settings, const strategies::Strategy& strategy,
                           const models::Problem& problem, std::int64_t rows);

/// The reason why training.recompute has nothing to recompute with that model, or under a strategy of that kind; or
/// empty.
std::string recompute_refusal(const Settings& settings, const models::Problem& problem, std::string_view strategy_kind);

}  // namespace simgrad::experiment
