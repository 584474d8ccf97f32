/// Numbers and texts for people: three digits and a unit that fits, and texts laid out on a terminal.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace simgrad::outputs {

/// Three digits of a number of moderate size: "6.10", "12.3", "1234".
std::string three_digits(double value);

/// "850 ns", "12.3 ms", "1.24 s", "3 min 20 s", "2 h 5 min", "3 d 4 h".
std::string duration(double seconds);

/// "512 B", "1.23 GB" (powers of 1000, as the scenario's units).
std::string byte_count(double bytes);

/// "512", "1.23 M".
std::string count(double number);

/// "$12.30", "$0.0123".
std::string dollars(double usd);
/// "850 J", "1.23 MJ".
std::string joules(double energy_j);

/// Columns on a terminal: two of East Asian wide characters and emoji, none of combining marks.  Of invalid UTF-8 one a
/// byte.
std::size_t display_width(std::string_view text);

/// The text without control characters: a label must move no cursor.
std::string printable(std::string_view text);

/// At most `width` columns; what was cut off shows as an ellipsis.
std::string cut(std::string_view text, std::size_t width);
/// The same, its middle left out: labels differ at their ends.
std::string cut_middle(std::string_view text, std::size_t width);

enum class Align { left, right, centre };
/// Exactly `width` columns, if the text is not wider.
std::string padded(std::string_view text, std::size_t width, Align align, std::string_view filling = " ");

/// `text` repeated.
std::string repeated(std::string_view text, std::size_t times);

/// Lines of at most `width` columns, broken between words (within a word that is wider); every line after the first is
/// indented by two.  Each ends in "\n".
std::string wrapped(std::string_view text, std::size_t width);

}  // namespace simgrad::outputs
