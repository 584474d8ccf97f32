/// A CSV file in blocks of whole rows.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

namespace simgrad::data {

/// Visits the file from beginning to end in blocks of whole rows, some megabytes at a time: a line end inside of quotes
/// ends no block.  visit(text, first_line): a block, which it may change, and the number of its first line.  A byte
/// order mark is left out.
/// Errors: EnvironmentError for a file that cannot be opened or read; ScenarioError `path:line:` for a NUL byte.
void for_each_block_of_rows(const std::string& path, char separator,
                            const std::function<void(std::string& text, std::int64_t first_line)>& visit);

}  // namespace simgrad::data
