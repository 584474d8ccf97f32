/// A line of a trace of failures, cut into cells, with its place for faults.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace simgrad::cluster {

class TraceRow {
 public:
  /// file, line: live as long as the row.  number: of the line, from 1 on.
  TraceRow(const std::string& file, int number, std::string_view line);

  /// Errors: ScenarioError `file:line:column: text`, always.
  [[noreturn]] void refuse(std::size_t cell, const std::string& text) const;
  std::size_t size() const { return cells_.size(); }
  bool empty(std::size_t cell) const { return cells_.at(cell).text.empty(); }
  /// The cell's number.  name: of the column.  Errors: ScenarioError for a text that is no number of at least 0.
  double number(std::size_t cell, std::string_view name) const;
  /// As number(), for a whole number below `end`.  meaning: as in "the number of a host".
  std::size_t index(std::size_t cell, std::string_view name, std::size_t end, std::string_view meaning) const;

 private:
  struct Cell {
    std::string_view text;
    std::size_t column;
  };
  const std::string& file_;
  int number_;
  std::vector<Cell> cells_;
};

}  // namespace simgrad::cluster
