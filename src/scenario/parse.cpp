/// Parsing of TOML text to nodes: the only file that includes toml++.
#include <fmt/format.h>
#include <toml++/toml.h>

#include <algorithm>
#include <sstream>
#include <utility>

#include "base/errors.h"
#include "base/place.h"
#include "scenario/depth.h"
#include "scenario/node.h"

namespace simgrad::scenario {

namespace {

Position position_of(const toml::source_region& region, const std::string& name) {
  return {name, static_cast<int>(region.begin.line), static_cast<int>(region.begin.column)};
}

void require_short(std::string_view text, const toml::source_region& at, const std::string& name) {
  if (text.size() > string_bytes_most)
    throw base::ScenarioError(fmt::format("{}: a text of {} bytes, expected at most {}", position_of(at, name).text(),
                                          text.size(), string_bytes_most));
}

Node converted(const toml::node& node, const std::string& name, std::size_t depth);

Table converted_table(const toml::table& table, const std::string& name, std::size_t depth) {
  Table result;
  if (table.size() > keys_most)
    throw base::ScenarioError(fmt::format("{}: a table of {} keys, expected at most {}",
                                          position_of(table.source(), name).text(), table.size(), keys_most));
  result.entries.reserve(table.size());
  for (const auto& [key, value] : table) {
    require_short(key.str(), key.source(), name);
    result.entries.push_back(
        {std::string(key.str()), position_of(key.source(), name), converted(value, name, depth + 1)});
  }
  // toml++ sorts keys by name; users expect the order of the file.
  std::ranges::stable_sort(result.entries, {},
                           [](const Entry& entry) { return std::pair(entry.position.line, entry.position.column); });
  return result;
}

Node converted(const toml::node& node, const std::string& name, std::size_t depth) {
  Node result{.content = false, .position = position_of(node.source(), name)};
  if (depth > depth_most)
    throw base::ScenarioError(fmt::format("{}: nested more than {} deep", result.position.text(), depth_most));
  node.visit([&](const auto& value) {
    if constexpr (toml::is_table<decltype(value)>) {
      result.content = converted_table(value, name, depth);
    } else if constexpr (toml::is_array<decltype(value)>) {
      Array array;
      array.reserve(value.size());
      for (const toml::node& item : value) array.push_back(converted(item, name, depth + 1));
      result.content = std::move(array);
    } else if constexpr (toml::is_date<decltype(value)> || toml::is_time<decltype(value)> ||
                         toml::is_date_time<decltype(value)>) {
      std::ostringstream text;
      text << *value;
      result.content = Date{text.str()};
    } else if constexpr (toml::is_string<decltype(value)>) {
      require_short(*value, value.source(), name);
      result.content = *value;
    } else {
      result.content = *value;
    }
  });
  return result;
}

/// Refuses keys that are nested deeper than the destructors of toml++ may be.
void require_shallow(std::string_view text, const std::string& name) {
  const std::size_t at = too_deep_key(text);
  if (at == std::string_view::npos) return;
  throw base::ScenarioError(fmt::format("{}: nested more than {} deep", base::place_in(text, at, name), depth_most));
}

toml::table parsed(std::string_view text, const std::string& name) {
  require_shallow(text, name);
  return toml::parse(text, name);
}

/// The word at a place of a text, up to what separates values.
std::string_view word_at(std::string_view text, const toml::source_position& at) {
  for (toml::source_index line = 1; line < at.line; ++line)
    text.remove_prefix(std::min(text.find('\n'), text.size() - 1) + 1);
  text = text.substr(0, text.find('\n'));
  const std::size_t column = std::min<std::size_t>(at.column > 0 ? at.column - 1 : 0, text.size());
  constexpr std::string_view separators = "=,[]{} \t\r#";
  const std::size_t before = column == 0 ? std::string_view::npos : text.find_last_of(separators, column - 1);
  const std::size_t begin = before == std::string_view::npos ? 0 : before + 1;
  const std::size_t end = std::min(text.find_first_of(separators, begin), text.size());
  return text.substr(begin, end - begin);
}

/// A message of toml++, such as "Error while parsing decimal integer: expected digit, saw 'G'", with its usual cause: a
/// text without quotes.
std::string explained(std::string_view text, const toml::parse_error& error) {
  std::string_view description = error.description();
  constexpr std::string_view opening = "Error while parsing ";
  if (description.starts_with(opening)) description.remove_prefix(opening.size());
  constexpr std::string_view values[] = {"decimal integer", "floating-point", "value", "boolean",
                                         "string",          "date",           "time"};
  const auto says = [&](std::string_view words) { return description.find(words) != std::string_view::npos; };
  if (says("unescaped control characters") || (description.starts_with("string") && says("encountered end-of-file")))
    return "malformed TOML: the text has no closing quote";
  const std::string_view word = word_at(text, error.source().begin);
  const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
  if (description.ends_with("saw ','") && std::ranges::all_of(word, is_digit) && !word.empty())
    return "malformed TOML: a number has a comma; a decimal point is written, as in 0.1";
  for (const char* const several : {"strategy", "job", "expect"})
    if (says("cannot redefine existing table") && says(fmt::format("'{}'", several)))
      return fmt::format("malformed TOML: {} stands several times; write [[{}]] each time", several, several);
  if (std::ranges::none_of(values, [&](auto kind) { return description.starts_with(kind); }))
    return fmt::format("malformed TOML: {}", description);
  // Such as eight or 10Gbps. Of what could be a number, as 1__0 or 1e999, the parser says more.
  constexpr std::size_t longest_shown = 40;
  const auto is_letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); };
  const auto is_of_text = [&](char c) { return is_letter(c) || is_digit(c) || c == '_' || c == '-' || c == '.'; };
  const bool is_text = !word.empty() && word.size() <= longest_shown && std::ranges::all_of(word, is_of_text) &&
                       (is_letter(word.front()) || is_letter(word.back()));
  return fmt::format("malformed TOML: {}; texts and quantities are written in quotes, as in \"10Gbps\"",
                     is_text ? fmt::format("{} is not a number, true or false", word) : description);
}

}  // namespace

