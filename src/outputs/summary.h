/// What a run amounts to, in scalars: the fields that results.json and runs.csv share.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "outputs/results.h"

namespace simgrad::outputs {

/// Of results.json: another one could not be read by what reads this one.
inline constexpr int schema = 1;

/// Null unless there is a number that JSON can say.
nlohmann::ordered_json number_or_null(std::optional<double> value);

/// JSON on one line.  Bytes that are not UTF-8 (a file name in an error, say) become U+FFFD: a record is never lost for
/// its spelling.  Doubles are written so that they read back to the same bits.
std::string compact(const nlohmann::ordered_json& json);

/// A worker's compute, communicate, wait and down seconds, in this order: means over the ranks whose role is "worker".
/// Nothing where no worker was recorded.
std::optional<std::array<double, 4>> time_parts(const record::Record& record);

/// The metric of the last evaluation.
std::optional<double> final_metric(const record::Record& record);

/// The contract's fields in the contract's order, then the additions up to `notes`: everything but curve, ranks, links.
nlohmann::ordered_json summary(const Run& run);

/// Numbers that only some runs have; a column each, if any run has it.
std::vector<std::pair<std::string, std::optional<double>>> fields_of_some(const Run& run);

}  // namespace simgrad::outputs
