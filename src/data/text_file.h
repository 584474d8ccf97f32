/// Reading of files, as a whole (so that cells can be views into one buffer) or in blocks.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>

namespace simgrad::data {

/// The longest line, or row of several lines, of a file that is read in blocks.
inline constexpr std::size_t line_bytes_most = std::size_t{1} << 30;

/// The file's bytes.
/// Errors: EnvironmentError for what is no regular file, and with the system's reason for a file that cannot be opened
/// or read; TooMuchMemory for a file longer than the free memory.
std::string file_contents(const std::string& path);

/// Visits the file from beginning to end in blocks of whole lines, some megabytes at a time, without a byte order mark.
/// Errors: as above, but the size of a line has a limit, and that of the file has none; ScenarioError for a NUL byte.
void for_each_block_of_lines(const std::string& path, const std::function<void(std::string_view lines)>& visit);

/// The file's bytes without a UTF-8 byte order mark.  Errors: as above; ScenarioError `path:line:` for a NUL byte,
/// which is in no text file (but in archives and UTF-16).
std::string text_file(const std::string& path);
/// Checks bytes for NUL and removes a byte order mark; `path` is for the error.
void clean_text(std::string& text, const std::string& path);

}  // namespace simgrad::data
