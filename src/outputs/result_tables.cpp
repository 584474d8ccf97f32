#include "outputs/result_tables.h"

#include <algorithm>
#include <concepts>
#include <map>
#include <memory>
#include <span>
#include <string_view>
#include <utility>

#include "outputs/describe_run.h"
#include "outputs/pairs.h"
#include "outputs/point_summary.h"
#include "outputs/quantile_rows.h"

namespace simgrad::outputs {
namespace {

using Json = nlohmann::ordered_json;
using Names = std::vector<std::string>;
using record::Presence;

void add_once(Names& names, const std::string& name) {
  if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
}

Names parameter_names(const Results& results) {
  Names names;
  for (const Run& run : results.runs) {
    for (const auto& [key, value] : run.parameters.items()) add_once(names, key);
  }
  return names;
}

/// The metrics that occur: a column each, since an accuracy and an R2 do not belong under one name.
Names metric_names(const Results& results) {
  Names names;
  for (const Run& run : results.runs) {
    const auto& curve = run.record.curve;
    const bool occurs = std::any_of(curve.begin(), curve.end(), [](const auto& e) { return e.metric.has_value(); });
    if (occurs) add_once(names, run.record.metric_name);
  }
  return names;
}

template <class T>
inline constexpr ColumnType column_type = std::floating_point<T> ? ColumnType::number
                                          : std::integral<T>     ? ColumnType::integer
                                                                 : ColumnType::text;
template <class T>
inline constexpr ColumnType column_type<std::optional<T>> = column_type<T>;

/// The fields of one row: a cell each, in the order of the description.
class RowVisitor {
 public:
  struct Cell {
    std::string_view name;
    Json value;
    ColumnType type = ColumnType::any;
    Presence presence = Presence::always;
    bool present = true;   ///< false for an optional field without a value
    bool expands = false;  ///< becomes several columns: a grid point's keys, or the metrics by their names
  };
  std::vector<Cell> cells;

  explicit RowVisitor(std::size_t index) : index_(index) { cells.reserve(24); }

  void index(std::string_view name) { cells.push_back({.name = name, .value = index_, .type = ColumnType::integer}); }

  template <class T>
  void value(std::string_view name, const T& field, Presence presence = Presence::always) {
    if (presence == Presence::detail) return;
    Cell& cell = cells.emplace_back(
        Cell{.name = name, .value = json_value(field), .type = column_type<T>, .presence = presence});
    if constexpr (is_optional<T>) cell.present = field.has_value();
  }
  void value(std::string_view name, const Names& texts) { value(name, joined(texts)); }
  void metric(std::string_view name, const std::optional<double>& field) {
    value(name, field);
    cells.back().expands = true;
  }
  void grid_point(std::string_view name, const Json& field) {
    value(name, field);
    cells.back().expands = true;
    cells.back().type = ColumnType::any;
  }
  void computed(std::string_view name, const std::optional<double>& field) { value(name, field); }
  void text_or_null(std::string_view name, const std::string& field) {
    value(name, field);
    if (field.empty()) cells.back().value = nullptr;
  }
  void counts(std::string_view /*name*/, const std::map<std::int64_t, std::int64_t>& /*field*/) {}
  template <class Item>
  void items(std::string_view /*name*/, const std::vector<Item>& /*all*/, Presence /*presence*/) {}

 private:
  static std::string joined(const Names& texts) {
    std::string all;
    for (const std::string& text : texts) all += (all.empty() ? "" : "; ") + text;
    return all;
  }

  std::size_t index_;
};

using RowCells = std::vector<RowVisitor::Cell>;

template <class Item>
RowCells row_of(const Item& item, std::size_t index) {
  RowVisitor visitor(index);
  describe(item, visitor);
  return std::move(visitor.cells);
}

/// The rows of one table: one for each item of each run. The first column is the run's id, unless the items are runs.
template <class Item>
class Rows {
 public:
  using ItemsOf = std::span<const Item> (*)(const Run& run);

  /// names: the columns of the field that expands; prefix: before each of them in the header.
  Rows(const Results& results, ItemsOf items_of, Names names, std::string prefix)
      : results_(results), items_of_(items_of), names_(std::move(names)), prefix_(std::move(prefix)) {
    for (const auto& cell : row_of(Item(), 0)) kept_.push_back(!record::left_out_if_absent(cell.presence));
    if (std::ranges::find(kept_, false) == kept_.end()) return;
    each_item([&](const Run&, const Item& item, std::size_t index) {
      const RowCells row = row_of(item, index);
      for (std::size_t i = 0; i < row.size(); ++i) kept_[i] = kept_[i] || row[i].present;
    });
  }

  std::vector<ResultColumn> columns() const {
    std::vector<ResultColumn> all;
    if (!of_runs) all.push_back({"run", ColumnType::text});
    const RowCells fields = row_of(Item(), 0);
    for (std::size_t i = 0; i < fields.size(); ++i) {
      if (!kept_[i]) continue;
      if (fields[i].expands)
        for (const std::string& name : names_) all.push_back({prefix_ + name, fields[i].type});
      else
        all.push_back({std::string(fields[i].name), fields[i].type});
    }
    return all;
  }

  void each(const std::function<void(const ResultRow& row)>& use) const {
    each_item([&](const Run& run, const Item& item, std::size_t index) { use(values(run, item, index)); });
  }

 private:
  static constexpr bool of_runs = std::same_as<Item, Run>;