void place(Node& node, const Position& position) {
  node.position = position;
  if (auto* array = node.as<Array>())
    for (Node& item : *array) place(item, position);
  if (auto* table = node.as<Table>())
    for (Entry& entry : table->entries) {
      entry.position = position;
      place(entry.node, position);
    }
}

Table parse_toml(std::string_view text, const std::string& name) {
  try {
    return converted_table(parsed(text, name), name, 0);
  } catch (const toml::parse_error& error) {
    throw base::ScenarioError(fmt::format("{}: {}", position_of(error.source(), name).text(), explained(text, error)));
  }
}

Node parse_value(std::string_view text, const Position& position) {
  const std::string_view value = trimmed(text);
  const auto toml_value = [](std::string_view toml) -> std::optional<Node> {
    try {
      return converted(*parsed(fmt::format("value = {}", toml), "").get("value"), "", 0);
    } catch (const toml::parse_error&) {
      return std::nullopt;
    } catch (const base::ScenarioError&) {  // nested too deep, or too long
      return std::nullopt;
    }
  };
  std::optional<Node> node;
  // A line break could add a second key.
  if (value.find_first_of("\r\n") == std::string_view::npos) node = toml_value(value);
  if (!node) node = toml_value(toml_string(value));
  if (!node && value.size() > string_bytes_most)
    throw base::ScenarioError(
        fmt::format("{}: a text of {} bytes, expected at most {}", position.text(), value.size(), string_bytes_most));
  if (!node) throw base::ScenarioError(fmt::format("{}: the value is not valid UTF-8", position.text()));
  place(*node, position);
  return *std::move(node);
}

}  // namespace simgrad::scenario
