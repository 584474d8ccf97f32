/// The letters of cost lines, for `explain`.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace simgrad::cli {

/// The meaning of each letter that the cost line of a kind's item has and does not explain itself:
/// "P the number of workers; M the bytes of w", or empty.  kind: "strategies", "models", ...
std::string cost_letters(std::string_view kind, std::string_view cost);

/// The meanings of a letter: {"strategies", "the number of workers"} for each kind whose cost lines have it; the kind
/// is empty for all others.
struct LetterMeaning {
  std::string_view kinds;
  std::string_view meaning;
};
std::vector<LetterMeaning> meanings_of_letter(std::string_view letter);

}  // namespace simgrad::cli
