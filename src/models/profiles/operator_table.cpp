#include "models/profiles/operator_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <map>
#include <sstream>
#include <string_view>

#include "base/errors.h"
#include "base/files.h"
#include "base/text.h"
#include "models/profiles/amounts.h"

namespace simgrad::models {

namespace {

constexpr double operators_most = 5e3;

/// The names on a cycle among operators that wait for each other, from one of them back to it.
std::string cycle_of(const std::vector<GraphOperator>& table, const std::vector<std::vector<std::size_t>>& inputs,
                     const std::vector<bool>& placed, std::size_t from) {
  std::vector<std::size_t> way;
  std::size_t at = from;
  while (std::ranges::find(way, at) == way.end()) {
    way.push_back(at);
    at = *std::ranges::find_if(inputs[at], [&](std::size_t input) { return !placed[input]; });
  }
  std::string text = table[at].name;
  const auto first = std::ranges::find(way, at);
  for (auto it = first + 1; it != way.end(); ++it) text += " reads " + table[*it].name;
  return text + " reads " + table[at].name;
}

}  // namespace

void GraphOperator::describe(base::Describer& d) {
  d.text("name", name, "the name by which other operators refer to it");
  d.names_or_indices("inputs", inputs, "the operators whose outputs it reads; none: it reads the samples");
  d.number("flops", flops, "flops of its forward pass, per sample", base::Bounds::between(0, flops_most));
  d.number("backward_flops", backward_flops,
           "flops of its backward pass, per sample; default: twice its flops, or as many as these if it has no inputs",
           base::Bounds::between(0, flops_most));
  d.integer("parameters", parameters, "the number of parameters, which are on the operator's device and updated there",
            base::Bounds::between(0, parameters_most));
  d.number("output_bytes", output_bytes,
           "bytes of its output, per sample, which are sent to each device that reads the output",
           base::Bounds::between(0, bytes_most));
  d.number("activation_bytes", activation_bytes,
           "bytes per sample that are kept until the operator's backward pass; default: output_bytes",
           base::Bounds::between(0, bytes_most));
  if (name.empty()) d.refuse("name", "an operator without a name; give it one that the inputs of others can have");
}

OrderedGraph ordered(const std::vector<GraphOperator>& table) {
  std::map<std::string, std::size_t> numbers;
  std::vector<std::string> names;
  double parameters = 0.0;
  for (std::size_t i = 0; i < table.size(); ++i) {
    if (parameters += static_cast<double>(table[i].parameters); parameters > parameters_most)
      return {.fault = GraphFault{i, false, fmt::format("more than {:.0e} parameters in all", parameters_most)}};
    if (!numbers.emplace(table[i].name, i).second)
      return {.fault =
                  GraphFault{i, false, fmt::format("a second operator \"{}\"; give it another name", table[i].name)}};
    names.push_back(table[i].name);
  }
  std::vector<std::vector<std::size_t>> inputs(table.size());
  for (std::size_t i = 0; i < table.size(); ++i)
    for (const std::string& input : table[i].inputs) {
      const auto known = numbers.find(input);
      if (known == numbers.end())
        return {.fault = GraphFault{i, true,
                                    fmt::format("operator \"{}\" reads \"{}\", which is no operator{}", table[i].name,
                                                input, base::suggestion(input, names))}};
      if (std::ranges::find(inputs[i], known->second) != inputs[i].end())
        return {.fault = GraphFault{
                    i, true, fmt::format("operator \"{}\" reads \"{}\" twice; name it once", table[i].name, input)}};
      inputs[i].push_back(known->second);
    }
  OrderedGraph graph;
  std::vector<bool> placed(table.size(), false);
  std::vector<std::size_t> places(table.size());
  while (graph.order.size() < table.size()) {
    std::size_t next = 0;
    const auto waits = [&](std::size_t i) {
      return placed[i] || std::ranges::any_of(inputs[i], [&](std::size_t input) { return !placed[input]; });
    };
    while (next < table.size() && waits(next)) ++next;
    if (next == table.size()) {
      const std::size_t first = static_cast<std::size_t>(std::ranges::find(placed, false) - placed.begin());
      return {.fault = GraphFault{first, true,
                                  fmt::format("operators read each other in a cycle: {}; leave out one of "
                                              "these inputs",
                                              cycle_of(table, inputs, placed, first))}};
    }
    placed[next] = true;
    places[next] = graph.order.size();
    graph.order.push_back(next);
    std::vector<std::size_t>& input_places = graph.inputs.emplace_back();
    for (const std::size_t input : inputs[next]) input_places.push_back(places[input]);
  }
  return graph;
}

namespace {

enum class OperatorColumn { name, inputs, flops, backward_flops, parameters, output_bytes, activation_bytes };
constexpr std::array<std::string_view, 7> operator_columns{
    "name", "inputs", "flops", "backward_flops", "parameters", "output_bytes", "activation_bytes"};

std::vector<std::string> words_of(const std::string& text) {
  std::istringstream stream(text);
  std::vector<std::string> words;
  for (std::string word; stream >> word;) words.push_back(word);
  return words;
}

class OperatorReader {
  using enum OperatorColumn;

 public:
  explicit OperatorReader(const std::string& path) : path_(path) {}

