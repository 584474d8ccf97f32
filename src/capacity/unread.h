/// Keys of a scenario that its fleet does not depend on, though they are written.
#pragma once

#include <string>
#include <vector>

#include "experiment/plan/plan.h"

namespace simgrad::capacity {

/// A line for each such key of [cluster], with its place: `file:line:column: ...`.  plan: of one run, whose settings
/// have [capacity].
std::vector<std::string> unread_keys(const experiment::Plan& plan);

}  // namespace simgrad::capacity
