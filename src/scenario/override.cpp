/// Dotted keys, and the values that `--set` lays over a document.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <span>
#include <system_error>

#include "base/errors.h"
#include "base/text.h"
#include "scenario/depth.h"
#include "scenario/node.h"

namespace simgrad::scenario {

namespace {

std::optional<std::size_t> index_of(std::string_view part) {
  std::size_t index = 0;
  const auto read = std::from_chars(part.data(), part.data() + part.size(), index);
  if (read.ec != std::errc() || read.ptr != part.data() + part.size()) return std::nullopt;
  return index;
}

/// The string at `key` in a table of a list; empty if there is none.
std::string_view name_of(const Node& item, std::string_view key) {
  const auto* table = item.as<Table>();
  const Entry* entry = table ? table->find(key) : nullptr;
  const auto* name = entry ? entry->node.as<std::string>() : nullptr;
  return name ? std::string_view(*name) : std::string_view();
}

/// The tables of a list that `part` selects: by index, else by label, else by kind.
std::vector<std::size_t> matches(const Array& array, std::string_view part) {
  if (const auto index = index_of(part)) {
    if (*index < array.size()) return {*index};
    return {};
  }
  for (const std::string_view key : {"label", "kind"}) {
    std::vector<std::size_t> found;
    for (std::size_t i = 0; i < array.size(); ++i)
      if (!part.empty() && name_of(array[i], key) == part) found.push_back(i);
    if (!found.empty()) return found;
  }
  return {};
}

std::vector<std::string> names(const Array& array) {
  std::vector<std::string> all;
  for (std::size_t i = 0; i < array.size(); ++i) {
    std::string_view name = name_of(array[i], "label");
    if (name.empty()) name = name_of(array[i], "kind");
    all.push_back(name.empty() ? fmt::to_string(i) : std::string(name));
  }
  return all;
}

using Parts = std::span<const std::string>;

[[noreturn]] void refuse(const Position& position, const std::string& message) {
  throw base::ScenarioError(fmt::format("{}: {}", position.text(), message));
}

void assign(Node& node, std::string_view name, Parts parts, const Node& value);

void assign(Table& table, Parts parts, const Node& value) {
  const std::string& key = parts.front();
  Entry* entry = table.find(key);
  if (!entry) entry = &table.entries.emplace_back(Entry{key, value.position, Node{Table{}, value.position}});
  // A key on the way keeps its position: only the last key is the command line's.
  if (parts.size() == 1) entry->position = value.position;
  assign(entry->node, key, parts.subspan(1), value);
}

void assign(Array& array, std::string_view name, Parts parts, const Node& value) {
  const std::string& part = parts.front();
  const std::vector<std::size_t> found = matches(array, part);
  if (found.empty()) {
    if (index_of(part))
      refuse(value.position, fmt::format("\"{}\" has {} entries, counted from 0", name, array.size()));
    refuse(value.position,
           fmt::format("unknown {} {}{}", name, toml_string(part), base::suggestion(part, names(array))));
  }
  for (const std::size_t i : found) assign(array[i], fmt::format("{}.{}", name, i), parts.subspan(1), value);
}

void assign(Node& node, std::string_view name, Parts parts, const Node& value) {
  if (parts.empty()) {
    node = value;
    return;
  }
  if (const auto* kind = node.as<std::string>()) {
    Node kind_node{*kind, node.position};
    Table component;
    component.entries.push_back({"kind", node.position, std::move(kind_node)});
    node = {std::move(component), value.position};
  }
  if (auto* table = node.as<Table>()) return assign(*table, parts, value);
  if (auto* array = node.as<Array>()) return assign(*array, name, parts, value);
  refuse(value.position, fmt::format("\"{}\" is {}, not a table", name, shown(node)));
}

Found find(const Node& node, const Position& position, Parts parts) {
  if (parts.empty()) return {&node, &position};
  if (const auto* table = node.as<Table>()) {
    const Entry* entry = table->find(parts.front());
    return entry ? find(entry->node, entry->position, parts.subspan(1)) : Found{};
  }
  if (const auto* array = node.as<Array>()) {
    const std::vector<std::size_t> found = matches(*array, parts.front());
    if (found.empty()) return {};
    const Node& item = (*array)[found.front()];
    return find(item, item.position, parts.subspan(1));
  }
  return {};
}

}  // namespace

Assignment split_assignment(std::string_view text, std::string_view option, std::string_view form) {
  char quote = '\0';
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (quote != '\0') {
      if (text[i] == quote) quote = '\0';
    } else if (text[i] == '"' || text[i] == '\'') {
      quote = text[i];
    } else if (text[i] == '=') {
      return {trimmed(text.substr(0, i)), trimmed(text.substr(i + 1))};
    }
  }
  throw base::ScenarioError(fmt::format("{} {}: expected {} {}", option, text, option, form));
}

std::optional<std::vector<std::string>> key_parts(std::string_view key) {
  std::vector<std::string> parts;
  std::size_t at = 0;
  for (;;) {
    std::string part;
    if (at < key.size() && (key[at] == '"' || key[at] == '\'')) {
      const std::size_t end = key.find(key[at], at + 1);
      if (end == std::string_view::npos) return std::nullopt;
      part = key.substr(at + 1, end - at - 1);
      at = end + 1;
      if (at < key.size() && key[at] != '.') return std::nullopt;
    } else {
      const std::size_t end = std::min(key.find('.', at), key.size());
      part = trimmed(key.substr(at, end - at));
      at = end;
    }
    if (part.empty()) return std::nullopt;
    parts.push_back(std::move(part));
    if (at >= key.size()) return parts;
    ++at;
  }
}

void assign(Table& root, std::string_view key, const Node& value) {
  const auto parts = key_parts(key);
  if (!parts)
    refuse(value.position,
           fmt::format("malformed key {}; expected names with dots between, as in cluster.workers", toml_string(key)));
  // The limit is that of a file's nesting; each level is a recursive call.
  if (parts->size() > depth_most) refuse(value.position, fmt::format("nested more than {} deep", depth_most));
  assign(root, Parts(*parts), value);
}

Found find(const Table& root, std::string_view key) {
  const auto parts = key_parts(key);
  if (!parts) return {};
  const Entry* entry = root.find(parts->front());
  return entry ? find(entry->node, entry->position, Parts(*parts).subspan(1)) : Found{};
}

}  // namespace simgrad::scenario
