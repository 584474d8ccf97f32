/// The parts that every chart of the report has: a sentence about the result, and a table of the numbers.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "outputs/report/data/report_model.h"
#include "outputs/report/data/writer.h"

namespace simgrad::outputs::report {

/// A text, a number, or nothing.
struct Cell {
  Cell(std::string text_) : text(std::move(text_)) {}
  Cell(const char* text_) : text(text_) {}
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

/// A strategy at a grid point.
struct Subject {
  std::size_t strategy = 0;
  std::size_t point = 0;
};

struct Chart {
  std::string sentence;
  Table table;
  std::optional<Subject> about = {};  ///< of the sentence: the page shows this grid point first
};

Subject subject_of(const Case& one);

void write(Writer& writer, const Cell& cell);
void write(Writer& writer, const Table& table);
void write(Writer& writer, const std::optional<Subject>& subject);
/// Writes the members "sentence", "about" and "table" into the caller's object.
void write_chart(Writer& writer, const Chart& chart);
/// Writes a member that is an array of objects; `members` writes the members of one.
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
