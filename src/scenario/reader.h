/// Assigns a table's values to the options that `describe` names, and collects all faults.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "scenario/node.h"

namespace simgrad::scenario {

/// The state that the readers of all tables share.
struct Reading {
  Faults& faults;
  /// Every dotted key of the scenario, for suggestions; asked only where a key is unknown, once.
  std::function<std::vector<std::string>()> all_keys = {};
  const std::vector<std::string>* without = nullptr;   ///< keys of the root that are not read
  std::optional<std::vector<std::string>> known = {};  ///< what all_keys has answered
  std::size_t suggestions = 20;  ///< how many are still made: each looks through all keys, and more are not shown
};

/// The title without its brackets, as in "strategy" for "[[strategy]]".
std::string_view bare_title(std::string_view title);

/// Reads one table. Keys that `describe` has not named by its end are unknown.
class Reader final : public base::Describer {
 public:
  /// `title` is the table's name in faults: "[cluster]", "[[strategy]]"; empty for the root.
  Reader(const Table& table, Position position, std::string title, Reading& reading)
      : table_(table), position_(std::move(position)), title_(std::move(title)), reading_(reading) {}

  void refuse_unknown_keys();

  void flag(std::string_view key, bool& value, std::string_view meaning) override;
  void integer(std::string_view key, std::int64_t& value, std::string_view meaning, base::Bounds bounds) override;
  void number(std::string_view key, double& value, std::string_view meaning, base::Bounds bounds) override;
  void quantity(std::string_view key, double& value, base::Unit unit, std::string_view meaning,
                base::Bounds bounds) override;
  void text(std::string_view key, std::string& value, std::string_view meaning) override;
  void name_or_index(std::string_view key, std::optional<std::string>& value, std::string_view meaning) override;
  void path(std::string_view key, std::string& value, std::string_view meaning) override;
  void numbers(std::string_view key, std::vector<double>& values, std::string_view meaning,
               base::Bounds bounds) override;
  void names_or_indices(std::string_view key, std::vector<std::string>& values, std::string_view meaning) override;
  void integer(std::string_view key, std::optional<std::int64_t>& value, std::string_view meaning,
               base::Bounds bounds) override;
  void number(std::string_view key, std::optional<double>& value, std::string_view meaning,
              base::Bounds bounds) override;
  void quantity(std::string_view key, std::optional<double>& value, base::Unit unit, std::string_view meaning,
                base::Bounds bounds) override;
  void text(std::string_view key, std::optional<std::string>& value, std::string_view meaning) override;
  void integer_or(std::string_view key, std::optional<std::int64_t>& value, std::string_view word,
                  std::string_view meaning, base::Bounds bounds) override;
  void number_or(std::string_view key, std::optional<double>& value, std::string_view word, std::string_view meaning,
                 base::Bounds bounds) override;
  void quantity_or(std::string_view key, std::optional<double>& value, base::Unit unit, std::string_view word,
                   std::string_view meaning, base::Bounds bounds) override;
  void pairs(std::string_view key, std::vector<std::pair<std::string, std::string>>& values,
             std::string_view meaning) override;
  void component(std::string_view key, base::AnySlot& slot, std::string_view meaning) override;
  void inline_component(std::string_view key, base::AnySlot& slot, std::string_view meaning) override;
  void section(std::string_view key, base::Described& options, std::string_view meaning) override;
  void refuse(std::string_view key, std::string_view message) override;
  bool given(std::string_view key) const override { return entry(key) != nullptr; }

 protected:
  void any_choice(std::string_view key, int& index, std::span<const base::Choice> choices,
                  std::string_view meaning) override;
  void any_list(std::string_view key, AnyList& items, std::string_view meaning) override;

 private:
  /// The entry of the table, or of the preset; null: neither has the key.
  const Entry* entry(std::string_view key) const;
  /// Marks a key as known. Returns its value, or null if it is not given.
  const Node* take(std::string_view key);
  /// True for a section or a list that is not to be read; it is known all the same.
  bool skips(std::string_view key);
  void fault(std::string_view key, const Position& position, std::string message);
  /// Adds a fault such as "workers must be an integer, found true".
  void wrong(std::string_view key, const Node& node, std::string_view expected);
  bool in_bounds(std::string_view key, const Node& node, double value, const base::Bounds& bounds);

  // A node's value; nothing, and a fault, if the option does not take such a value.
  std::optional<std::int64_t> integer_in(std::string_view key, const Node& node, const base::Bounds& bounds,
                                         std::string_view expected = "an integer");
  std::optional<double> number_in(std::string_view key, const Node& node, const base::Bounds& bounds,
                                  std::string_view expected = "a number");
  std::optional<double> quantity_in(std::string_view key, const Node& node, base::Unit unit, const base::Bounds& bounds,
                                    std::string_view word = {});
  std::optional<std::string> text_in(std::string_view key, const Node& node);
  std::optional<std::string> name_or_index_in(std::string_view key, const Node& node, std::string_view expected);

  /// Chooses the kind that `node` names; false, and a fault, if there is no such kind.
  bool choose(std::string_view key, const Node& node, std::string_view noun, base::AnySlot& slot);
  void missing(std::string_view key, const Position& position, std::string_view title, const base::AnySlot& slot);
  /// preset: beneath the table.
  void describe_component(std::string_view key, const Table& table, const Position& position, base::AnySlot& slot,
                          Table preset = {});
  std::string title_of(std::string_view key) const;
  /// The known key that an unknown one probably means: of this table, or a dotted one of another. Empty if none is
  /// near.
  std::string meant_by(const std::string& key) const;
  std::string_view noun(std::string_view key) const;

  const Table& table_;
  Table preset_;  ///< the options that the alias of a kind stands for, where the table does not have them
  Position position_;
  std::string title_;
  Reading& reading_;
  std::vector<std::string> known_;
  std::vector<std::string> faulty_;
  bool all_known_ = false;  ///< the kind is unknown, so it is not known which keys belong to it
};

}  // namespace simgrad::scenario
