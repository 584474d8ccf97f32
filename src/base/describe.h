/// One description of a component's options serves every reader: parsing, range errors, help, listing, the echo.
///
/// A component is a struct whose fields are its options with their defaults in place. Its `describe` names each field
/// once; a `Describer` visits them. Parsing assigns to the fields, listing prints them, the echo writes them down.
#pragma once

#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/units.h"

namespace simgrad::base {

/// The values an option may take, both ends included.
struct Bounds {
  double least = -std::numeric_limits<double>::infinity();
  double most = std::numeric_limits<double>::infinity();
  bool positive = false;  ///< also excludes zero

  static constexpr Bounds at_least(double least) { return {.least = least}; }
  static constexpr Bounds between(double least, double most) { return {.least = least, .most = most}; }
  static constexpr Bounds above_zero() { return {.least = 0.0, .positive = true}; }
  bool contains(double value) const { return value >= least && value <= most && !(positive && value == 0.0); }
};

/// One value of an enumerated option: its name in a scenario and what it means.
struct Choice {
  std::string_view name;
  std::string_view meaning;
};

class Describer;

/// A struct with options.
struct Described {
  Described() = default;
  Described(const Described&) = default;
  Described(Described&&) = default;
  Described& operator=(const Described&) = default;
  Described& operator=(Described&&) = default;
  virtual ~Described() = default;
  virtual void describe(Describer& d) = 0;
};

/// Facts about a kind of component, apart from its options.
struct About {
  std::string_view kind;     ///< the name in a scenario
  std::string_view summary;  ///< one sentence
  std::string_view cost;     ///< the closed form of its time, bytes or flops; empty where it has none
  std::string_view source;   ///< author, title, year; empty where it is common knowledge
};

/// An option whose value is itself a component: one of a registry's kinds, with that kind's own options.
/// `Slot<Base>` in base/registry.h is the one implementation.
class AnySlot {
 public:
  virtual ~AnySlot() = default;
  virtual std::vector<About> kinds() const = 0;
  virtual std::string_view kind() const = 0;             ///< the kind chosen; empty if none is
  virtual bool choose(std::string_view kind) = 0;        ///< a fresh object of that kind; false if there is none
  virtual void call(std::string_view /*alias*/) {}       ///< the name by which the scenario has chosen the kind
  virtual std::string_view alias() const { return {}; }  ///< that name; empty: the kind's own
  virtual Described* object() = 0;                       ///< the chosen object; null if there is none
  virtual std::unique_ptr<Described> example(std::string_view kind) const = 0;  ///< defaults only, for listings
};

/// Visits the options of a component.
class Describer {
 public:
  virtual ~Describer() = default;

  virtual void flag(std::string_view key, bool& value, std::string_view meaning) = 0;
  virtual void integer(std::string_view key, std::int64_t& value, std::string_view meaning, Bounds bounds = {}) = 0;
  virtual void number(std::string_view key, double& value, std::string_view meaning, Bounds bounds = {}) = 0;
  /// A number with a unit, written as a string ("10Gbps"), held in SI (s, B, B/s, flop/s).
  virtual void quantity(std::string_view key, double& value, Unit unit, std::string_view meaning,
                        Bounds bounds = {}) = 0;
  virtual void text(std::string_view key, std::string& value, std::string_view meaning) = 0;
  /// A name, or a number that may be written as one (a column of a file).
  virtual void name_or_index(std::string_view key, std::optional<std::string>& value, std::string_view meaning) = 0;
  /// A file: relative to the scenario's file, or to the current directory if the command line gives it.
  /// The field receives the resolved path; the echo shows it relative to the directory it is asked for.
  virtual void path(std::string_view key, std::string& value, std::string_view meaning) = 0;
  virtual void numbers(std::string_view key, std::vector<double>& values, std::string_view meaning,
                       Bounds bounds = {}) = 0;
  /// A list of names, each of which may be written as a number (columns of a file); one alone needs no brackets.
  virtual void names_or_indices(std::string_view key, std::vector<std::string>& values, std::string_view meaning) = 0;

