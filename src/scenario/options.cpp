/// The options of a component, for listings.
#include <fmt/format.h>

#include "scenario/phrases.h"
#include "scenario/walker.h"

namespace simgrad::scenario {

namespace {

class Listing final : public Walker {
 public:
  Listing(std::string prefix, std::vector<OptionText>& texts) : prefix_(std::move(prefix)), texts_(texts) {}

  void component(std::string_view key, base::AnySlot& slot, std::string_view meaning) override {
    add(key, one_of(names(slot)), default_of(slot), "", meaning);
  }

  void inline_component(std::string_view key, base::AnySlot& slot, std::string_view meaning) override {
    component(key, slot, meaning);
  }

  void section(std::string_view key, base::Described& options, std::string_view) override { nested(key, options); }

 private:
  /// The kind, as a scenario writes it, with the options in which the default differs from that kind's own.
  static std::string default_of(base::AnySlot& slot) {
    if (slot.kind().empty()) return "";
    Json written{{"kind", slot.kind()}};
    const Json slot_options = slot.object() ? echo(*slot.object()) : Json::object();
    const Json usual = echo(*slot.example(slot.kind()));
    for (const auto& [key, value] : slot_options.items())
      if (!usual.contains(key) || usual.at(key) != value) written[key] = value;
    return inline_toml(written.size() == 1 ? written["kind"] : written);
  }

  void leaf(const Leaf& leaf) override {
    add(leaf.key, leaf.type(), leaf.value.is_null() ? "" : inline_toml(leaf.value), leaf.range(), leaf.meaning);
    for (const base::Choice& choice : leaf.choices) texts_.back().choices.emplace_back(choice.name, choice.meaning);
  }

  void any_list(std::string_view key, AnyList& items, std::string_view meaning) override {
    add(key, "list of tables", "", "", meaning);
    const auto example = items.example();
    nested(key, *example);
  }

  void nested(std::string_view key, base::Described& options) {
    Listing listing(fmt::format("{}{}.", prefix_, key), texts_);
    options.describe(listing);
  }

  void add(std::string_view key, std::string type, std::string fallback, std::string range, std::string_view meaning) {
    texts_.push_back({.key = fmt::format("{}{}", prefix_, key),
                      .type = std::move(type),
                      .fallback = std::move(fallback),
                      .range = std::move(range),
                      .meaning = std::string(meaning),
                      .choices = {}});
  }

  std::string prefix_;
  std::vector<OptionText>& texts_;
};

/// Collects keys.
class Keys final : public Walker {
 public:
  Keys(std::string prefix, std::vector<std::string>& all) : prefix_(std::move(prefix)), all_(all) {}

  void component(std::string_view key, base::AnySlot& slot, std::string_view) override {
    add(key);
    add(fmt::format("{}.kind", key));
    of_kinds(fmt::format("{}{}.", prefix_, key), slot);
  }
  void inline_component(std::string_view key, base::AnySlot& slot, std::string_view) override {
    add(key);
    of_kinds(prefix_, slot);
  }
  void section(std::string_view key, base::Described& options, std::string_view) override {
    add(key);
    nested(fmt::format("{}{}.", prefix_, key), options);
  }

 private:
  void leaf(const Leaf& leaf) override { add(leaf.key); }
  void any_list(std::string_view key, AnyList& items, std::string_view) override {
    add(key);
    nested(fmt::format("{}{}.", prefix_, key), *items.example());
  }

  void of_kinds(const std::string& prefix, const base::AnySlot& slot) {
    for (const base::About& about : slot.kinds()) nested(prefix, *slot.example(about.kind));
  }
  void nested(const std::string& prefix, base::Described& options) {
    Keys keys(prefix, all_);
    options.describe(keys);
  }
  void add(std::string_view key) { all_.push_back(fmt::format("{}{}", prefix_, key)); }

  std::string prefix_;
  std::vector<std::string>& all_;
};

}  // namespace

std::vector<std::string> keys(base::Described& component) {
  std::vector<std::string> all;
  Keys visitor("", all);
  component.describe(visitor);
  return all;
}

std::vector<OptionText> options(base::Described& component) {
  std::vector<OptionText> texts;
  Listing listing("", texts);
  component.describe(listing);
  return texts;
}

}  // namespace simgrad::scenario
