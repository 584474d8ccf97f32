/// Random options of a component, drawn from what its `describe` says: every option within its bounds, at their ends
/// often.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <random>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/describe.h"

namespace simgrad::fuzz {

/// Random numbers that are equal on every machine.
class Dice {
 public:
  explicit Dice(std::uint64_t seed) : engine_(seed) {}

  double share() { return static_cast<double>(engine_() >> 11) * 0x1p-53; }
  bool hits(double probability) { return share() < probability; }
  /// One of 0 .. count-1.
  std::size_t one_of(std::size_t count) { return static_cast<std::size_t>(engine_() % count); }
  std::int64_t between(std::int64_t least, std::int64_t most) {
    return least + static_cast<std::int64_t>(one_of(static_cast<std::size_t>(most - least) + 1));
  }
  /// As many large as small ones.
  double log_between(double least, double most);

 private:
  std::mt19937_64 engine_;
};

/// The aim of a draw, which decides together with the dice.
struct Aim {
  double rate = 0.0;                     ///< the probability that an option is written
  std::vector<std::string> wanted = {};  ///< dotted keys, and "key=value" of kinds and choices, that are written
  /// The part of the scenario that is given: kinds are chosen as it has them.
  nlohmann::ordered_json context = nlohmann::ordered_json::object();

  /// Whether something wanted is at this key or below it.
  bool leads_through(std::string_view key) const;
  bool wants(std::string_view key, std::string_view value) const;
};

/// Visits a component and writes some of its options into `tree`.
class Draw final : public base::Describer {
 public:
  using Json = nlohmann::ordered_json;
  /// path: the keys above, each with a dot; context: the part of the aim's context at this path, or null.
  Draw(Dice& dice, Json& tree, const Aim& aim, std::string path, const Json* context)
      : dice_(dice), tree_(tree), aim_(aim), path_(std::move(path)), context_(context), rate_(aim.rate) {}

  void flag(std::string_view key, bool& value, std::string_view meaning) override;
  void integer(std::string_view key, std::int64_t& value, std::string_view meaning, base::Bounds bounds) override;
  void number(std::string_view key, double& value, std::string_view meaning, base::Bounds bounds) override;
  void quantity(std::string_view key, double& value, base::Unit unit, std::string_view meaning,
                base::Bounds bounds) override;
  void text(std::string_view key, std::string& value, std::string_view meaning) override;
  void name_or_index(std::string_view key, std::optional<std::string>& value, std::string_view meaning) override;
  void names_or_indices(std::string_view key, std::vector<std::string>& values, std::string_view meaning) override;
  void path(std::string_view key, std::string& value, std::string_view meaning) override;
  void numbers(std::string_view key, std::vector<double>& values, std::string_view meaning,
               base::Bounds bounds) override;
  void pairs(std::string_view key, std::vector<std::pair<std::string, std::string>>& values,
             std::string_view meaning) override;
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
  void component(std::string_view key, base::AnySlot& slot, std::string_view meaning) override;
  void inline_component(std::string_view key, base::AnySlot& slot, std::string_view meaning) override;
  void section(std::string_view key, base::Described& options, std::string_view meaning) override;
  void refuse(std::string_view, std::string_view) override {}
  bool given(std::string_view key) const override { return aim_.leads_through(full(key)) || given_at(key); }

 private:
  void any_choice(std::string_view key, int& index, std::span<const base::Choice> choices,
                  std::string_view meaning) override;
  void any_list(std::string_view key, AnyList& items, std::string_view meaning) override;

  bool writes(std::string_view key);
  std::string full(std::string_view key) const { return path_ + std::string(key); }
  std::int64_t whole(std::string_view key, std::int64_t usual, base::Bounds bounds);
  double real(double usual, base::Bounds bounds);
  std::string quantity_text(double usual, base::Unit unit, base::Bounds bounds);
  /// Writes one of the values that values_of() knows for the key; false if it knows none.
  bool write_known(std::string_view key);
  void choose(std::string_view key, base::AnySlot& slot, const std::string& below);
  /// The context's value at a key of this table, or null.
  const Json* given_at(std::string_view key) const;

  Dice& dice_;
  Json& tree_;
  const Aim& aim_;
  std::string path_;
  const Json* context_;
  double rate_;
  std::string kind_;  ///< of the component whose options these are
};

/// The whole scenario at once: every option of `describe` as the aim says, with the context laid over it.
Draw::Json drawn(Dice& dice, const Aim& aim);

/// Lays `over` over `tree`, table by table. What the aim wants stays, and so do tables of another kind.
void lay(Draw::Json& tree, const Draw::Json& over, const Aim& aim, const std::string& path = {});

/// Sizes that decide how long a run takes: the least and the most that is drawn for a key; nothing: as describe says.
std::optional<std::pair<std::int64_t, std::int64_t>> size_of(const std::string& key);
/// Values of a key whose range says too little, as names, files and pairs: one of them is drawn. Empty: none is known.
const std::vector<Draw::Json>& values_of(const std::string& key);
/// Parts of scenarios, the sizes in which suit one another; such are too rare among sizes that are drawn one by one.
/// wanted: the key that the scenario is drawn for.  sure: whether the part that suits the key best is taken, and
/// nothing beside it.
Draw::Json drawn_context(Dice& dice, std::string_view strategy, std::string_view wanted, bool sure);
/// A transformer or a perceptron that is cut for a mesh.
Draw::Json cut(Dice& dice);
/// Several crashes: at one time, of neighbours, in the beginning, after the end.
Draw::Json crashes(Dice& dice);

/// Changes a scenario as the program's refusals advise until it is accepted. The file is left as the last one that was
/// tried. Returns whether it is accepted.
bool repair(Draw::Json& tree, Dice& dice, const Aim& aim, const std::string& file);

/// Writes a scenario to the file. Returns whether the program accepts it.
bool accepted(const Draw::Json& tree, const std::string& file);

/// Every dotted key that a scenario can have, and "key=value" for all kinds and choices.
struct Schema {
  std::set<std::string> keys, values;
};
const Schema& schema();
/// The keys and values of an object, with `prefix` in front of its keys.
Schema schema_of(base::Described& options, const std::string& prefix);
/// Why no scenario can have this key, kind or choice; "" if one can.
std::string_view why_never(std::string_view name);
/// The keys and values that a scenario has, and whatever else stands in it.
std::set<std::string> keys_and_values(const std::string& file);
std::set<std::string> keys_and_values(const Draw::Json& tree);

/// Which keys, kinds and choices have stood in one scenario.
class Together {
 public:
  Together();
  void see(const std::set<std::string>& present);
  /// How many of `more` would stand beside how many of `present` for the first time.
  std::size_t new_pairs(const std::set<std::string>& present, const std::set<std::string>& more) const;

 private:
  std::vector<std::size_t> places(const std::set<std::string>& names) const;

  std::vector<std::string> names_;
  std::vector<bool> seen_;  ///< by two places in names_
};

/// Adds options and components to an accepted scenario as long as it is accepted, of several that are drawn what has
/// stood beside the fewest of its own. The file is left as the scenario.
void grow(Draw::Json& tree, Dice& dice, const Together& together, const std::string& file);
/// Prints which of them no accepted scenario of the directory has, and how many pairs of keys occur. Returns whether
/// all of them are there but those that no scenario can have, of which none may be there.
bool report_keys(const std::string& directory);

/// Writes the files that drawn scenarios name.
void write_companions(const std::string& directory);

}  // namespace simgrad::fuzz
