/// What every chart of the report has: a sentence that says what it shows, and the numbers behind it as a table.
#pragma once

#include <cmath>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "outputs/report/data/writer.h"

namespace simgrad::outputs::report {

/// A text, a number, or nothing.
struct Cell {
  Cell(std::string words) : text(std::move(words)) {}
  Cell(const char* words) : text(words) {}
  Cell(double number_) : number(number_) {}
  Cell(std::int64_t number_) : number(static_cast<double>(number_)) {}
  Cell(std::optional<double> number_) : number(number_) {}

  std::optional<std::string> text;
  std::optional<double> number;
};

struct Column {
  std::string name;
  std::string unit = "";  ///< "s", "B"; empty: a pure number or a text
};

struct Table {
  std::vector<Column> columns;
  std::vector<std::vector<Cell>> rows;
};

struct Chart {
  std::string sentence;
  Table table;
};

void write(Writer& writer, const Cell& cell);
void write(Writer& writer, const Table& table);
/// The two members; the object is the caller's.
void write_chart(Writer& writer, const Chart& chart);
/// A member that is an array of objects; `members` writes those of one.
template <class Items, class Members>
void write_objects(Writer& writer, std::string_view name, const Items& items, const Members& members) {
  writer.key(name);
  writer.begin_array();
  for (const auto& item : items) {
    writer.begin_object();
    members(item);
    writer.end_object();
  }
  writer.end_array();
}

}  // namespace simgrad::outputs::report
