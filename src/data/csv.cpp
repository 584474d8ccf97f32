#include "data/csv.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>
#include <unordered_map>

#include "base/errors.h"
#include "base/text.h"
#include "data/cells.h"
#include "data/csv_columns.h"
#include "data/csv_form.h"
#include "data/csv_ratings.h"
#include "data/csv_table.h"
#include "data/encoding.h"
#include "data/labels.h"
#include "data/limits.h"
#include "data/text_file.h"

namespace simgrad::data {

namespace {

constexpr std::array missing_choices{
    base::Choice{"refuse", "a missing cell is an error"}, base::Choice{"drop", "leave out rows with a missing cell"},
    base::Choice{"mean", "replace a missing cell by the column's mean, in a text column by its most frequent value"}};

/// The most faults that are reported: a file can be wrong in every column.
constexpr std::size_t faults_most = 20, notes_most = 5;

/// The reason why a text cannot be the separator, or empty.
std::string separator_fault(const std::string& separator) {
  if (separator.size() == 1 && separator != "\"" && separator != "\n" && separator != "\r") return {};
  return fmt::format("the separator is {}, expected one byte such as \",\", \";\" or a tab", shown(separator));
}

/// The reason why a text cannot stand before a number's fraction, or empty.
std::string decimal_fault(const std::optional<std::string>& decimal) {
  if (!decimal || *decimal == "." || *decimal == ",") return {};
  return fmt::format("decimal is {}, expected \".\" or \",\"", shown(*decimal));
}

/// The end of an error about cells that another form would explain, or empty.
std::string form_hint(const std::optional<CsvForm>& likely, const CsvForm& form) {
  if (!likely) return {};
  return fmt::format("; cells seem to be separated by {0}: set [data] separator = {0}{1}",
                     shown_byte(likely->separator),
                     likely->decimal == form.decimal ? "" : fmt::format(" and decimal = \"{}\"", likely->decimal));
}

/// The steps from a table of cells to a data set. Without a prediction (clustering) only a target that is named is left
/// out.
class Reading {
 public:
  /// hint: the end of an error about a single column.
  Reading(const Csv& options, const CsvTable& table, const Request& request, const std::string& hint)
      : options_(options),
        request_(request),
        table_(table),
        hint_(hint.empty() ? fmt::format("; is {} the right separator?", shown_byte(options.separator[0])) : hint),
        ignored_(ignored_columns()),
        target_(target_column()),
        columns_(read_columns(table)) {}

  Dataset dataset() {
    check_cells();
    choose_rows();
    settle_columns();
    Dataset set = shaped();
    fill_features(set);
    fill_targets(set);
    set.notes = notes(set.columns);
    set.encoding = encoding();
    return set;
  }

 private:
  std::string at(std::int64_t line) const { return fmt::format("{}:{}", options_.path, line); }
  std::int64_t line(std::int64_t row) const { return table_.lines[static_cast<std::size_t>(row)]; }
  const Column& column(std::int64_t j) const { return columns_.all[static_cast<std::size_t>(j)]; }
  const std::string& name(std::int64_t j) const { return table_.names[static_cast<std::size_t>(j)]; }
  double number(std::int64_t row, std::int64_t j) const {
    return columns_.numbers[static_cast<std::size_t>(row * table_.columns + j)];
  }
  bool missing(std::int64_t row, std::int64_t j) const {
    return std::isnan(number(row, j)) && table_.value(row, j).kind == Cell::Kind::missing;
  }

  bool ignored(std::int64_t j) const { return ignored_[static_cast<std::size_t>(j)]; }
  bool feature(std::int64_t j) const { return j != target_ && !ignored(j); }

  std::vector<bool> ignored_columns() const;
  std::int64_t target_column() const;
  void check_cells() const;
  std::string cell_fault(std::int64_t j) const;
  std::string missing_fault() const;
  bool has_other_decimals(std::int64_t j) const;
  bool may_be_thousands(std::int64_t j) const;
  std::string decimal_hint(std::int64_t row, std::int64_t j) const;
  void choose_rows();
  void settle_columns();
  Dataset shaped() const;
  void fill_features(Dataset& set) const;
  void fill_targets(Dataset& set) const;
  std::vector<std::string> notes(std::int64_t features) const;
  std::shared_ptr<const Encoding> encoding() const;

