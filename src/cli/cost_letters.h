/// The letters of cost lines, for `explain`.
#pragma once

#include <string>
#include <string_view>

namespace simgrad::cli {

/// The meaning of each letter that the cost line of a kind's item has and does not explain itself:
/// "P the number of workers; M the bytes of w", or empty.  kind: "strategies", "models", ...
std::string cost_letters(std::string_view kind, std::string_view cost);

}  // namespace simgrad::cli
