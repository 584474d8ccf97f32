/// The layout of text on a terminal: widths in columns, cutting, padding and wrapping.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace simgrad::outputs {

/// Returns the columns that `text` takes on a terminal: two for an East Asian wide character or an emoji, none for a
/// combining mark, one for a byte that is not UTF-8.
std::size_t display_width(std::string_view text);

/// Returns the text with a space for each control character, so that a label cannot move the cursor, and else as
/// base::printable.
std::string printable(std::string_view text);

/// Returns `text`, cut at its end to at most `width` columns; an ellipsis marks the cut.
std::string cut(std::string_view text, std::size_t width);
/// Returns `text`, cut in its middle to at most `width` columns: labels often differ at their ends only.
std::string cut_middle(std::string_view text, std::size_t width);

enum class Align { left, right, centre };
/// Returns `text` filled up to `width` columns; a wider text stays as it is.
std::string padded(std::string_view text, std::size_t width, Align align, std::string_view filling = " ");

/// Returns "a", "a and b", "a, b and c"; items beyond `most` are counted: "a, b and 3 more".
std::string listed(const std::vector<std::string>& items, std::size_t most = 4);

/// Returns the same for clauses, which Chinese divides by commas of another kind than names.
std::string listed_clauses(const std::vector<std::string>& items, std::size_t most = 4);

/// Returns `text` repeated `times` times.
std::string repeated(std::string_view text, std::size_t times);

/// Returns `text` in lines of at most `width` columns, broken between words (in Chinese between characters), or
/// within a word that is wider than a line. Lines after the first are indented by two columns. Each line ends in "\n".
std::string wrapped(std::string_view text, std::size_t width);

}  // namespace simgrad::outputs
