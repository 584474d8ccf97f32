/// The values that keys take in turn: the option `--grid`.
#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <optional>
#include <stdexcept>
#include <string>

#include "base/errors.h"
#include "base/text.h"
#include "scenario/axis_values.h"
#include "scenario/formula.h"
#include "scenario/node.h"

namespace simgrad::scenario {

namespace {

constexpr std::string_view zip_name = "zip", zip_form = "zip(KEY=VALUE,VALUE,...; KEY=VALUE,VALUE,...)";

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

/// True for "zip", with blanks and in any case: no option has such a name.
bool is_zip(std::string_view text) {
  std::string name(trimmed(text));
  std::ranges::transform(name, name.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return name == zip_name;
}

/// The name of the first thing that looks like a formula, "name(...)", if the list ends in such a thing.
std::optional<std::string> formula_name(std::string_view text) {
  const auto open = text.find('(');
  if (open == std::string_view::npos || !text.ends_with(')')) return std::nullopt;
  const auto begin = text.substr(0, open).rfind(',') + 1;  // 0 without a comma
  const std::string_view name = trimmed(text.substr(begin, open - begin));
  constexpr std::string_view letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_";
  if (name.empty() || name.find_first_not_of(letters) != std::string_view::npos) return std::nullopt;
  return std::string(name);
}

/// Refuses a value such as rnge(1,4), which would be read as the texts "rnge(1" and "4)". Names that are near no
/// formula's are texts, as of a file.
void refuse_misspelt_formula(std::string_view value, const Position& position) {
  const auto name = formula_name(value);
  if (!name || is_formula(*name + "(")) return;
  static const std::vector<std::string> known{"range", "logspace", std::string(zip_name)};
  const std::string meant = base::closest(*name, known);
  if (meant == zip_name)
    refuse_option(position, fmt::format("a zip holds keys with their lists, expected --grid \"{}\"", zip_form));
  if (!meant.empty())
    refuse_option(position,
                  fmt::format("unknown formula {}; did you mean \"{}\"? A text stands in quotes within the option",
                              toml_string(*name), meant));
}

/// The parts of KEY=VALUE,VALUE,... of --grid, or of a zip.
Assignment assignment_of(std::string_view text, const Position& position) {
  if (is_formula(text) && text.find('=') == std::string_view::npos)
    refuse_option(position, fmt::format("found no key, expected --grid \"KEY={}\"", trimmed(text)));
  try {
    return split_assignment(text, "--grid", "");
  } catch (const base::ScenarioError&) {
    refuse_option(position, fmt::format("found {} without \"=\", expected KEY=VALUE,VALUE,...",
                                        trimmed(text).empty() ? "nothing" : toml_string(trimmed(text))));
  }
}

/// KEY=VALUE,VALUE,... of --grid.
Axis axis_of(std::string_view assignment, const Position& position) {
  const Assignment parts = assignment_of(assignment, position);
  if (!key_parts(parts.key))
    refuse_option(position, fmt::format("malformed key {}; expected names with dots between, as in cluster.workers",
                                        toml_string(parts.key)));
  refuse_misspelt_formula(parts.value, position);
  Axis axis{.key = std::string(parts.key), .values = {}, .position = position};
  try {
    if (const Node whole = parse_value(parts.value, position); const auto* list = whole.as<Array>()) {
      for (const Node& value : *list) add_values(value, axis.values);
    } else {
      for (const std::string_view piece : split(parts.value, ',')) {
        if (trimmed(piece).empty()) refuse_option(position, "a value is empty, expected KEY=VALUE,VALUE,...");
        add_values(parse_value(piece, position), axis.values);
      }
    }
  } catch (const std::invalid_argument& fault) {
    refuse_option(position, fault.what());
  }
  if (axis.values.empty()) refuse_option(position, "the list is empty, expected at least one value");
  return axis;
}

}  // namespace

std::vector<Axis> Document::axes(std::string_view option) {
  const Position position{.file = fmt::format("--grid {}", option)};
  const std::string_view text = trimmed(option);
  const auto open = text.find('(');
  if (open == std::string_view::npos || !is_zip(text.substr(0, open))) return {axis_of(option, position)};
  if (!text.ends_with(')')) refuse_option(position, fmt::format("\")\" is missing at the end, expected {}", zip_form));
  const std::string_view lists = text.substr(open + 1, text.size() - open - 2);
  if (trimmed(lists).empty()) refuse_option(position, fmt::format("the zip is empty, expected {}", zip_form));
  Faults faults;
  std::vector<Axis> zip;
  for (const std::string_view part : split(lists, ';')) {
    if (trimmed(part).empty())
      refuse_option(position, fmt::format("a list is missing before or behind a \";\", expected {}", zip_form));
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