  std::vector<GraphOperator> read() {
    std::istringstream stream(base::read_file(path_));
    std::string line;
    while (std::getline(stream, line)) {
      ++line_;
      if (line_ == 1 && line.starts_with("\xEF\xBB\xBF")) line.erase(0, 3);
      if (line.find_first_not_of(" \t\r") == std::string::npos) continue;
      cut(line);
      header_.empty() ? read_header() : read_operator();
    }
    if (table_.empty())
      refuse(std::max(line_, 1), 1,
             "no operator; expected a line of columns, name,inputs,flops,output_bytes or the like, and a line for each "
             "operator");
    if (const auto fault = ordered(table_).fault) {
      const Place& place = places_[fault->at];
      refuse(place.line, fault->in_its_inputs ? place.inputs : place.name, fault->text);
    }
    return std::move(table_);
  }

 private:
  struct Cell {
    std::string text;
    std::size_t column;
  };
  struct Place {
    int line = 0;
    std::size_t name = 1, inputs = 1;
  };

  [[noreturn]] void refuse(int line, std::size_t column, const std::string& text) const {
    throw base::ScenarioError(fmt::format("{}:{}:{}: {}", path_, line, column, text));
  }

  void cut(const std::string& line) {
    cells_.clear();
    for (std::size_t from = 0; from <= line.size();) {
      const std::size_t comma = std::min(line.find(',', from), line.size());
      std::size_t first = from, last = comma;
      const auto blank = [&](std::size_t at) { return line[at] == ' ' || line[at] == '\t' || line[at] == '\r'; };
      while (first < last && blank(first)) ++first;
      while (last > first && blank(last - 1)) --last;
      cells_.push_back({line.substr(first, last - first), first + 1});
      from = comma + 1;
    }
    for (const Cell& cell : cells_)
      if (cell.text.find('"') != std::string::npos)
        refuse(line_, cell.column, "a quote; expected plain cells between commas");
  }

  void read_header() {
    for (const Cell& cell : cells_) {
      const auto known = std::ranges::find(operator_columns, cell.text);
      if (known == operator_columns.end())
        refuse(line_, cell.column,
               fmt::format("unknown column \"{}\"{}", cell.text,
                           base::suggestion(
                               cell.text, std::vector<std::string>(operator_columns.begin(), operator_columns.end()))));
      const auto column = static_cast<OperatorColumn>(known - operator_columns.begin());
      if (has(column)) refuse(line_, cell.column, fmt::format("the column {} a second time", cell.text));
      header_.push_back(column);
    }
    for (const OperatorColumn column : {name, flops, output_bytes})
      if (!has(column))
        refuse(line_, 1, fmt::format("no column {}; expected one", operator_columns[static_cast<std::size_t>(column)]));
  }
  bool has(OperatorColumn column) const { return std::ranges::find(header_, column) != header_.end(); }
  const Cell& cell(OperatorColumn column) const {
    return cells_[static_cast<std::size_t>(std::ranges::find(header_, column) - header_.begin())];
  }
  bool written(OperatorColumn column) const { return has(column) && !cell(column).text.empty(); }

  double number(OperatorColumn column) const {
    const Cell& number_cell = cell(column);
    const char *const first = number_cell.text.data(), *const last = first + number_cell.text.size();
    double value = 0.0;
    const auto [end, error] = std::from_chars(first, last, value);
    if (error != std::errc() || end != last || !std::isfinite(value) || value < 0.0)
      refuse(
          line_, number_cell.column,
          fmt::format("{} must be a number of at least 0, found {}", operator_columns[static_cast<std::size_t>(column)],
                      number_cell.text.empty() ? "an empty cell" : fmt::format("\"{}\"", number_cell.text)));
    const double most = column == parameters                          ? parameters_most
                        : column == flops || column == backward_flops ? flops_most
                                                                      : bytes_most;
    if (value > most)
      refuse(line_, number_cell.column,
             fmt::format("{} must be at most {:.0e}, found \"{}\"", operator_columns[static_cast<std::size_t>(column)],
                         most, number_cell.text));
    if (column == parameters && value != std::floor(value))
      refuse(line_, number_cell.column,
             fmt::format("parameters must be a whole number, found \"{}\"", number_cell.text));
    return value;
  }

  void read_operator() {
    if (cells_.size() != header_.size())
      refuse(line_, 1,
             fmt::format("{} cell{}, expected {} as in the first line", cells_.size(), cells_.size() == 1 ? "" : "s",
                         header_.size()));
    if (static_cast<double>(table_.size()) >= operators_most)
      refuse(line_, 1, fmt::format("more than {:.0e} operators", operators_most));
    GraphOperator graph_operator;
    graph_operator.name = cell(name).text;
    if (graph_operator.name.empty()) refuse(line_, cell(name).column, "an operator without a name; expected one");
    if (graph_operator.name.find(' ') != std::string::npos)
      refuse(line_, cell(name).column,
             fmt::format("a space in \"{}\"; names in inputs have spaces between them", graph_operator.name));
    if (has(inputs)) graph_operator.inputs = words_of(cell(inputs).text);
    graph_operator.flops = number(flops);
    graph_operator.output_bytes = number(output_bytes);
    if (written(backward_flops)) graph_operator.backward_flops = number(backward_flops);
    if (written(parameters)) graph_operator.parameters = static_cast<std::int64_t>(number(parameters));
    if (written(activation_bytes)) graph_operator.activation_bytes = number(activation_bytes);
    places_.push_back({line_, cell(name).column, has(inputs) ? cell(inputs).column : cell(name).column});
    table_.push_back(std::move(graph_operator));
  }

  const std::string& path_;
  int line_ = 0;
  std::vector<Cell> cells_;
  std::vector<OperatorColumn> header_;  ///< the columns of the file, in its order
  std::vector<GraphOperator> table_;
  std::vector<Place> places_;  ///< of the operators' cells
};

}  // namespace

std::vector<GraphOperator> read_operators(const std::string& path) { return OperatorReader(path).read(); }

}  // namespace simgrad::models
