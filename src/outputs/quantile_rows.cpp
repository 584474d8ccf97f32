#include "outputs/quantile_rows.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

namespace simgrad::outputs {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::array<double, 7> quantile_shares{0.0, 0.05, 0.25, 0.5, 0.75, 0.95, 1.0};

std::size_t place_of(const ResultTable& table, const std::string& column) {
  return static_cast<std::size_t>(std::ranges::find(table.columns, column, &ResultColumn::name) -
                                  table.columns.begin());
}

/// The quantiles of a column of numbers, by share; nulls do not count.
std::vector<Json> quantiles(const std::vector<ResultRow>& rows, std::size_t column) {
  std::vector<Json> values;
  for (const ResultRow& row : rows)
    if (row[column].is_number()) values.push_back(row[column]);
  std::ranges::sort(values, {}, [](const Json& value) { return value.get<double>(); });
  std::vector<Json> all(quantile_shares.size());
  for (std::size_t k = 0; k < quantile_shares.size() && !values.empty(); ++k) {
    const auto below =
        static_cast<std::size_t>(std::ceil(quantile_shares[k] * static_cast<double>(values.size()) - 1e-9));
    all[k] = values[std::max<std::size_t>(below, 1) - 1];
  }
  return all;
}

/// A text that all rows have, for each share; null if they differ.
std::vector<Json> common(const std::vector<ResultRow>& rows, std::size_t column) {
  const Json& first = rows.front()[column];
  const bool equal = std::ranges::all_of(rows, [&](const ResultRow& row) { return row[column] == first; });
  return std::vector<Json>(quantile_shares.size(), equal ? first : Json());
}

using UseRow = std::function<void(const ResultRow& row)>;

/// Hands on the rows of one group of a run.
void use_group(const std::vector<ResultRow>& rows, const ResultTable& table, std::size_t name, const UseRow& use) {
  if (rows.size() <= quantile_shares.size()) {
    for (ResultRow row : rows) {
      row.emplace_back();
      use(row);
    }
    return;
  }
  std::vector<ResultRow> summary(quantile_shares.size());
  for (std::size_t column = 0; column < table.columns.size(); ++column) {
    const bool number =
        table.columns[column].type == ColumnType::number || table.columns[column].type == ColumnType::integer;
    const std::vector<Json> values = column == name ? std::vector<Json>(quantile_shares.size())
                                     : number       ? quantiles(rows, column)
                                                    : common(rows, column);
    for (std::size_t k = 0; k < quantile_shares.size(); ++k) summary[k].push_back(values[k]);
  }
  for (std::size_t k = 0; k < quantile_shares.size(); ++k) {
    summary[k].emplace_back(quantile_shares[k]);
    use(summary[k]);
  }
}

/// Hands on the rows of one run, group by group in the order of their first rows.
void use_run(std::vector<ResultRow> rows, const ResultTable& table, std::size_t group, std::size_t name,
             const UseRow& use) {
  while (!rows.empty()) {
    const Json key = rows.front()[group];
    const auto others =
        std::stable_partition(rows.begin(), rows.end(), [&](const ResultRow& row) { return row[group] == key; });
    std::vector<ResultRow> rest(std::make_move_iterator(others), std::make_move_iterator(rows.end()));
    rows.erase(others, rows.end());
    use_group(rows, table, name, use);
    rows = std::move(rest);
  }
}

}  // namespace

ResultTable by_quantiles(ResultTable table, const std::string& group, const std::string& name) {
  const std::size_t group_place = place_of(table, group), name_place = place_of(table, name);
  ResultTable quantiles{.name = table.name, .columns = table.columns, .each_row = {}};
  quantiles.columns.push_back({"quantile", ColumnType::number});
  quantiles.each_row = [table = std::move(table), group_place, name_place](const UseRow& use) {
    std::vector<ResultRow> of_run;
    table.each_row([&](const ResultRow& row) {
      if (!of_run.empty() && of_run.front().front() != row.front())
        use_run(std::exchange(of_run, {}), table, group_place, name_place, use);
      of_run.push_back(row);
    });
    use_run(std::move(of_run), table, group_place, name_place, use);
  };
  return quantiles;
}

}  // namespace simgrad::outputs
