#include "models/profiles/layer_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <sstream>
#include <string_view>

#include "base/errors.h"
#include "base/files.h"
#include "base/text.h"
#include "models/profiles/amounts.h"

namespace simgrad::models {

namespace {

enum class Column {
  name,
  parameters,
  forward_flops,
  backward_flops,
  forward_s,
  backward_s,
  weights_s,
  activation_bytes,
  entrance_bytes,
  unit,
  times
};
constexpr std::array<std::string_view, 11> column_names{
    "name",      "parameters",       "forward_flops",  "backward_flops", "forward_s", "backward_s",
    "weights_s", "activation_bytes", "entrance_bytes", "unit",           "times"};
constexpr double layers_most = 1e5;

/// The most of a cell of a column.
double most_of(Column column) {
  switch (column) {
    case Column::forward_flops:
    case Column::backward_flops:
      return flops_most;
    case Column::forward_s:
    case Column::backward_s:
    case Column::weights_s:
      return seconds_most;
    case Column::activation_bytes:
    case Column::entrance_bytes:
      return bytes_most;
    default:
      return parameters_most;
  }
}

class TableReader {
  using enum Column;

 public:
  explicit TableReader(const std::string& path) : path_(path) {}

  LayerTable read() {
    std::istringstream stream(base::read_file(path_));
    std::string line;
    while (std::getline(stream, line)) {
      ++line_;
      if (line_ == 1 && line.starts_with("\xEF\xBB\xBF")) line.erase(0, 3);
      if (line.find_first_not_of(" \t\r") == std::string::npos) continue;
      cut(line);
      places_.empty() ? read_header() : read_layer();
    }
    if (table_.layers.empty())
      throw base::ScenarioError(
          fmt::format("{}:{}:1: no layer; expected a line of columns, name,parameters,forward_flops,backward_flops or "
                      "the like, and a line for each layer",
                      path_, std::max(line_, 1)));
    return std::move(table_);
  }

 private:
  struct Cell {
    std::string_view text;
    std::size_t column;
  };

  [[noreturn]] void refuse(std::size_t column, const std::string& text) const {
    throw base::ScenarioError(fmt::format("{}:{}:{}: {}", path_, line_, column, text));
  }

  void cut(std::string_view line) {
    cells_.clear();
    for (std::size_t from = 0; from <= line.size();) {
      const auto comma = std::min(line.find(',', from), line.size());
      std::size_t first = from, last = comma;
      while (first < last && (line[first] == ' ' || line[first] == '\t')) ++first;
      while (last > first && (line[last - 1] == ' ' || line[last - 1] == '\t' || line[last - 1] == '\r')) --last;
      cells_.push_back({line.substr(first, last - first), first + 1});
      from = comma + 1;
    }
    for (const Cell& cell : cells_)
      if (cell.text.find('"') != std::string_view::npos)
        refuse(cell.column, "a quote; expected plain cells between commas");
  }

  void read_header() {
    for (const Cell& cell : cells_) {
      const auto known = std::ranges::find(column_names, cell.text);
      if (known == column_names.end()) {
        const std::vector<std::string> names(column_names.begin(), column_names.end());
        refuse(cell.column, fmt::format("unknown column \"{}\"{}", cell.text, base::suggestion(cell.text, names)));
      }
      const auto column = static_cast<Column>(known - column_names.begin());
      if (has(column)) refuse(cell.column, fmt::format("the column {} a second time", cell.text));
      places_.push_back(column);
    }
    for (const Column column : {name, parameters}) require(column, "");
    if (!has(forward_flops) && !has(backward_flops) && !has(forward_s) && !has(backward_s))
      refuse(
          1,
          "no times and no flops; expected the columns forward_flops and backward_flops, or forward_s and backward_s");
    if (has(forward_flops) || has(backward_flops))
      for (const Column column : {forward_flops, backward_flops}) require(column, " in addition to the other pass's");
    if (has(forward_s) || has(backward_s))
      for (const Column column : {forward_s, backward_s}) require(column, " in addition to the other pass's");
    if (has(weights_s)) require(backward_s, ", of which weights_s is a part");
  }
  bool has(Column column) const { return std::ranges::find(places_, column) != places_.end(); }
  void require(Column column, std::string_view why) const {
    if (!has(column))
      refuse(1, fmt::format("no column {}; expected one{}", column_names[static_cast<std::size_t>(column)], why));
  }

