/// A scenario file as a tree with positions, and what the command line lays over it.
#pragma once

#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/describe.h"

namespace simgrad::scenario {

/// Where something stands: `scenarios/wan.toml:14:8`, or `--set cluster.workers=8`.
struct Position {
  std::string file;
  int line = 0;  ///< 0: not from a file
  int column = 0;

  std::string text() const;
};

/// Every fault of a scenario, collected in one pass and raised together, in the order of their positions.
class Faults {
 public:
  void add(const Position& position, std::string message);
  void add(const Faults& others);
  bool empty() const { return faults_.empty(); }
  void raise_if_any() const;  ///< base::ScenarioError

 private:
  struct Fault {
    Position position;
    std::string message;
  };
  std::vector<Fault> faults_;
};

/// A value of a grid or an override, as TOML writes it (`8`, `"10Gbps"`, `true`, `{ kind = "x" }`).
struct Value {
  std::string toml;
  Position position;
};

/// The value as JSON, for records.
nlohmann::ordered_json json_of(const Value& value);

/// The values one key takes: `"cluster.workers" = [1, 2, 4]` in [grid], or `--grid cluster.workers=1,2,4`.
struct Axis {
  std::string key;
  std::vector<Value> values;
  Position position;
};

/// Copies are cheap enough to make one a grid point.
class Document {
 public:
  /// Errors: EnvironmentError if the file cannot be read; ScenarioError with line and column for malformed TOML.
  static Document read(const std::string& path);
  static Document parse(std::string_view text, std::string name);

  Document(const Document&);
  Document(Document&&) noexcept;
  Document& operator=(const Document&);
  Document& operator=(Document&&) noexcept;
  ~Document();

  const std::string& file() const;

  /// `--set cluster.workers=8`: a TOML value, else a bare string.  `strategy.0.servers=4` or `strategy.LABEL.servers=4`
  /// (the label, else the kind) reaches into a list of tables; a key of one strategy may hold for several.
  /// Unknown keys are found by `read` later, with this position. Errors: ScenarioError for a text without "=" or a key
  /// that is malformed or goes through something that is not a table.
  void set(std::string_view assignment);
  void set(std::string_view key, const Value& value);

  /// [grid], in the file's order, then nothing of it is left for `read`. Faults: not a list, an empty list.
  std::vector<Axis> take_grid(Faults& faults);
  /// `--grid cluster.workers=1,2,4` (or a TOML list).
  static Axis axis(std::string_view assignment);

  bool contains(std::string_view key) const;
  /// Takes what stands at a dotted key of tables away, so that nothing of it is left for `read_into`.
  void erase(std::string_view key);
  /// Lays what stands at `from`, if anything does, over what stands at `onto`, a dotted key of tables: a table key by
  /// key, anything else instead of it.  What is laid keeps its position.
  void lay_over(std::string_view onto, std::string_view from);
  /// Leaves nothing of a list of the root but the table at `index`.
  void keep_only(std::string_view list, std::size_t index);
  /// Of a dotted key; of the file's beginning if it is not there.
  Position position(std::string_view key) const;

  /// Reads the whole document into `options`: assigns what is written, leaves defaults otherwise, and adds a fault for
  /// every unknown key (with what was probably meant), wrong type, value out of range, missing unit, unknown kind.
  void read_into(base::Described& options, Faults& faults) const;

 private:
  class Impl;
  explicit Document(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

/// The options of a component with their present values, quantities as strings with units: the echo of a run.
/// Optional values that are not there, and numbers that are not finite, are left out. Keys in the order of `describe`.
/// Paths are written relative to `directory`, the one of the scenario's file, so that the echo does not depend on where
/// the program was called; with none they are the fields as they are. Absolute paths stay absolute.
nlohmann::ordered_json echo(const base::Described& options, std::string_view directory = {});
/// Only what differs from the defaults, as `key=value` pairs in the order of `describe`, for default labels. Of a
/// component its kind, if that differs, then the options that differ from that kind's defaults, dotted.
std::vector<std::pair<std::string, std::string>> differences(const base::Described& options,
                                                             const base::Described& defaults);
/// An echo as TOML that `Document::parse` reads back to the same values: a [table] for each object of the root and a
/// [[table]] for each object of its lists; what lies deeper stands in one line.
std::string toml(const nlohmann::ordered_json& tree);

/// One option, for listings.
struct OptionText {
  std::string key;       ///< nested ones dotted: "schedule.decay"
  std::string type;      ///< "integer", "a time", "one of ring, tree", ...
  std::string fallback;  ///< the default as a scenario would write it, or "" for none
  std::string range;     ///< "at least 1", or ""
  std::string meaning;
  std::vector<std::pair<std::string, std::string>> choices;  ///< of an enumeration: each value and what it means
};
/// Sections and lists of tables with their own options, components with the names of their kinds only.
std::vector<OptionText> options(base::Described& component);

/// The dotted keys of all options, those of tables in lists and of every kind of a component included.
std::vector<std::string> keys(base::Described& component);

}  // namespace simgrad::scenario
