/// A run in few numbers, and the JSON of single values, for the files and the table.
#pragma once

#include <array>
#include <cmath>
#include <concepts>
#include <optional>
#include <string>
#include <type_traits>

#include "outputs/results.h"

namespace simgrad::outputs {

/// The schema of results.json: readers of one schema cannot read another.
inline constexpr int schema = 1;

template <class T>
inline constexpr bool is_optional = false;
template <class T>
inline constexpr bool is_optional<std::optional<T>> = true;

/// A field as JSON. Numbers that are absent or not finite are null.
template <class T>
nlohmann::ordered_json json_value(const T& field) {
  if constexpr (is_optional<T>)
    return field ? json_value(*field) : nlohmann::ordered_json();
  else if constexpr (std::floating_point<T>)
    return std::isfinite(field) ? nlohmann::ordered_json(field) : nlohmann::ordered_json();
  else if constexpr (std::same_as<T, nlohmann::ordered_json>)
    return field.is_null() ? nlohmann::ordered_json::object() : field;
  else if constexpr (std::same_as<T, record::Status>)
    return record::name(field);
  else
    return field;
}

/// JSON on one line.  Bytes that are not UTF-8 (a file name in an error, say) become U+FFFD: a record is never lost for
/// its spelling.  Doubles are written so that they read back to the same bits.
std::string compact(const nlohmann::ordered_json& json);

/// A worker's compute, communicate, wait and down seconds, in this order: means over the ranks whose role is "worker".
/// Nothing where no worker was recorded.
std::optional<std::array<double, 4>> time_parts(const record::Record& record);

/// The parts of a worker's seconds, as means over the workers. Nothing where no worker was recorded, or where the file
/// is of a release that had no parts.
std::optional<record::TimeParts> time_by_part(const record::Record& record);

/// The metric of the last evaluation.
std::optional<double> final_metric(const record::Record& record);

}  // namespace simgrad::outputs
