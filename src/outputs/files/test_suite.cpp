#include "outputs/files/test_suite.h"

#include <algorithm>

#include "outputs/text/text_layout.h"

namespace simgrad::outputs {

std::vector<std::string> table_lines(const TestCase& test) {
  std::vector<std::size_t> widths;
  for (const auto& row : test.table) {
    widths.resize(std::max(widths.size(), row.size()));
    for (std::size_t k = 0; k < row.size(); ++k) widths[k] = std::max(widths[k], display_width(printable(row[k])));
  }
  std::vector<std::string> lines;
  for (const auto& row : test.table) {
    std::string& line = lines.emplace_back();
    for (std::size_t k = 0; k < row.size(); ++k)
      line += (k == 0 ? "" : "  ") + padded(printable(row[k]), k + 1 < row.size() ? widths[k] : 0, Align::left);
    line.erase(line.find_last_not_of(' ') + 1);
  }
  if (test.rows_left_out > 0) lines.push_back(fmt::format("... and {} more", test.rows_left_out));
  return lines;
}

}  // namespace simgrad::outputs
