/// A TOML value with its position: the parser makes it, the command line changes it and the reader reads it.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
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

/// A list or a table that copies of a node share until one of them is changed: a document is copied for every grid
/// point, which changes a few values of it.
template <class T>
class Shared {
 public:
  Shared(T value) : value_(std::make_shared<T>(std::move(value))) {}  // NOLINT: a node is made of a table

  const T& operator*() const { return *value_; }
  /// The value of this copy alone.
  T& own() {
    if (value_.use_count() > 1) value_ = std::make_shared<T>(*value_);
    return *value_;
  }

 private:
  std::shared_ptr<T> value_;
};

struct Node {
  std::variant<bool, std::int64_t, double, std::string, Date, Shared<Array>, Shared<Table>> content;
  Position position;

  template <class T>
  const T* as() const {
    if constexpr (std::is_same_v<T, Array> || std::is_same_v<T, Table>) {
      const auto* shared = std::get_if<Shared<T>>(&content);
      return shared ? &**shared : nullptr;
    } else {
      return std::get_if<T>(&content);
    }
  }
  template <class T>
  T* as() {
    if constexpr (std::is_same_v<T, Array> || std::is_same_v<T, Table>) {
      auto* shared = std::get_if<Shared<T>>(&content);
      return shared ? &shared->own() : nullptr;
    } else {
      return std::get_if<T>(&content);
    }
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

/// The axes of a [grid] table, or of another one of that kind.  name: its dotted key.
std::vector<Axis> axes(const Table& grid, std::string_view name, Faults& faults);

/// The tables of a file, laid over those of the file that it extends.
Table read_extended(const std::string& path);
/// Lays `over` over `under`: tables key by key, other values and lists in their place. A table of another kind (`kind`,
/// or `source` in [data]) takes the place of the whole table, for its options are others.
void lay(Table& under, const Table& over);

/// Gives the value and all its parts this position.
void place(Node& node, const Position& position);

}  // namespace simgrad::scenario
