/// Small texts: suggestions and joined names.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace simgrad::base {

/// The known name nearest to the typed one (Damerau-Levenshtein distance, within a third of the longer one's length,
/// case ignored but for ties), or empty. A name that begins with the typed text comes first, and may be longer
/// where an underscore follows: "a100" means "a100_80gb", not "h100".
std::string closest(std::string_view typed, std::span<const std::string> known);

/// The known names within that distance, and those that contain the typed one: at most `most`, the nearest first, each
/// once.
std::vector<std::string> nearest(std::string_view typed, std::span<const std::string> known, std::size_t most);

/// `; did you mean "b"? Known: a, b, c`, or `; known: a, b, c`: the tail of an error about an unknown name.
std::string suggestion(std::string_view typed, std::span<const std::string> known);

/// "a, b, c"
std::string joined(std::span<const std::string> names, std::string_view separator = ", ");

/// The word, quoted for a POSIX shell if necessary; one that would steer its reader (say.h) in the quotes with escapes
/// of POSIX 2024 and bash, $'\012'. The one way in which a command that is printed for the user gets its words.
std::string shell_word(const std::string& word);
/// The words as a command line for a POSIX shell.
std::string shell_line(std::span<const std::string> words);
/// The words of a line that shell_line has made; nothing for any other text.
std::optional<std::vector<std::string>> words_of_shell_line(std::string_view line);

}  // namespace simgrad::base
