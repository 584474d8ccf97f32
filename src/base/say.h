/// Messages to the standard error.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace simgrad::base {

struct CodePoint {
  char32_t code = 0;
  std::size_t bytes = 0;  ///< of UTF-8; 0: none
};
/// The character that begins there, if it is one that may steer a reader: a control character or a mark that turns the
/// direction of writing.
CodePoint steering_at(std::string_view text, std::size_t at);

/// Returns the text with characters that may steer its reader as \xNN: control characters (line breaks too), marks that
/// turn the direction of writing, bytes that are not UTF-8, and the beginnings of the commands that GitHub's runner
/// obeys wherever they stand in a log ("::" at the beginning of a line, "##[" anywhere).
std::string printable(std::string_view text);

/// At most so many bytes from the beginning of the text, without a part of a character at their end.
std::string beginning(std::string_view text, std::size_t bytes);

/// Returns the printable text of several lines, whose line breaks stay. Lines of more than 1000 bytes are cut.
std::string printable_lines(std::string_view text);

/// Writes the text as one line, printable. A standard error that is closed or full loses the message, not the work.
void say(std::string_view text);

/// Makes `say` write what the function returns for each text: its translation.
void say_in(std::string (*language)(std::string_view text));

/// Writes the bytes as they are.
void write_to_stderr(std::string_view bytes);

}  // namespace simgrad::base
