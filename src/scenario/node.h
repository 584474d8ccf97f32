/// A TOML value with its position: the parser makes it, the command line changes it and the reader reads it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "scenario/document.h"

namespace simgrad::scenario {

struct Node;
struct Entry;

using Array = std::vector<Node>;

/// A table's entries in the order of the file, followed by those of the command line.
struct Table {
  std::vector<Entry> entries;

  const Entry* find(std::string_view key) const;
  Entry* find(std::string_view key);
  void put(const Entry& entry);  ///< replaces the entry of the same key, if there is one
};

/// A date or a time. No option takes one; the text is kept for error messages.
struct Date {
  std::string text;
};

struct Node {
  std::variant<bool, std::int64_t, double, std::string, Date, Array, Table> content;
  Position position;

  template <class T>
  const T* as() const {
    return std::get_if<T>(&content);
  }
  template <class T>
  T* as() {
    return std::get_if<T>(&content);
  }
};

struct Entry {
  std::string key;
  Position position;  ///< the key's
  Node node;
};

/// Parses a file's text.  Errors: ScenarioError, `name:line:column: malformed TOML: ...`.
Table parse_toml(std::string_view text, const std::string& name);

/// A value on the command line: TOML, else a bare string. All its parts have this position.  Errors: ScenarioError for
/// a text that is not UTF-8.
Node parse_value(std::string_view text, const Position& position);

/// The value in one line of TOML.
std::string inline_toml(const Node& node);

/// The value as faults show it: one short line.
std::string shown(const Node& node);

/// A TOML string with its quotes and escapes.
std::string toml_string(std::string_view text);
/// A key, quoted only where it must be.
std::string toml_key(std::string_view key);
/// The shortest text that TOML reads back as the same float.
std::string float_text(double value);

/// Splits `key=value` of the command line at the first "=" outside of quotes.  Errors: ScenarioError that begins with
/// `option` ("--set") and names the expected `form` ("KEY=VALUE").
struct Assignment {
  std::string_view key;
  std::string_view value;
};
Assignment split_assignment(std::string_view text, std::string_view option, std::string_view form);

std::string_view trimmed(std::string_view text);

/// The parts of a dotted key; parts in quotes may contain dots. Nothing if the key is malformed.
std::optional<std::vector<std::string>> key_parts(std::string_view key);

/// Lays `value` over the value at `key`. Missing tables on the way are created. A string on the way is a component
/// without options, and becomes `{ kind = "..." }`.  Errors: ScenarioError.
void assign(Table& root, std::string_view key, const Node& value);

/// The entry at a dotted key, or null.
struct Found {
  const Node* node = nullptr;
  const Position* position = nullptr;
};
Found find(const Table& root, std::string_view key);

/// The axes of a [grid] table.
std::vector<Axis> axes(const Table& grid, Faults& faults);

}  // namespace simgrad::scenario
