/// The invariants of every run's record, whatever its strategy: a file that violates one was not left by a run.
#pragma once

#include <string>

#include "record/record.h"

namespace simgrad::record {

/// The first field that is not as a run leaves it, with what was found and what was expected; or empty.
/// Times are none below 0, and a rank's four parts add up to the run's time; shares lie between 0 and 1; the curve goes
/// forward to the last step; places are those of ranks and hosts that are there.
std::string violated_invariant(const Record& record);

}  // namespace simgrad::record
