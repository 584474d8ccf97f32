/// A scenario file as a tree with positions, with the command line's values laid over it.
#pragma once

#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/describe.h"

namespace simgrad::scenario {

/// The place of a key or value: `scenarios/wan.toml:14:8`, or `--set cluster.workers=8`.
struct Position {
  std::string file;
  int line = 0;  ///< 0: not from a file
  int column = 0;

  std::string text() const;
};

/// All faults of a scenario, collected in one pass and raised together in the order of their positions.
class Faults {
 public:
  void add(const Position& position, std::string message);
  void add(const Faults& others);
  /// Adds those of the others that stand at one of the places.
  void add(const Faults& others, const std::vector<Position>& places);
  bool empty() const { return faults_.empty(); }
  /// Errors: base::ScenarioError with the first twenty faults, and the number of the others.
  void raise_if_any() const;

  struct Fault {
    Position position;
    std::string message;
  };
  const std::vector<Fault>& all() const { return faults_; }

 private:
  std::vector<Fault> faults_;
  std::set<std::string> known_;  ///< their texts with their places
};

struct Node;

/// A value of a grid or an override, in TOML (`8`, `"10Gbps"`, `true`, `{ kind = "x" }`).
struct Value {
  std::string toml;
  Position position;
  std::shared_ptr<const Node> node = {};  ///< the same, parsed, for values that are set many times; null: not parsed
};

/// The value as JSON, for records.
nlohmann::ordered_json json_of(const Value& value);

/// The values that a key takes in turn: `"cluster.workers" = [1, 2, 4]` in [grid], or `--grid cluster.workers=1,2,4`.
struct Axis {
  std::string key;
  std::vector<Value> values;
  Position position;
  /// Axes of one zip have a number in common, are equally long, and take their k-th values together. 0: in no zip.
  int zip = 0;
};

/// Copies are cheap: there is one for each grid point.
class Document {
 public:
  /// Reads a file. If it says `extends = "base.toml"`, it is laid over that one (lay() in node.h has the rules), which
  /// may extend another one, 32 files in all. The first one may be a pipe. Errors: EnvironmentError if a file cannot be
  /// read; ScenarioError with line and column for malformed TOML, for texts and tables beyond the limits of depth.h,
  /// and for files that extend each other in a circle.
  static Document read(const std::string& path);
  /// `extends` is not followed here, and is an unknown key.
  static Document parse(std::string_view text, std::string name);

  Document(const Document&);
  Document(Document&&) noexcept;
  Document& operator=(const Document&);
  Document& operator=(Document&&) noexcept;
  ~Document();

  const std::string& file() const;

  /// `--set cluster.workers=8`: a TOML value, else a bare string.  `strategy.0.servers=4` or `strategy.LABEL.servers=4`
  /// (the label, else the kind) selects a table of a list; a label may select several. `read` reports unknown keys
  /// later, with this position.  Errors: ScenarioError for a text without "=", for a malformed key, and for a key that
  /// passes through a value that is not a table.
  void set(std::string_view assignment);
  void set(std::string_view key, const Value& value);

  /// Removes [grid], or another table of such lists, from the document. Returns its axes in the file's order, those of
  /// [[grid.zip]] last, numbered from 1 on.  table: its dotted key.  Faults: an axis that is not a list, an empty list,
  /// an unsound formula, a key that is there twice, lists of a zip that are not equally long.
  std::vector<Axis> take_grid(Faults& faults, std::string_view table = "grid");
  /// `--grid cluster.workers=1,2,4` (or a TOML list, or formulas); or several axes, all with zip 1:
  /// `--grid "zip(cluster.bandwidth=1Gbps,10Gbps; cluster.latency=50us,5us)"`.  Errors: ScenarioError.
  static std::vector<Axis> axes(std::string_view option);

  bool contains(std::string_view key) const;
  /// The number of tables of a list of the root; 0 if there is none.
  std::size_t size(std::string_view list) const;
  /// The dotted keys of the values in the table at `key`, with their positions.
  std::vector<std::pair<std::string, Position>> written(std::string_view key) const;
  /// True if neither document has changed the table or list at a key of the root since one was copied from the other,
  /// or if neither has one.
  bool shares(const Document& other, std::string_view key) const;
  /// Removes the value at a dotted key of tables, so that `read_into` does not see it.
  void erase(std::string_view key);
  /// Lays the value at `from`, if there is one, over the value at `onto`, a dotted key of tables: a table key by key,
  /// any other value in its place. The laid values keep their positions.
  void lay_over(std::string_view onto, std::string_view from);
  /// Removes all tables of a list of the root but the one at `index`.
  void keep_only(std::string_view list, std::size_t index);
  /// The position of a dotted key, or of the file's beginning if the key is not there.
  Position position(std::string_view key) const;

  /// Reads the whole document into `options`: assigns the options that are written, keeps the defaults of the others,
  /// and adds a fault for every unknown key (with the key that was probably meant), wrong type, value out of range,
  /// missing unit, unknown kind.
  /// without: keys of the root that are known, but are not read.
  void read_into(base::Described& options, Faults& faults, const std::vector<std::string>& without = {}) const;
  /// Reads the document into `options`, and adds the faults of the values at the dotted keys: wrong types, units and
  /// kinds, values out of range; also of a section on the way that is no table. For values that no run has, because the
  /// command line or a grid replaces them.
  void check_values(base::Described& options, const std::vector<std::string>& keys, Faults& faults) const;

 private:
  class Impl;
  explicit Document(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

/// The options of a component with their present values, quantities as strings with units: the echo of a run. Optional
/// values that are not there, and numbers that are not finite, are left out. Keys are in the order of `describe`. Paths
/// are written relative to `directory`, that of the scenario's file, so that the echo does not depend on the current
/// directory; without `directory` they are written unchanged. Absolute paths stay absolute.
/// without: keys of the component whose values are not made; they are null.
nlohmann::ordered_json echo(const base::Described& options, std::string_view directory = {},
                            const std::vector<std::string>& without = {});
/// The options that differ from their defaults, as `key=value` pairs in the order of `describe`, for default labels. A
/// component gives its kind, if that differs, then the options that differ from this kind's defaults, with dotted keys.
std::vector<std::pair<std::string, std::string>> differences(const base::Described& options,
                                                             const base::Described& defaults);
/// An echo as TOML that `Document::parse` reads back to the same values: a [table] for each object of the root, a
/// [[table]] for each object of its lists, and deeper values in one line.
std::string toml(const nlohmann::ordered_json& tree);

/// One option, for listings.
struct OptionText {
  std::string key;       ///< nested ones dotted: "schedule.decay"
  std::string type;      ///< "integer", "a time", "one of ring, tree", ...
  std::string fallback;  ///< the default as a scenario writes it, or "" for none
  std::string range;     ///< "at least 1", or ""
  std::string meaning;
  std::vector<std::pair<std::string, std::string>> choices;  ///< an enumeration's values with their meanings
};
/// The options of a component: sections and lists of tables with their own options, components with the names of their
/// kinds only.
std::vector<OptionText> options(base::Described& component);

/// The dotted keys of all options, those of tables in lists and of every kind of a component included.
std::vector<std::string> keys(base::Described& component);

}  // namespace simgrad::scenario
