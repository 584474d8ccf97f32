/// The values that keys take in turn: [grid] with its zips, and `--grid`.
#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <stdexcept>
#include <tuple>

#include "base/errors.h"
#include "scenario/formula.h"
#include "scenario/node.h"

namespace simgrad::scenario {

namespace {

Value value_of(Node node, const Position& position) {
  place(node, position);
  return {inline_toml(node), position, std::make_shared<const Node>(std::move(node))};
}

/// Adds the value, or those of a formula.  Errors: std::invalid_argument for an unsound formula.
void add_values(const Node& node, std::vector<Value>& values) {
  const auto* text = node.as<std::string>();
  if (!text || !is_formula(*text)) return values.push_back(value_of(node, node.position));
  for (Node& each : formula_values(*text, node.position)) values.push_back(value_of(std::move(each), node.position));
}

/// The axes of [grid], or of a zip.
class AxesOf {
 public:
  AxesOf(std::string title, Faults& faults) : title_(std::move(title)), faults_(faults) {}

  void collect(const Table& table, const std::string& prefix) {
    for (const Entry& entry : table.entries) {
      const std::string key = prefix.empty() ? entry.key : fmt::format("{}.{}", prefix, entry.key);
      if (const auto* nested = entry.node.as<Table>())
        collect(*nested, key);
      else
        add(key, entry);
    }
  }

  std::vector<Axis> take() {
    sort_by_place(axes_);
    return std::move(axes_);
  }

 private:
  void add(const std::string& key, const Entry& entry) {
    Axis axis{.key = key, .values = {}, .position = entry.position};
    const auto* list = entry.node.as<Array>();
    const auto* text = entry.node.as<std::string>();
    if (!list && !(text && is_formula(*text)))
      return faults_.add(entry.node.position,
                         fmt::format("{} in {} must be a list of values, as in [1, 2, 4], or range(a,b,step) or "
                                     "logspace(a,b,n) in quotes, found {}",
                                     toml_string(key), title_, shown(entry.node)));
    try {
      if (!list) add_values(entry.node, axis.values);
      for (std::size_t i = 0; list && i < list->size(); ++i) add_values((*list)[i], axis.values);
    } catch (const std::invalid_argument& fault) {
      return faults_.add(entry.node.position, fmt::format("{} in {}: {}", toml_string(key), title_, fault.what()));
    }
    if (axis.values.empty())
      return faults_.add(entry.node.position, fmt::format("{} in {} has no values", toml_string(key), title_));
    axes_.push_back(std::move(axis));
  }

  /// The keys of one table may be spread over several lines, as cluster.workers, training.seed, cluster.speed. A file
  /// that others extend comes first.
  static void sort_by_place(std::vector<Axis>& axes) {
    std::vector<std::string> files;
    for (const Axis& axis : axes)
      if (std::ranges::find(files, axis.position.file) == files.end()) files.push_back(axis.position.file);
    std::ranges::stable_sort(axes, {}, [&](const Axis& axis) {
      return std::tuple(axis.position.line == 0, std::ranges::find(files, axis.position.file) - files.begin(),
                        axis.position.line, axis.position.column);
    });
  }

