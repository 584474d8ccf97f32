#include "data/csv_ratings.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "base/errors.h"
#include "data/cells.h"
#include "data/csv_columns.h"
#include "data/csv_form.h"
#include "data/encoding.h"
#include "data/limits.h"

namespace simgrad::data {

namespace {

struct RatingColumns {
  std::int64_t user, item, rating;
};

RatingColumns columns_of(const Csv& options, const CsvTable& table, const std::string& hint) {
  const std::string where = fmt::format("{}:{}", options.path, table.names_line);
  if (table.columns < 3)
    throw base::ScenarioError(fmt::format(
        "{}: {} column{}, expected three at least: user, item and rating{}", where, table.columns,
        table.columns == 1 ? "" : "s",
        hint.empty() ? fmt::format("; is {} the right separator?", shown_byte(options.separator[0])) : hint));
  const auto column = [&](const std::optional<std::string>& wanted, std::string_view role, std::int64_t fallback) {
    return wanted ? find_column(table, *wanted, role, where) : fallback;
  };
  const RatingColumns found{column(options.user, "user", 0), column(options.item, "item", 1),
                            column(options.target, "target", table.columns - 1)};
  if (found.user == found.item || found.user == found.rating || found.item == found.rating)
    throw base::ScenarioError(
        fmt::format("{}: user, item and target are columns {}, {} and {}, expected three different "
                    "ones; name them with user, item and target",
                    where, found.user, found.item, found.rating));
  return found;
}

/// Replaces a column's numbers by 0, 1, 2, ... in ascending order. Returns the distinct ones.
std::vector<double> renumber(std::vector<double>& numbers) {
  std::vector<double> different = numbers;
  std::sort(different.begin(), different.end());
  different.erase(std::unique(different.begin(), different.end()), different.end());
  for (double& number : numbers)
    number = static_cast<double>(std::lower_bound(different.begin(), different.end(), number) - different.begin());
  return different;
}

class RatingsReading {
 public:
  RatingsReading(const Csv& options, const CsvTable& table, const std::string& hint)
      : options_(options), table_(table), columns_(columns_of(options, table, hint)) {}

  Dataset dataset() {
    for (std::int64_t row = 0; row < table_.rows(); ++row) read(row);
    const auto rows = static_cast<std::int64_t>(ratings_.size());
    if (rows == 0)
      throw base::ScenarioError(fmt::format("{}:{}: every row misses a value, expected at least one complete row",
                                            options_.path, table_.names_line));
    Dataset set = sized_dataset(rows, 2, fmt::format("{}:{}", options_.path, table_.names_line));
    auto encoding = std::make_shared<Encoding>();
    encoding->form = Encoding::Form::ratings;
    encoding->task = Task::recommendation;
    encoding->set_table(options_.form(), static_cast<Encoding::Gap>(options_.missing), table_.columns);
    encoding->columns = {as_column(columns_.user), as_column(columns_.item)};
    encoding->target = as_column(columns_.rating);
    encoding->users = renumber(users_);
    encoding->items = renumber(items_);
    set.users = static_cast<std::int64_t>(encoding->users.size());
    set.items = static_cast<std::int64_t>(encoding->items.size());
    set.encoding = std::move(encoding);
    for (std::size_t i = 0; i < ratings_.size(); ++i) {
      set.features[2 * i] = users_[i];
      set.features[2 * i + 1] = items_[i];
    }
    set.targets = std::move(ratings_);
    set.feature_names = {name(columns_.user), name(columns_.item)};
    set.target_name = name(columns_.rating);
    return set;
  }

 private:
  void read(std::int64_t row) {
    const std::array<Cell, 3> cells{table_.value(row, columns_.user), table_.value(row, columns_.item),
                                    table_.value(row, columns_.rating)};
    const bool gap = std::ranges::any_of(cells, [](const Cell& cell) { return cell.kind == Cell::Kind::missing; });
    if (gap && options_.missing != Csv::Missing::refuse) return;
    users_.push_back(whole(cells[0], row, columns_.user));
    items_.push_back(whole(cells[1], row, columns_.item));
    if (cells[2].kind != Cell::Kind::number) refuse(row, columns_.rating, "a finite number");
    ratings_.push_back(cells[2].value);
  }

  double whole(const Cell& cell, std::int64_t row, std::int64_t column) const {
    constexpr double exact_most = 0x1p53;  // beyond it two numbers may be read as one
    if (cell.kind != Cell::Kind::number || cell.value != std::floor(cell.value) || std::abs(cell.value) > exact_most)
      refuse(row, column, "a whole number");
    return cell.value;
  }

  [[noreturn]] void refuse(std::int64_t row, std::int64_t column, std::string_view expected) const {
    throw base::ScenarioError(fmt::format("{}:{}: column {} holds {}, expected {}", options_.path,
                                          table_.lines[static_cast<std::size_t>(row)], shown(name(column)),
                                          shown(trimmed(table_.cell(row, column))), expected));
  }

  Encoding::Column as_column(std::int64_t column) const { return {name(column), column, {}, 0.0}; }
  const std::string& name(std::int64_t column) const { return table_.names[static_cast<std::size_t>(column)]; }

  const Csv& options_;
  const CsvTable& table_;
  RatingColumns columns_;
  std::vector<double> users_, items_, ratings_;
};

}  // namespace

Dataset csv_ratings(const Csv& options, const CsvTable& table, const std::string& hint) {
  return RatingsReading(options, table, hint).dataset();
}

}  // namespace simgrad::data
