/// Further rows of CSV files.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/errors.h"
#include "base/text.h"
#include "data/cells.h"
#include "data/csv_blocks.h"
#include "data/csv_form.h"
#include "data/csv_table.h"
#include "data/new_rows.h"

namespace simgrad::data {

namespace {

/// Where the columns of the training stand in a file.
struct Found {
  std::vector<std::int64_t> columns;  ///< by column of the encoding
  std::int64_t target = -1;           ///< -1: the file has none
  std::int64_t all = 0;
};

class TableRows {
 public:
  TableRows(const Encoding& encoding, const std::string& path, Unseen unseen, const VisitRows& visit)
      : encoding_(encoding), path_(path), unseen_(unseen), visit_(visit) {}

  void take(std::string& text, std::int64_t first_line) {
    if (!first_ && std::ranges::all_of(text, [](char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }))
      return;
    text_ = &text;
    table_ = read_table(text, first_line);
    if (first_) found_ = found();
    first_ = false;
    if (table_.columns != found_.all)
      fail(fmt::format("{}:{}:1", path_, table_.lines.front()),
           fmt::format("{} cells, expected {} as in the lines before", table_.columns, found_.all));
    NewRows block;
    for (std::int64_t row = 0; row < table_.rows(); ++row) read(row, block);
    finish_rows(encoding_, block);
    visit_(block);
  }

 private:
  [[noreturn]] static void fail(const std::string& where, const std::string& what) {
    throw base::ScenarioError(fmt::format("{}: {}", where, what));
  }
  [[noreturn]] void refuse(std::int64_t row, std::int64_t j, const std::string& expected) const {
    const std::string_view cell = table_.cell(row, j);
    const std::string hint =
        has_other_decimal(cell, encoding_.decimal)
            ? fmt::format("; numbers of the training have {} before their fraction", shown_byte(encoding_.decimal))
            : "";
    fail(place(row, j), fmt::format("column {} holds {}, expected {}{}", shown(table_.names[index(j)]),
                                    shown(trimmed(cell)), expected, hint));
  }
  /// The block's cells; an error says if the file seems to be written in another form than the training's.
  CsvTable read_table(std::string& text, std::int64_t first_line) const {
    const CsvForm form{encoding_.separator, encoding_.decimal, first_ && encoding_.header};
    const FormGuess guess(text);
    try {
      return csv_table(text, form, path_, first_line);
    } catch (const base::ScenarioError& fault) {
      const auto likely = first_ ? guess.other_than(form) : std::nullopt;
      throw base::ScenarioError(
          fault.what() + (likely ? fmt::format("; cells seem to be separated by {}, but those of the training are "
                                               "separated by {}",
                                               shown_byte(likely->separator), shown_byte(form.separator))
                                 : ""));
    }
  }
  static std::size_t index(std::int64_t j) { return static_cast<std::size_t>(j); }

  /// "path:line:column" of a cell.
  std::string place(std::int64_t row, std::int64_t j) const {
    const char* const cell = table_.cell(row, j).data();
    const char* const first = table_.cell(row, 0).data();
    const char* line = cell;
    while (line > text_->data() && line[-1] != '\n') --line;
    return fmt::format("{}:{}:{}", path_, table_.lines[index(row)] + std::count(first, cell, '\n'), cell - line + 1);
  }

  /// A column by its name; -1 if there is none.
  std::int64_t named(const std::string& name) const {
    const auto count = std::ranges::count(table_.names, name);
    if (count > 1)
      fail(fmt::format("{}:{}:1", path_, table_.names_line),
           fmt::format("{} columns are called {}, expected one", count, shown(name)));
    return count == 0 ? -1 : std::ranges::find(table_.names, name) - table_.names.begin();
  }

  Found found() const {
    const bool by_place = !encoding_.header;
    Found all{.columns = {}, .target = -1, .all = table_.columns};
    if (!by_place) {
      for (const Encoding::Column& column : encoding_.columns) {
        all.columns.push_back(named(column.name));
        if (all.columns.back() < 0)
          fail(fmt::format("{}:{}:1", path_, table_.names_line),
               fmt::format("no column {}, expected the columns of the training{}", shown(column.name),
                           base::suggestion(column.name, table_.names)));
      }
      if (!encoding_.target.name.empty()) all.target = named(encoding_.target.name);
      return all;
    }
    const std::int64_t with = encoding_.file_columns, target = encoding_.target.place;
    const bool lacks_target = target >= 0 && table_.columns == with - 1;
    if (table_.columns != with && !lacks_target)
      fail(fmt::format("{}:{}:1", path_, table_.lines.front()),
           fmt::format("{} cells, expected {} as in the training{}", table_.columns, with,
                       target >= 0 ? fmt::format(", or {} without the target", with - 1) : ""));
    for (const Encoding::Column& column : encoding_.columns)
      all.columns.push_back(column.place - (lacks_target && column.place > target ? 1 : 0));
    if (!lacks_target) all.target = target;
    return all;
  }

