#include "models/profiles/layer_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <fstream>
#include <string_view>

#include "base/errors.h"
#include "base/text.h"

namespace simgrad::models {

namespace {

enum class Column { name, parameters, forward_flops, backward_flops, forward_s, backward_s, activation_bytes, unit };
constexpr std::array<std::string_view, 8> column_names{"name",      "parameters", "forward_flops",    "backward_flops",
                                                       "forward_s", "backward_s", "activation_bytes", "unit"};
/// A double counts whole numbers up to here one by one.
constexpr double whole_most = 9e15;

class TableReader {
  using enum Column;

 public:
  explicit TableReader(const std::string& path) : path_(path) {}

  std::vector<Layer> read() {
    std::ifstream stream(path_);
    if (!stream) throw base::EnvironmentError(fmt::format("{}: cannot be opened", path_));
    std::string line;
    while (std::getline(stream, line)) {
      ++line_;
      if (line_ == 1 && line.starts_with("\xEF\xBB\xBF")) line.erase(0, 3);
      if (line.find_first_not_of(" \t\r") == std::string::npos) continue;
      cut(line);
      places_.empty() ? read_header() : read_layer();
    }
    if (stream.bad()) throw base::EnvironmentError(fmt::format("{}: cannot be read", path_));
    if (layers_.empty())
      throw base::ScenarioError(fmt::format(
          "{}:{}:1: no layer; expected a line of columns, name,parameters,forward_flops,backward_flops or the "
          "like, and a line a layer",
          path_, std::max(line_, 1)));
    return std::move(layers_);
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
      for (const Column column : {forward_flops, backward_flops}) require(column, " beside the other pass's");
    if (has(forward_s) || has(backward_s))
      for (const Column column : {forward_s, backward_s}) require(column, " beside the other pass's");
  }
  bool has(Column column) const { return std::ranges::find(places_, column) != places_.end(); }
  void require(Column column, std::string_view why) const {
    if (!has(column))
      refuse(1, fmt::format("no column {}; expected one{}", column_names[static_cast<std::size_t>(column)], why));
  }

  double number(Column column) const {
    const auto at = static_cast<std::size_t>(std::ranges::find(places_, column) - places_.begin());
    if (at == places_.size()) return 0.0;
    const Cell& cell = cells_[at];
    double value = 0.0;
    const auto [end, error] = std::from_chars(cell.text.data(), cell.text.data() + cell.text.size(), value);
    if (error != std::errc() || end != cell.text.data() + cell.text.size() || !std::isfinite(value) || value < 0.0)
      refuse(cell.column,
             fmt::format("{} must be a number of at least 0, found {}", column_names[static_cast<std::size_t>(column)],
                         cell.text.empty() ? "an empty cell" : fmt::format("\"{}\"", cell.text)));
    const bool counts = column == parameters || column == unit;
    if (counts && (value != std::floor(value) || value > whole_most))
      refuse(cell.column, fmt::format("{} must be a whole number, found \"{}\"",
                                      column_names[static_cast<std::size_t>(column)], cell.text));
    return value;
  }

  void read_layer() {
    if (cells_.size() != places_.size())
      refuse(1, fmt::format("{} cell{}, expected {} as in the first line", cells_.size(), cells_.size() == 1 ? "" : "s",
                            places_.size()));
    Layer layer{.first = layers_.empty() ? 0 : layers_.back().first + layers_.back().count,
                .count = static_cast<std::int64_t>(number(parameters)),
                .forward_flops = number(forward_flops),
                .backward_flops = number(backward_flops)};
    if (static_cast<double>(layer.first) + static_cast<double>(layer.count) > whole_most)
      refuse(1, fmt::format("more than {:.0e} parameters in all", whole_most));
    layer.name = cells_[static_cast<std::size_t>(std::ranges::find(places_, name) - places_.begin())].text;
    layer.kept.bytes = number(activation_bytes);
    layer.forward_s = number(forward_s);
    layer.backward_s = number(backward_s);
    layer.unit = has(unit) ? static_cast<std::int64_t>(number(unit)) : static_cast<std::int64_t>(layers_.size());
    const std::int64_t before = layers_.empty() ? 0 : layers_.back().unit;
    if (layer.unit != before && layer.unit != before + 1)
      refuse(cells_[static_cast<std::size_t>(std::ranges::find(places_, unit) - places_.begin())].column,
             fmt::format("unit = {} behind unit {}; expected {} or {}, since the layers of a unit follow each other",
                         layer.unit, before, before, before + 1));
    layers_.push_back(std::move(layer));
  }

  const std::string& path_;
  int line_ = 0;
  std::vector<Cell> cells_;
  std::vector<Column> places_;  ///< the columns of the file, in its order
  std::vector<Layer> layers_;
};

}  // namespace

std::vector<Layer> read_layers(const std::string& path) { return TableReader(path).read(); }

}  // namespace simgrad::models