  const Csv& options_;
  const Request& request_;
  const CsvTable& table_;
  std::string hint_;
  std::vector<bool> ignored_;  ///< by column
  std::int64_t target_;        ///< -1: none
  Columns columns_;
  std::vector<std::int64_t> rows_;  ///< the table's rows that the data set keeps
};

std::vector<bool> Reading::ignored_columns() const {
  std::vector<bool> all(static_cast<std::size_t>(table_.columns), false);
  // There may be as many to ignore as there are columns.
  const std::string where = at(table_.names_line);
  std::unordered_map<std::string_view, std::int64_t> places;
  for (std::int64_t j = 0; j < table_.columns; ++j) {
    const auto [known, fresh] = places.emplace(name(j), j);
    if (!fresh) known->second = -1;  // several have this name
  }
  for (const std::string& name : options_.ignore) {
    const auto known = places.find(name);
    const std::int64_t column = known == places.end() ? column_by_index(table_, name, "ignored", where)
                                : known->second < 0   ? find_column(table_, name, "ignored", where)
                                                      : known->second;
    all[static_cast<std::size_t>(column)] = true;
  }
  if (std::ranges::count(all, false) == 0)
    throw base::ScenarioError(
        fmt::format("{}: every column is to be ignored, expected some to remain", at(table_.names_line)));
  return all;
}

std::int64_t Reading::target_column() const {
  if (request_.task == Task::clustering && !options_.target) return -1;
  const auto rest = std::ranges::count(ignored_, false);
  if (table_.columns > 1 && rest < 2)
    throw base::ScenarioError(fmt::format("{}: one column is not ignored, expected a target and at least one feature",
                                          at(table_.names_line)));
  if (rest < 2)
    throw base::ScenarioError(
        fmt::format("{}: one column, expected a target and at least one feature{}", at(table_.names_line), hint_));
  if (!options_.target) {
    std::int64_t last = table_.columns - 1;
    while (ignored(last)) --last;
    return last;
  }
  const std::int64_t target = find_column(table_, *options_.target, "target", at(table_.names_line));
  if (ignored(target))
    throw base::ScenarioError(fmt::format("{}: column {} is the target and to be ignored; leave it out of \"ignore\"",
                                          at(table_.names_line), shown(name(target))));
  return target;
}

/// The fault of a column's cells, missing cells aside, or empty.
std::string Reading::cell_fault(std::int64_t j) const {
  const Column& held = column(j);
  const bool label = j == target_;
  // Class labels may be any texts. If one label is a text, all of the column's labels are texts.
  if (label && request_.task == Task::classification && held.texts.count > 0) return {};
  if (label && request_.task == Task::clustering) return {};
  const auto fault = [&](const Seen& seen, std::string_view expected) {
    return fmt::format("{}: column {} holds {}, expected {}{}", at(line(seen.first_row)), shown(name(j)),
                       shown(trimmed(table_.cell(seen.first_row, j))), expected, decimal_hint(seen.first_row, j));
  };
  if (!label && held.text() && options_.decimal.value_or(",") == "," && has_other_decimals(j))
    return fault(held.texts, "a number") + (options_.decimal ? "" : ", and for texts decimal = \".\"");
  if (!label && held.text()) return {};
  if (held.infinite.count > 0) return fault(held.infinite, "a finite number");
  if (held.texts.count == 0) return {};
  if (label) return fault(held.texts, "a number; to predict classes use a classification model");
  if (held.texts.first_row == 0 && !options_.header)
    return fault(held.texts, "a number as in its other cells; if this line holds names, set header = true");
  return fault(held.texts, "a number as in most of its cells");
}

/// Whether all texts of the column would be numbers with the other decimal sign.
bool Reading::has_other_decimals(std::int64_t j) const {
  for (std::int64_t row = 0; row < table_.rows(); ++row)
    if (table_.value(row, j).kind == Cell::Kind::text && !has_other_decimal(table_.cell(row, j), table_.decimal))
      return false;
  return true;
}

/// Whether each text of the column has three digits behind its comma, as thousands do.
bool Reading::may_be_thousands(std::int64_t j) const {
  constexpr std::size_t digits_of_thousand = 3;
  for (std::int64_t row = 0; row < table_.rows(); ++row) {
    if (table_.value(row, j).kind != Cell::Kind::text) continue;
    const std::string_view cell = trimmed(table_.cell(row, j));
    if (cell.size() - std::min(cell.find(','), cell.size()) != digits_of_thousand + 1) return false;
  }
  return true;
}

/// The end of an error about a cell that the other decimal sign would explain, or empty.
std::string Reading::decimal_hint(std::int64_t row, std::int64_t j) const {
  if (!has_other_decimal(table_.cell(row, j), table_.decimal)) return {};
  if (table_.decimal == '.' && may_be_thousands(j))
    return "; remove commas of thousands from the file, or set [data] decimal = \",\" for decimal commas";
  return fmt::format("; for a decimal {} set [data] decimal = \"{}\"", table_.decimal == ',' ? "point" : "comma",
                     table_.decimal == ',' ? '.' : ',');
}

/// The error for the column's first missing cell, or empty.
std::string Reading::missing_fault() const {
  std::int64_t first = -1;
  for (std::int64_t j = 0; j < table_.columns; ++j) {
    const Seen& seen = column(j).missing;
    if (!ignored(j) && seen.count > 0 && (first < 0 || seen.first_row < column(first).missing.first_row)) first = j;
  }
  if (first < 0) return {};
  const Seen& seen = column(first).missing;
  const std::string others = seen.count > 1 ? fmt::format(" and in {} other lines", seen.count - 1) : "";
  return fmt::format("{}: column {} has no value here{}, expected one; set missing = \"drop\" or \"mean\"",
                     at(line(seen.first_row)), shown(name(first)), others);
}

void Reading::check_cells() const {
  std::vector<std::string> faults;
  for (std::int64_t j = 0; j < table_.columns && faults.size() < faults_most; ++j)
    if (std::string fault = ignored(j) ? "" : cell_fault(j); !fault.empty()) faults.push_back(std::move(fault));
  if (options_.missing == Csv::Missing::refuse)
    if (std::string fault = missing_fault(); !fault.empty()) faults.push_back(std::move(fault));
  if (!faults.empty()) throw base::ScenarioError(std::move(faults));
}

void Reading::choose_rows() {
  const auto complete = [&](std::int64_t row) {
    for (std::int64_t j = 0; j < table_.columns; ++j)
      if (!ignored(j) && missing(row, j)) return false;
    return true;
  };
  for (std::int64_t row = 0; row < table_.rows(); ++row)
    if (options_.missing == Csv::Missing::drop ? complete(row) : target_ < 0 || !missing(row, target_))
      rows_.push_back(row);
  if (rows_.empty())
    throw base::ScenarioError(fmt::format("{}: every row misses a {}, expected at least one complete row",
                                          at(table_.names_line),
                                          options_.missing == Csv::Missing::drop ? "value" : "target"));
}

void Reading::settle_columns() {
  for (std::int64_t j = 0; j < table_.columns; ++j) {
    if (!feature(j)) continue;
    if (std::all_of(rows_.begin(), rows_.end(), [&](std::int64_t row) { return missing(row, j); }))
      throw base::ScenarioError(
          fmt::format("{}: column {} has no value in any row with a target, expected some; leave it out "
                      "by [data] ignore = [{}]",
                      at(table_.names_line), shown(name(j)), shown(name(j))));
    if (!settle_column(columns_, j, table_, rows_))
      throw base::ScenarioError(
          fmt::format("{}: column {} holds more than {} different texts, expected a category to encode one-hot; an "
                      "identifier does not help to predict: leave it out by [data] ignore = [{}]",
                      at(table_.names_line), shown(name(j)), values_most, shown(name(j))));
  }
}

Dataset Reading::shaped() const {
  std::vector<std::string> names;
  for (std::int64_t j = 0; j < table_.columns; ++j) {
    if (!feature(j)) continue;
    if (!column(j).text()) names.push_back(name(j));
    for (const std::string_view value : column(j).values.values())
      names.push_back(fmt::format("{}={}", name(j), value));
  }
  Dataset set = sized_dataset(static_cast<std::int64_t>(rows_.size()), static_cast<std::int64_t>(names.size()),
                              at(table_.names_line));
  set.feature_names = std::move(names);
  if (target_ >= 0) set.target_name = name(target_);
  return set;
}

void Reading::fill_features(Dataset& set) const {
  double* next = set.features.data();
  for (const std::int64_t row : rows_)
    for (std::int64_t j = 0; j < table_.columns; ++j) {
      if (!feature(j)) continue;
      const Column& held = column(j);
      const bool gap = missing(row, j);
      if (!held.text()) {
        *next = gap ? held.substitute : number(row, j);
      } else {
        const auto value =
            gap ? static_cast<std::size_t>(held.substitute) : held.values.index(trimmed(table_.cell(row, j)));
        std::fill_n(next, held.width(), 0.0);
        next[value] = 1.0;
      }
      next += held.width();
    }
}

void Reading::fill_targets(Dataset& set) const {
  if (request_.task == Task::clustering) return;  // all zero
  const std::string what = fmt::format("{}: column {}", at(table_.names_line), shown(name(target_)));
  const bool classification = request_.task == Task::classification;
  if (classification && column(target_).texts.count > 0) {
    std::vector<std::string_view> labels;
    for (const std::int64_t row : rows_) labels.push_back(trimmed(table_.cell(row, target_)));
    set_classes<std::string_view>(set, labels, what);
    return;
  }
  std::vector<double> labels;
  for (const std::int64_t row : rows_) labels.push_back(number(row, target_));
  if (classification)
    set_classes<double>(set, labels, what);
  else
    set.targets = std::move(labels);
}

std::vector<std::string> Reading::notes(std::int64_t features) const {
  std::vector<std::string> all;
  const std::string odd = remark_on_names(columns_, table_);
  if (!odd.empty()) all.push_back(fmt::format("{}: {}", at(table_.names_line), odd));
  for (std::int64_t j = 0; j < table_.columns && all.size() < notes_most; ++j)
    if (const std::string note = feature(j) ? remark(columns_, j, table_, rows_, features) : ""; !note.empty())
      all.push_back(fmt::format("{}: column {} {}; to leave it out: [data] ignore = [{}]", at(table_.names_line),
                                shown(name(j)), note, shown(name(j))));
  return all;
}

/// The columns as they were read.
std::shared_ptr<const Encoding> Reading::encoding() const {
  auto encoding = std::make_shared<Encoding>();
  encoding->task = request_.task;
  encoding->set_table(options_.form(), static_cast<Encoding::Gap>(options_.missing), table_.columns);
  for (std::int64_t j = 0; j < table_.columns; ++j) {
    if (!feature(j)) continue;
    Encoding::Column& encoded_column = encoding->columns.emplace_back();
    encoded_column.name = name(j);
    encoded_column.place = j;
    encoded_column.substitute = column(j).substitute;
    for (const std::string_view value : column(j).values.values()) encoded_column.values.emplace_back(value);
  }
  if (target_ < 0 || request_.task == Task::clustering) return encoding;
  encoding->target.name = name(target_);
  encoding->target.place = target_;
  return encoding;
}

}  // namespace

void Csv::describe(base::Describer& d) {
  d.path("path", path, "the file");
  d.name_or_index("target", target,
                  "the column to predict, by its name or its zero-based index; default: the last (with k_means none)");
  d.name_or_index("user", user, "the column of users, for recommendation only; default: the first");
  d.name_or_index("item", item, "the column of items, for recommendation only; default: the second");
  d.names_or_indices("ignore", ignore,
                     "columns that are no features, such as an identifier: by name or zero-based index, as in "
                     "[\"id\", 3]");
  d.flag("header", header, "whether the first line holds the columns' names");
  d.text("separator", separator, "the byte between two cells");
  d.text(
      "decimal", decimal,
      "what stands before a number's fraction, \".\" or \",\"; default \".\", and a column of numbers with a comma is "
      "refused");
  d.choice("missing", missing, missing_choices, "cells that are empty, ?, NA or nan");
  if (path.empty()) d.refuse("path", "the data source \"csv\" needs the path of a file");
  if (const std::string fault = separator_fault(separator); !fault.empty()) d.refuse("separator", fault);
  if (const std::string fault = decimal_fault(decimal); !fault.empty()) d.refuse("decimal", fault);
}

Dataset Csv::load(const Request& request) const { return read(text_file(path), request); }

Dataset Csv::read(std::string text, const Request& request) const {
  for (const std::string& fault : {separator_fault(separator), decimal_fault(decimal)})
    if (!fault.empty()) throw base::ScenarioError(fmt::format("{}: {}", path, fault));
  clean_text(text, path);
  const std::string hint = form_hint(FormGuess(text).other_than(form()), form());
  const CsvTable table = [&] {
    try {
      return csv_table(text, form(), path);
    } catch (const base::ScenarioError& fault) {
      throw base::ScenarioError(fault.what() + hint);
    }
  }();
  if (request.task == Task::recommendation) {
    if (!ignore.empty())
      throw base::ScenarioError(
          fmt::format("{}: ratings read the columns user, item and target alone; leave \"ignore\" out", path));
    return csv_ratings(*this, table, hint);
  }
  if (user || item)
    throw base::ScenarioError(
        fmt::format("{}: {} = {} is only for ratings, which the model does not predict; leave it out", path,
                    user ? "user" : "item", shown(user ? *user : *item)));
  return Reading(*this, table, request, hint).dataset();
}

}  // namespace simgrad::data
