/// The base class of the echo, the differences and the listings: it visits each option as one value with its texts.
#pragma once

#include "scenario/json.h"

namespace simgrad::scenario {

/// An option that does not consist of options.
struct Leaf {
  std::string_view key;
  Json value;  ///< null if an optional value is not there
  std::string_view type_name;
  std::string_view meaning;
  base::Bounds bounds = {};
  std::optional<base::Unit> unit = {};
  std::string_view word = {};  ///< that stands for no value
  std::span<const base::Choice> choices = {};

  // Texts for listings. An echo, of which there are many, needs none.
  std::string type() const;
  std::string range() const;
};

/// Turns every plain option that `describe` visits into a `Leaf`. Derived walkers handle options that have options of
/// their own.
class Walker : public base::Describer {
 public:
  /// Paths are written relative to `directory`.
  explicit Walker(std::string_view directory = {}) : directory_(directory) {}

  void flag(std::string_view key, bool& value, std::string_view meaning) final;
  void integer(std::string_view key, std::int64_t& value, std::string_view meaning, base::Bounds bounds) final;
  void number(std::string_view key, double& value, std::string_view meaning, base::Bounds bounds) final;
  void quantity(std::string_view key, double& value, base::Unit unit, std::string_view meaning,
                base::Bounds bounds) final;
  void text(std::string_view key, std::string& value, std::string_view meaning) final;
  void name_or_index(std::string_view key, std::optional<std::string>& value, std::string_view meaning) final {
    text(key, value, meaning);
  }
  void path(std::string_view key, std::string& value, std::string_view meaning) final;
  void numbers(std::string_view key, std::vector<double>& values, std::string_view meaning, base::Bounds bounds) final;
  void names_or_indices(std::string_view key, std::vector<std::string>& values, std::string_view meaning) final;
  void integer(std::string_view key, std::optional<std::int64_t>& value, std::string_view meaning,
               base::Bounds bounds) final;
  void number(std::string_view key, std::optional<double>& value, std::string_view meaning, base::Bounds bounds) final;
  void quantity(std::string_view key, std::optional<double>& value, base::Unit unit, std::string_view meaning,
                base::Bounds bounds) final;
  void text(std::string_view key, std::optional<std::string>& value, std::string_view meaning) final;
  void integer_or(std::string_view key, std::optional<std::int64_t>& value, std::string_view word,
                  std::string_view meaning, base::Bounds bounds) final;
  void number_or(std::string_view key, std::optional<double>& value, std::string_view word, std::string_view meaning,
                 base::Bounds bounds) final;
  void quantity_or(std::string_view key, std::optional<double>& value, base::Unit unit, std::string_view word,
                   std::string_view meaning, base::Bounds bounds) final;
  void pairs(std::string_view key, std::vector<std::pair<std::string, std::string>>& values,
             std::string_view meaning) final;
  void refuse(std::string_view, std::string_view) final {}
  bool given(std::string_view) const final { return false; }

 protected:
  virtual void leaf(const Leaf& leaf) = 0;
  void any_choice(std::string_view key, int& index, std::span<const base::Choice> choices,
                  std::string_view meaning) final;
  std::string_view directory() const { return directory_; }

 private:
  std::string_view directory_;
};

}  // namespace simgrad::scenario
