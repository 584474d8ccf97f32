/// A file read whole, so that cells can be views into one buffer.
#pragma once

#include <functional>
#include <string>
#include <string_view>

namespace simgrad::data {

/// The file's bytes.
/// Errors: EnvironmentError with the system's reason for a file that cannot be opened or read, a directory among them;
/// ScenarioError for one beyond `text_bytes_most`.
std::string file_contents(const std::string& path);

/// Visits the file from beginning to end in blocks of whole lines, some megabytes at a time, without a byte order mark.
/// Errors: as above, but for the size, which has no limit; ScenarioError for a NUL byte.
void for_each_block_of_lines(const std::string& path, const std::function<void(std::string_view lines)>& visit);

/// The bytes without a UTF-8 byte order mark.  Errors: as above; ScenarioError `path:line:` for a NUL byte, which no
/// text file holds (an archive, or UTF-16).
std::string text_file(const std::string& path);
/// The same check and cut on bytes already read; `path` is for the error.
void clean_text(std::string& text, const std::string& path);

}  // namespace simgrad::data