  template <class Use>
  void each_item(Use use) const {
    for (const Run& run : results_.runs) {
      std::size_t index = 0;
      for (const Item& item : items_of_(run)) use(run, item, index++);
    }
  }

  ResultRow values(const Run& run, const Item& item, std::size_t index) const {
    ResultRow values;
    values.reserve(kept_.size() + names_.size() + 1);
    if (!of_runs) values.emplace_back(run.id);
    RowCells row = row_of(item, index);
    for (std::size_t i = 0; i < row.size(); ++i) {
      if (!kept_[i]) continue;
      if (row[i].expands)
        for (const std::string& name : names_) values.push_back(expanded(run, row[i].value, name));
      else if (row[i].presence == Presence::some_or_zero && !row[i].present)
        values.emplace_back(0);
      else
        values.push_back(std::move(row[i].value));
    }
    return values;
  }

  /// The value in the column `name` of a field that expands.
  static Json expanded(const Run& run, const Json& value, const std::string& name) {
    if (value.is_object()) return value.value(name, Json());
    return name == run.record.metric_name ? value : Json();
  }

  const Results& results_;
  ItemsOf items_of_;
  Names names_;
  std::string prefix_;
  std::vector<bool> kept_;  ///< by field
};

template <class Item>
ResultTable table_of(std::string name, const Results& results, typename Rows<Item>::ItemsOf items_of, Names names = {},
                     std::string prefix = {}) {
  const auto rows = std::make_shared<const Rows<Item>>(results, items_of, std::move(names), std::move(prefix));
  return {std::move(name), rows->columns(), [rows](const auto& use) { rows->each(use); }};
}

/// Whether the rows of several runs are so many that quantiles stand for them.
template <class ItemsOf>
bool has_quantiles(const Results& results, ItemsOf items_of) {
  if (results.all_ranks || results.runs.size() < 2) return false;
  std::size_t rows = 0;
  for (const Run& run : results.runs) rows += items_of(run).size();
  return rows > most_rows_in_full;
}

}  // namespace

std::string sound_text(const std::string& text) {
  const auto plain = [](char c) { return c >= ' ' && c <= '~'; };
  return std::ranges::all_of(text, plain) ? text : Json::parse(compact(text)).get<std::string>();
}

ResultTable runs_table(const Results& results) {
  return table_of<Run>(
      "runs", results, [](const Run& run) { return std::span(&run, 1); }, parameter_names(results), "param.");
}

ResultTable summary_table(const Results& results) {
  const Names keys = parameter_names(results);
  ResultTable table{.name = "summary", .columns = {}, .each_row = {}};
  for (const std::string& key : keys) table.columns.push_back({"param." + key, ColumnType::any});
  for (const char* name : {"label", "strategy"}) table.columns.push_back({name, ColumnType::text});
  for (const char* name : {"workers", "seeds", "reached", "diverged", "failed"})
    table.columns.push_back({name, ColumnType::integer});
  for (const SummarisedNumber& number : summarised_numbers())
    for (const char* end : {"", "_low", "_high"})
      table.columns.push_back({std::string(number.name) + end, ColumnType::number});
  for (const char* name : {"compared_by", "best"}) table.columns.push_back({name, ColumnType::text});
  for (const char* name : {"behind", "behind_low", "behind_high"}) table.columns.push_back({name, ColumnType::number});
  table.each_row = [&results, keys](const auto& use) {
    for (const Json& row : point_summaries(results)) {
      ResultRow values;
      for (const std::string& key : keys) values.push_back(row["parameters"].value(key, Json()));
      for (const auto& [name, value] : row.items())
        if (name != "parameters") values.push_back(value);
      use(values);
    }
  };
  return table;
}

ResultTable curves_table(const Results& results) {
  return table_of<record::Evaluation>(
      "curves", results, [](const Run& run) { return std::span(run.record.curve); }, metric_names(results));
}

ResultTable ranks_table(const Results& results) {
  const auto ranks_of = [](const Run& run) { return std::span(run.record.ranks); };
  ResultTable table = table_of<record::RankUse>("ranks", results, ranks_of);
  return has_quantiles(results, ranks_of) ? by_quantiles(std::move(table), "role", "rank") : table;
}

ResultTable links_table(const Results& results) {
  const auto links_of = [](const Run& run) { return std::span(run.record.links); };
  ResultTable table = table_of<record::LinkUse>("links", results, links_of);
  return has_quantiles(results, links_of) ? by_quantiles(std::move(table), "link_class", "link") : table;
}

ResultTable link_utilisation_table(const Results& results) {
  return table_of<record::LinkBin>("link_utilisation", results,
                                   [](const Run& run) { return std::span(run.record.link_bins); });
}

ResultTable requests_table(const Results& results) {
  return table_of<record::ServedRequest>("requests", results,
                                         [](const Run& run) { return std::span(run.record.requests); });
}

std::vector<ResultTable> result_tables(const Results& results) {
  std::vector<ResultTable> all = {runs_table(results), summary_table(results), curves_table(results),
                                  ranks_table(results), links_table(results)};
  if (has_pairs(results)) all.push_back(pairs_table(results));
  if (std::ranges::any_of(results.runs, [](const Run& run) { return !run.record.link_bins.empty(); }))
    all.push_back(link_utilisation_table(results));
  if (std::ranges::any_of(results.runs, [](const Run& run) { return !run.record.requests.empty(); }))
    all.push_back(requests_table(results));
  return all;
}

}  // namespace simgrad::outputs