  /// Options that may be left out altogether.
  virtual void integer(std::string_view key, std::optional<std::int64_t>& value, std::string_view meaning,
                       Bounds bounds = {}) = 0;
  virtual void number(std::string_view key, std::optional<double>& value, std::string_view meaning,
                      Bounds bounds = {}) = 0;
  virtual void quantity(std::string_view key, std::optional<double>& value, Unit unit, std::string_view meaning,
                        Bounds bounds = {}) = 0;
  virtual void text(std::string_view key, std::optional<std::string>& value, std::string_view meaning) = 0;

  /// An integer, or one word that stands for none ("full").
  virtual void integer_or(std::string_view key, std::optional<std::int64_t>& value, std::string_view word,
                          std::string_view meaning, Bounds bounds = {}) = 0;
  /// A number, or one word that stands for none ("peak_product").
  virtual void number_or(std::string_view key, std::optional<double>& value, std::string_view word,
                         std::string_view meaning, Bounds bounds = {}) = 0;
  /// A number with a unit, or one word that stands for none ("none").
  virtual void quantity_or(std::string_view key, std::optional<double>& value, Unit unit, std::string_view word,
                           std::string_view meaning, Bounds bounds = {}) = 0;

  /// A table of free keys, each with its value as TOML writes it: `where = { "cluster.workers" = 8 }`.
  virtual void pairs(std::string_view /*key*/, std::vector<std::pair<std::string, std::string>>& /*values*/,
                     std::string_view /*meaning*/) {}

  /// An option that is one of a registry's kinds: `key = "kind"` or `key = { kind = "kind", ... }`.
  virtual void component(std::string_view key, AnySlot& slot, std::string_view meaning) = 0;
  /// As component(), but the kind's options stand beside `key` in the present table ([model] kind, [data] source).
  virtual void inline_component(std::string_view key, AnySlot& slot, std::string_view meaning) = 0;
  /// A table with options of its own.
  virtual void section(std::string_view key, Described& options, std::string_view meaning) = 0;

  /// A list of tables with one set of options.
  template <class Item>
  void list(std::string_view key, std::vector<Item>& items, std::string_view meaning) {
    ListOf<Item> any(items);
    any_list(key, any, meaning);
  }

  /// One of an enumeration's values; `choices` in the order of its numbers.
  template <class Enum>
  void choice(std::string_view key, Enum& value, std::span<const Choice> choices, std::string_view meaning) {
    int index = static_cast<int>(value);
    any_choice(key, index, choices, meaning);
    value = static_cast<Enum>(index);
  }

  /// One of an enumeration's values, or none: then the option reads as `none`, which stands before the `choices`.
  template <class Enum>
  void choice(std::string_view key, std::optional<Enum>& value, Choice none, std::span<const Choice> choices,
              std::string_view meaning) {
    std::vector<Choice> all{none};
    all.insert(all.end(), choices.begin(), choices.end());
    int index = value ? 1 + static_cast<int>(*value) : 0;
    any_choice(key, index, all, meaning);
    value = index == 0 ? std::nullopt : std::optional(static_cast<Enum>(index - 1));
  }

  /// Refuses a value that is within its range but contradicts another option. The message names both, and a remedy.
  virtual void refuse(std::string_view key, std::string_view message) = 0;
  /// True if the key was written (false for defaults, and in listings and echoes): for options that make sense only
  /// beside another. The answer may decide on a refusal, never on a field's value: an echo would undo that.
  virtual bool given(std::string_view key) const = 0;

 protected:
  class AnyList {
   public:
    virtual ~AnyList() = default;
    virtual std::size_t size() const = 0;
    virtual Described& add() = 0;
    virtual Described& at(std::size_t index) = 0;
    virtual void clear() = 0;
    virtual std::unique_ptr<Described> example() const = 0;
  };

  virtual void any_choice(std::string_view key, int& index, std::span<const Choice> choices,
                          std::string_view meaning) = 0;
  virtual void any_list(std::string_view key, AnyList& items, std::string_view meaning) = 0;

 private:
  template <class Item>
  class ListOf final : public AnyList {
   public:
    explicit ListOf(std::vector<Item>& items) : items_(items) {}
    std::size_t size() const override { return items_.size(); }
    Described& add() override { return items_.emplace_back(); }
    Described& at(std::size_t index) override { return items_.at(index); }
    void clear() override { items_.clear(); }
    std::unique_ptr<Described> example() const override { return std::make_unique<Item>(); }

   private:
    std::vector<Item>& items_;
  };
};

}  // namespace simgrad::base
