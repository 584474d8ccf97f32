/// The fields of the result files, for `explain`.
#pragma once

#include <span>
#include <string_view>

namespace simgrad::cli {

struct ResultField {
  std::string_view name;
  std::string_view files;  ///< those that have it, as a column or a member: "runs.csv, results.json"
  std::string_view unit;   ///< "s", "bytes"; empty for a text, a count or a ratio
  std::string_view meaning;
};

/// In the order of the files. A name that means several things stands there several times.
std::span<const ResultField> result_fields();

}  // namespace simgrad::cli