  /// Appends a row, unless a missing cell leaves it out.
  void read(std::int64_t row, NewRows& block) {
    const bool ratings = encoding_.form == Encoding::Form::ratings;
    if (encoding_.missing == Encoding::Gap::drop || (ratings && encoding_.missing == Encoding::Gap::mean))
      for (const std::int64_t j : found_.columns)
        if (table_.value(row, j).kind == Cell::Kind::missing) {
          ++block.left_out;
          return;
        }
    ratings ? read_rating(row, block) : read_features(row, block);
    const auto number = static_cast<std::int64_t>(block.lines.size());
    block.lines.push_back(table_.lines[index(row)]);
    double target = 0.0;
    if (found_.target >= 0 && read_target(row, target)) block.labelled.push_back(number);
    block.rows.targets.push_back(target);
  }

  void read_features(std::int64_t row, NewRows& block) const {
    base::UnsetVector<double>& x = block.rows.features;
    for (std::size_t k = 0; k < encoding_.columns.size(); ++k) {
      const Encoding::Column& column = encoding_.columns[k];
      const std::int64_t j = found_.columns[k];
      const Cell cell = table_.value(row, j);
      const bool gap = cell.kind == Cell::Kind::missing;
      if (gap && encoding_.missing == Encoding::Gap::refuse)
        fail(place(row, j), fmt::format("column {} has no value here, expected one; a model that was trained with "
                                        "missing = \"mean\" fills it in",
                                        shown(table_.names[index(j)])));
      if (column.values.empty()) {
        if (!gap && cell.kind != Cell::Kind::number) refuse(row, j, "a finite number");
        x.push_back(gap ? column.substitute : cell.value);
        continue;
      }
      const std::string_view text = trimmed(table_.cell(row, j));
      const auto known = std::ranges::find(column.values, text);
      if (!gap && known == column.values.end() && unseen_ == Unseen::refuse)
        refuse(row, j,
               fmt::format("a value that the training has seen: {}; --ignore-unseen takes others as 0",
                           known_names(column.values)));
      const auto value =
          gap ? static_cast<std::size_t>(column.substitute) : static_cast<std::size_t>(known - column.values.begin());
      for (std::size_t v = 0; v < column.values.size(); ++v) x.push_back(v == value ? 1.0 : 0.0);
    }
    if (encoding_.bias) x.push_back(1.0);
  }

  void read_rating(std::int64_t row, NewRows& block) const {
    std::array<double, 2> names{};
    for (std::size_t k = 0; k < names.size(); ++k) {
      const bool item = k == 1;
      const std::int64_t j = found_.columns[k];
      const Cell cell = table_.value(row, j);
      if (cell.kind != Cell::Kind::number || cell.value != std::floor(cell.value)) refuse(row, j, "a whole number");
      const std::vector<double>& known = item ? encoding_.items : encoding_.users;
      const std::int64_t count = item ? encoding_.item_count : encoding_.user_count;
      const auto place = std::ranges::lower_bound(known, cell.value);
      const bool seen = known.empty() ? cell.value >= 0.0 && cell.value < static_cast<double>(count)
                                      : place != known.end() && *place == cell.value;
      if (!seen)
        refuse(row, j,
               fmt::format("{} with a rating in the training; the model knows nothing of others",
                           item ? "an item" : "a user"));
      names[k] = cell.value;
      block.rows.features.push_back(known.empty() ? cell.value : static_cast<double>(place - known.begin()));
    }
    block.names.push_back(names);
  }

  /// Whether the row has a target.
  bool read_target(std::int64_t row, double& target) const {
    const std::int64_t j = found_.target;
    const Cell cell = table_.value(row, j);
    if (encoding_.task == Task::classification) {
      const std::string_view label = trimmed(table_.cell(row, j));
      const std::int64_t number = class_of(encoding_, label);
      if (number < 0 && cell.kind == Cell::Kind::missing) return false;
      if (number < 0) refuse(row, j, fmt::format("a class of the training: {}", known_names(encoding_.class_names)));
      target = static_cast<double>(number);
      return true;
    }
    if (cell.kind == Cell::Kind::missing) return false;
    if (cell.kind != Cell::Kind::number) refuse(row, j, "a finite number");
    target = cell.value;
    return true;
  }

  const Encoding& encoding_;
  const std::string& path_;
  Unseen unseen_;
  const VisitRows& visit_;
  std::string* text_ = nullptr;
  CsvTable table_;
  Found found_;
  bool first_ = true;
};

}  // namespace

void read_table_rows(const Encoding& encoding, const std::string& path, Unseen unseen, const VisitRows& visit) {
  TableRows rows(encoding, path, unseen, visit);
  bool any = false;
  for_each_block_of_rows(path, encoding.separator, [&](std::string& text, std::int64_t first_line) {
    any = true;
    rows.take(text, first_line);
  });
  if (!any) throw base::ScenarioError(fmt::format("{}:1:1: no rows, expected at least one", path));
}

}  // namespace simgrad::data