  std::string title_;
  Faults& faults_;
  std::vector<Axis> axes_;
};

/// True if all lists of a zip are equally long. Adds a fault for each that is not.
bool equally_long(const std::vector<Axis>& zip, Faults& faults) {
  bool equal = true;
  for (const Axis& axis : zip) {
    if (axis.values.size() == zip.front().values.size()) continue;
    equal = false;
    const std::string place = zip.front().position.line == 0 ? "" : " at " + zip.front().position.text();
    faults.add(axis.position, fmt::format("the lists of a zip are equally long, but {} has {} value{} and {}{} has {}",
                                          toml_string(axis.key), axis.values.size(), axis.values.size() == 1 ? "" : "s",
                                          toml_string(zip.front().key), place, zip.front().values.size()));
  }
  return equal;
}

/// The axes of one table of [[grid.zip]].
std::vector<Axis> zip_of(const Node& node, int number, Faults& faults) {
  const auto* table = node.as<Table>();
  if (!table || table->entries.empty()) {
    faults.add(node.position,
               fmt::format("a zip is a table of lists under [[grid.zip]], found {}", table ? "none" : shown(node)));
    return {};
  }
  AxesOf zip("[[grid.zip]]", faults);
  zip.collect(*table, "");
  std::vector<Axis> axes = zip.take();
  if (!equally_long(axes, faults)) return {};
  for (Axis& axis : axes) axis.zip = number;
  return axes;
}

/// Leaves out axes whose key is there already, with a fault for each.
std::vector<Axis> distinct(std::vector<Axis> all, Faults& faults) {
  std::vector<Axis> first;
  for (Axis& axis : all) {
    const auto same = std::ranges::find(first, axis.key, &Axis::key);
    if (same == first.end())
      first.push_back(std::move(axis));
    else
      faults.add(axis.position,
                 fmt::format("{} is in [grid] twice, first at {}", toml_string(axis.key), same->position.text()));
  }
  return first;
}

/// Splits a text at the separators outside of quotes, brackets and the parentheses of formulas.
std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> pieces;
  char quote = '\0';
  int depth = 0, formulas = 0;
  std::size_t from = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (quote != '\0') {
      if (c == quote) quote = '\0';
    } else if (c == '"' || c == '\'') {
      quote = c;
    } else if (c == '[' || c == '{') {
      ++depth;
    } else if (c == ']' || c == '}') {
      --depth;
    } else if (c == '(' && is_formula(text.substr(text.find_last_of("=,", i) + 1))) {
      ++formulas;
    } else if (c == ')' && formulas > 0) {
      --formulas;
    } else if (c == separator && depth == 0 && formulas == 0) {
      pieces.push_back(text.substr(from, i - from));
      from = i + 1;
    }
  }
  pieces.push_back(text.substr(from));
  return pieces;
}

[[noreturn]] void refuse_option(const Position& position, std::string_view fault) {
  throw base::ScenarioError(fmt::format("{}: {}", position.text(), fault));
}

/// KEY=VALUE,VALUE,... of --grid.
Axis axis_of(std::string_view assignment, const Position& position) {
  const Assignment parts = split_assignment(assignment, "--grid", "KEY=VALUE,VALUE,...");
  if (!key_parts(parts.key))
    refuse_option(position, fmt::format("malformed key {}; expected names with dots between, as in cluster.workers",
                                        toml_string(parts.key)));
  Axis axis{.key = std::string(parts.key), .values = {}, .position = position};
  try {
    if (const Node whole = parse_value(parts.value, position); const auto* list = whole.as<Array>()) {
      for (const Node& value : *list) add_values(value, axis.values);
    } else {
      for (const std::string_view piece : split(parts.value, ',')) {
        if (trimmed(piece).empty()) refuse_option(position, "a value is empty");
        add_values(parse_value(piece, position), axis.values);
      }
    }
  } catch (const std::invalid_argument& fault) {
    refuse_option(position, fault.what());
  }
  if (axis.values.empty()) refuse_option(position, "the list is empty");
  return axis;
}

}  // namespace

std::vector<Axis> axes(const Table& grid, Faults& faults) {
  Table plain = grid;
  std::vector<Node> zips;
  if (const Entry* entry = grid.find("zip")) {
    if (const auto* list = entry->node.as<Array>())
      zips = *list;
    else
      zips.push_back(entry->node);
    std::erase_if(plain.entries, [](const Entry& each) { return each.key == "zip"; });
  }
  AxesOf own("[grid]", faults);
  own.collect(plain, "");
  std::vector<Axis> all = own.take();
  int number = 0;
  for (const Node& zip : zips)
    for (Axis& axis : zip_of(zip, ++number, faults)) all.push_back(std::move(axis));
  return distinct(std::move(all), faults);
}

std::vector<Axis> Document::axes(std::string_view option) {
  const Position position{.file = fmt::format("--grid {}", option)};
  const std::string_view text = trimmed(option);
  constexpr std::string_view opening = "zip(";
  if (!text.starts_with(opening)) return {axis_of(option, position)};
  if (!text.ends_with(')')) refuse_option(position, "\")\" is missing at the end");
  Faults faults;
  std::vector<Axis> zip;
  for (const std::string_view part : split(text.substr(opening.size(), text.size() - opening.size() - 1), ';')) {
    zip.push_back(axis_of(trimmed(part), position));
    zip.back().zip = 1;
  }
  equally_long(zip, faults);
  for (std::size_t i = 0; i < zip.size(); ++i)
    for (std::size_t j = 0; j < i; ++j)
      if (zip[i].key == zip[j].key)
        faults.add(position, fmt::format("{} is in the zip twice", toml_string(zip[i].key)));
  faults.raise_if_any();
  return zip;
}

}  // namespace simgrad::scenario
