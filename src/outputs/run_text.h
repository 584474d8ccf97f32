/// The text of one run's record, written and read fast.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "outputs/results.h"

namespace simgrad::outputs {

/// compact(to_json(run)), made without a tree.
std::string text_of(const Run& run);

/// The run of a text that this release has written: text_of(run). The members are read in the order in which
/// they are written, without a tree, some twenty times as fast as by run_from_json.
/// Nothing for any other text: one with other members, another order, blanks; run_from_json reads it, or tells its
/// fault.
std::optional<Run> run_from_text(std::string_view text);

}  // namespace simgrad::outputs
