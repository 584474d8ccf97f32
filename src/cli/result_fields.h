/// The fields of the result files, and the files, for `explain`.
#pragma once

#include <span>
#include <string_view>

namespace simgrad::cli {

struct ResultField {
  std::string_view name;
  std::string_view place;  ///< "a field of a run in runs.csv and results.json"
  std::string_view unit;   ///< "s", "bytes"; empty for a text, a count or a ratio
  std::string_view meaning;
};

/// In the order of the files. A name that means several things stands there several times.
std::span<const ResultField> result_fields();

}  // namespace simgrad::cli
