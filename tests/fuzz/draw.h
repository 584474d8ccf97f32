/// Random options of a component, drawn from what its `describe` says: every option within its bounds, at their ends
/// often.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <random>
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

/// Visits a component and writes some of its options into `tree`.
class Draw final : public base::Describer {
 public:
  using Json = nlohmann::ordered_json;
  /// rate: the probability that an option is written; path: the keys above, each with a dot; strategy: the kind of
  /// the first strategy.
  Draw(Dice& dice, Json& tree, double rate, std::string path, std::string_view strategy)
      : dice_(dice), tree_(tree), rate_(rate), path_(std::move(path)), strategy_(strategy) {}

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
  void integer(std::string_view key, std::optional<std::int64_t>& value, std::string_view meaning,
               base::Bounds bounds) override;
  void number(std::string_view key, std::optional<double>& value, std::string_view meaning,
              base::Bounds bounds) override;
  void quantity(std::string_view key, std::optional<double>& value, base::Unit unit, std::string_view meaning,
                base::Bounds bounds) override;
  void text(std::string_view key, std::optional<std::string>& value, std::string_view meaning) override;
  void integer_or(std::string_view key, std::optional<std::int64_t>& value, std::string_view word,
                  std::string_view meaning, base::Bounds bounds) override;
  void component(std::string_view key, base::AnySlot& slot, std::string_view meaning) override;
  void inline_component(std::string_view key, base::AnySlot& slot, std::string_view meaning) override;
  void section(std::string_view key, base::Described& options, std::string_view meaning) override;
  void refuse(std::string_view, std::string_view) override {}
  bool given(std::string_view) const override { return false; }

 private:
  void any_choice(std::string_view key, int& index, std::span<const base::Choice> choices,
                  std::string_view meaning) override;
  void any_list(std::string_view key, AnyList& items, std::string_view meaning) override;

  bool writes(std::string_view key);
  std::string full(std::string_view key) const { return path_ + std::string(key); }
  std::int64_t whole(std::string_view key, std::int64_t usual, base::Bounds bounds);
  double real(double usual, base::Bounds bounds);
  std::string quantity_text(double usual, base::Unit unit, base::Bounds bounds);
  std::string a_text(std::string_view key);
  void choose(std::string_view key, base::AnySlot& slot);

  Dice& dice_;
  Json& tree_;
  double rate_;
  std::string path_;
  std::string_view strategy_;
  std::string kind_;  ///< of the component whose options these are
};

/// Gives a scenario a transformer that is cut for a mesh, in sizes that suit one another.
void cut(Draw::Json& tree, Dice& dice);
/// Gives a scenario several sources, and a model with a tower for each.
void mix(Draw::Json& tree, Dice& dice);

/// The part of a scenario that is not drawn option by option.
enum class Suited { nothing, cut_model, mixture };
/// A scenario, as TOML. It may contradict itself; the caller asks the program.
std::string drawn_scenario(Dice& dice, std::string_view strategy, Suited suited = Suited::nothing);

}  // namespace simgrad::fuzz
