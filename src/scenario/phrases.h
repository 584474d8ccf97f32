/// Phrases about options that faults and listings share.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/describe.h"

namespace simgrad::scenario {

/// "at least 1", "above 0", "from 0 to 1"; empty if every value is allowed. With a unit the limits are written as
/// quantities.
std::string range(const base::Bounds& bounds, std::optional<base::Unit> unit = {});

std::vector<std::string> names(std::span<const base::Choice> choices);
std::vector<std::string> names(const base::AnySlot& slot);

/// "one of ring, tree"
std::string one_of(std::span<const std::string> names);

}  // namespace simgrad::scenario
