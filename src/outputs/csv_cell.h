/// A cell of a CSV file.
#pragma once

#include <string>

namespace simgrad::outputs {

/// A text with quotes where RFC 4180 needs them. A text that a spreadsheet would compute as a formula stands behind an
/// apostrophe.
std::string csv_cell(const std::string& text);

}  // namespace simgrad::outputs
