/// The CSV files: views of the same JSON values, so that a number has one spelling everywhere.
#include <algorithm>
#include <concepts>
#include <map>
#include <span>
#include <string_view>
#include <utility>

#include "outputs/describe_run.h"
#include "outputs/point_summary.h"

namespace simgrad::outputs {
namespace {

using Json = nlohmann::ordered_json;
using Names = std::vector<std::string>;
using record::Presence;

/// RFC 4180: quotes where the text needs them, doubled within.
std::string quoted(const std::string& text) {
  if (text.find_first_of(",\"\r\n") == std::string::npos) return text;
  std::string result = "\"";
  for (const char c : text) result += c == '"' ? std::string("\"\"") : std::string(1, c);
  return result + '"';
}

/// A text that a spreadsheet would compute as a formula stands behind an apostrophe. Numbers are no texts.
std::string guarded(std::string text) {
  constexpr std::string_view formulas = "=+-@\t\r";
  return !text.empty() && formulas.find(text.front()) != std::string_view::npos ? "'" + std::move(text) : text;
}

std::string cell(const Json& value) {
  if (value.is_null()) return "";
  // Through compact, as in results.json, for the sake of bytes that are not UTF-8; then without JSON's escapes.
  if (value.is_string()) return quoted(guarded(Json::parse(compact(value)).get<std::string>()));
  return quoted(compact(value));
}

std::string line(const std::vector<Json>& values) {
  std::string text;
  for (std::size_t i = 0; i < values.size(); ++i) text += (i == 0 ? "" : ",") + cell(values[i]);
  return text + '\n';
}

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

/// The fields of one row: a cell each, in the order of the description.
class RowVisitor {
 public:
  struct Cell {
    std::string_view name;
    Json value;
    Presence presence = Presence::always;
    bool present = true;   ///< false for an optional field without a value
    bool expands = false;  ///< becomes several columns: a grid point's keys, or the metrics by their names
  };
  std::vector<Cell> cells;

  explicit RowVisitor(std::size_t index) : index_(index) {}

  void index(std::string_view name) { cells.push_back({.name = name, .value = index_}); }

  template <class T>
  void value(std::string_view name, const T& field, Presence presence = Presence::always) {
    if (presence == Presence::detail) return;
    Cell& cell = cells.emplace_back(Cell{.name = name, .value = json_value(field), .presence = presence});
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
  }
  void computed(std::string_view name, const std::optional<double>& field) { value(name, field); }
  void text_or_null(std::string_view name, const std::string& field) { value(name, field); }
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

using CsvRow = std::vector<RowVisitor::Cell>;

template <class Item>
CsvRow row_of(const Item& item, std::size_t index) {
  RowVisitor visitor(index);
  describe(item, visitor);
  return std::move(visitor.cells);
}

/// One file: a row for each item of each run. Its first column is the run's id, unless the items are the runs.
template <class Item>
class CsvFile {
 public:
  /// names: the columns of the field that expands; prefix: before each of them in the header.
  CsvFile(const Results& results, Names names, std::string prefix = {})
      : results_(results), names_(std::move(names)), prefix_(std::move(prefix)) {}

  template <class ItemsOf>
  std::string text(ItemsOf items_of) {
    const CsvRow columns = row_of(Item(), 0);
    for (const auto& cell : columns) kept_.push_back(!record::left_out_if_absent(cell.presence));
    if (std::ranges::find(kept_, false) != kept_.end())
      for_each(items_of, [&](const Run&, const Item& item, std::size_t index) {
        const CsvRow row = row_of(item, index);
        for (std::size_t i = 0; i < row.size(); ++i) kept_[i] = kept_[i] || row[i].present;
      });
    std::string all = header(columns);
    for_each(items_of, [&](const Run& run, const Item& item, std::size_t index) { all += line_of(run, item, index); });
    return all;
  }

 private:
  static constexpr bool of_runs = std::same_as<Item, Run>;

  template <class ItemsOf, class Use>
  void for_each(ItemsOf items_of, Use use) const {
    for (const Run& run : results_.runs) {
      std::size_t index = 0;
      for (const Item& item : items_of(run)) use(run, item, index++);
    }
  }

  std::string header(const CsvRow& columns) const {
    std::vector<Json> values;
    if (!of_runs) values.emplace_back("run");
    for (std::size_t i = 0; i < columns.size(); ++i) {
      if (!kept_[i]) continue;
      if (columns[i].expands)
        for (const std::string& name : names_) values.emplace_back(prefix_ + name);
      else
        values.emplace_back(columns[i].name);
    }
    return line(values);
  }

  std::string line_of(const Run& run, const Item& item, std::size_t index) const {
    std::vector<Json> values;
    if (!of_runs) values.emplace_back(run.id);
    CsvRow row = row_of(item, index);
    for (std::size_t i = 0; i < row.size(); ++i) {
      if (!kept_[i]) continue;
      if (row[i].expands)
        for (const std::string& name : names_) values.push_back(expanded(run, row[i].value, name));
      else if (row[i].presence == Presence::some_or_zero && !row[i].present)
        values.emplace_back(0);
      else
        values.push_back(std::move(row[i].value));
    }
    return line(values);
  }

  /// The cell in the column `name` of a field that expands.
  static Json expanded(const Run& run, const Json& value, const std::string& name) {
    if (value.is_object()) return value.value(name, Json());
    return name == run.record.metric_name ? value : Json();
  }

  const Results& results_;
  Names names_;
  std::string prefix_;
  std::vector<bool> kept_;  ///< by field
};

}  // namespace

std::string runs_csv(const Results& results) {
  CsvFile<Run> file(results, parameter_names(results), "param.");
  return file.text([](const Run& run) { return std::span(&run, 1); });
}

std::string summary_csv(const Results& results) {
  const Names keys = parameter_names(results);
  std::vector<Json> header;
  for (const std::string& key : keys) header.emplace_back("param." + key);
  for (const char* name : {"label", "strategy", "workers", "seeds", "reached", "diverged", "failed"})
    header.emplace_back(name);
  for (const SummarisedNumber& number : summarised_numbers())
    for (const char* end : {"", "_low", "_high"}) header.emplace_back(std::string(number.name) + end);
  std::string text = line(header);
  for (const Json& row : point_summaries(results)) {
    std::vector<Json> cells;
    for (const std::string& key : keys) cells.push_back(row["parameters"].value(key, Json()));
    for (const auto& [name, value] : row.items())
      if (name != "parameters") cells.push_back(value);
    text += line(cells);
  }
  return text;
}

std::string curves_csv(const Results& results) {
  CsvFile<record::Evaluation> file(results, metric_names(results));
  return file.text([](const Run& run) { return std::span(run.record.curve); });
}

std::string ranks_csv(const Results& results) {
  return CsvFile<record::RankUse>(results, {}).text([](const Run& run) { return std::span(run.record.ranks); });
}

std::string links_csv(const Results& results) {
  return CsvFile<record::LinkUse>(results, {}).text([](const Run& run) { return std::span(run.record.links); });
}

std::string link_utilisation_csv(const Results& results) {
  return CsvFile<record::LinkBin>(results, {}).text([](const Run& run) { return std::span(run.record.link_bins); });
}

}  // namespace simgrad::outputs
