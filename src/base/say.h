/// Messages to the standard error.
#pragma once

#include <string>
#include <string_view>

namespace simgrad::base {

/// Returns the text with control characters but line ends, marks that turn the direction of writing, and bytes that are
/// not UTF-8, as \xNN: what a user has written into a file cannot steer a terminal. Lines of more than 1000 bytes are
/// cut.
std::string printable_lines(std::string_view text);

/// Writes the text, printable, and a line end. A standard error that is closed or full loses the message, not the work.
void say(std::string_view text);

/// Writes the bytes as they are.
void write_to_stderr(std::string_view bytes);

}  // namespace simgrad::base