  /// The line's cell in a column that the file has.
  const Cell& cell(Column column) const {
    return cells_[static_cast<std::size_t>(std::ranges::find(places_, column) - places_.begin())];
  }

  double number(Column column) const {
    if (!has(column)) return 0.0;
    const Cell& cell = this->cell(column);
    double value = 0.0;
    const auto [end, error] = std::from_chars(cell.text.data(), cell.text.data() + cell.text.size(), value);
    if (error != std::errc() || end != cell.text.data() + cell.text.size() || !std::isfinite(value) || value < 0.0)
      refuse(cell.column,
             fmt::format("{} must be a number of at least 0, found {}", column_names[static_cast<std::size_t>(column)],
                         cell.text.empty() ? "an empty cell" : fmt::format("\"{}\"", cell.text)));
    const bool counts = column == parameters || column == unit || column == times;
    if (counts && value != std::floor(value))
      refuse(cell.column, fmt::format("{} must be a whole number, found \"{}\"",
                                      column_names[static_cast<std::size_t>(column)], cell.text));
    if (value > most_of(column))
      refuse(cell.column, fmt::format("{} must be at most {:.0e}, found \"{}\"",
                                      column_names[static_cast<std::size_t>(column)], most_of(column), cell.text));
    return value;
  }

  void read_layer() {
    if (cells_.size() != places_.size())
      refuse(1, fmt::format("{} cell{}, expected {} as in the first line", cells_.size(), cells_.size() == 1 ? "" : "s",
                            places_.size()));
    Layer layer{.count = static_cast<std::int64_t>(number(parameters)),
                .forward_flops = number(forward_flops),
                .backward_flops = number(backward_flops)};
    layer.name = cell(name).text;
    layer.kept.bytes = number(activation_bytes);
    layer.forward_s = number(forward_s);
    layer.backward_s = number(backward_s);
    layer.weights_s = weights_of(layer);
    const double count = has(times) ? number(times) : 1.0;
    if (count < 1.0 || static_cast<double>(table_.layers.size()) + count > layers_most)
      refuse(has(times) ? cell(times).column : 1,
             fmt::format("times = {}; expected 1 or more, and at most {:.0e} layers in all", count, layers_most));
    for (double made = 0.0; made < count; made += 1.0) add(layer);
  }

  /// A layer with parameters has some part of its backward pass for their gradients.
  double weights_of(const Layer& layer) const {
    const double seconds = number(weights_s);
    if (seconds > layer.backward_s)
      refuse(cell(weights_s).column,
             fmt::format("weights_s = {} is more than backward_s = {}, of which it is a part; expected at most as much",
                         cell(weights_s).text, cell(backward_s).text));
    if (has(weights_s) && seconds == 0.0 && layer.count > 0 && layer.backward_s > 0.0)
      refuse(
          cell(weights_s).column,
          "weights_s = 0 in a layer with parameters; expected the seconds of backward_s that make their gradients, or "
          "no column weights_s, which stands for half of backward_s");
    return seconds;
  }

  void add(Layer layer) {
    const auto number_of_layers = static_cast<std::int64_t>(table_.layers.size());
    layer.first = table_.layers.empty() ? 0 : table_.layers.back().first + table_.layers.back().count;
    if (static_cast<double>(layer.first) + static_cast<double>(layer.count) > parameters_most)
      refuse(1, fmt::format("more than {:.0e} parameters in all", parameters_most));
    layer.unit = has(unit) ? static_cast<std::int64_t>(number(unit)) : number_of_layers;
    const std::int64_t before = table_.layers.empty() ? 0 : table_.layers.back().unit;
    if (layer.unit != before && layer.unit != before + 1)
      refuse(cell(unit).column,
             fmt::format("unit = {} behind unit {}; expected {} or {}, since the layers of a unit follow each other",
                         layer.unit, before, before, before + 1));
    if (has(entrance_bytes)) table_.entrance_bytes.push_back(number(entrance_bytes));
    table_.layers.push_back(std::move(layer));
  }

  const std::string& path_;
  int line_ = 0;
  std::vector<Cell> cells_;
  std::vector<Column> places_;  ///< the columns of the file, in its order
  LayerTable table_;
};

}  // namespace

LayerTable read_layers(const std::string& path) { return TableReader(path).read(); }

}  // namespace simgrad::models
