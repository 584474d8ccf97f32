/// The length of a run, as far as it is known before the run.
#pragma once

#include <cstdint>
#include <optional>

namespace simgrad::strategies {

struct Circumstances;

/// The number of steps after which a run is over at the latest; nothing where [stop] has neither steps, samples nor
/// epochs.
std::optional<std::int64_t> steps_of_run(const Circumstances& of);

}  // namespace simgrad::strategies
