/// The echo of a component's options, and their differences from the defaults.
#include <fmt/format.h>

#include <algorithm>

#include "scenario/walker.h"

namespace simgrad::scenario {

namespace {

class Echo final : public Walker {
 public:
  Echo(std::string_view directory, const std::vector<std::string>& without) : Walker(directory), without_(without) {}

  Json take() { return std::move(tree_); }

  void component(std::string_view key, base::AnySlot& slot, std::string_view) override {
    if (!slot.object()) return;
    Json component{{"kind", std::string(slot.kind())}};
    component.update(echo(*slot.object(), directory()));
    // A component without options is written as its name.
    tree_[std::string(key)] = component.size() == 1 ? component["kind"] : component;
  }

  void inline_component(std::string_view key, base::AnySlot& slot, std::string_view) override {
    if (!slot.object()) return;
    tree_[std::string(key)] = std::string(slot.kind());
    slot.object()->describe(*this);
  }

  void section(std::string_view key, base::Described& options, std::string_view) override {
    tree_[std::string(key)] = left_out(key) ? Json() : echo(options, directory());
  }

 private:
  bool left_out(std::string_view key) const { return std::ranges::find(without_, key) != without_.end(); }

  void leaf(const Leaf& leaf) override {
    if (!leaf.value.is_null()) tree_[std::string(leaf.key)] = leaf.value;
  }

  void any_list(std::string_view key, AnyList& items, std::string_view) override {
    Json list = Json::array();
    const bool wanted = !left_out(key);
    for (std::size_t i = 0; wanted && i < items.size(); ++i) list.push_back(echo(items.at(i), directory()));
    tree_[std::string(key)] = wanted ? std::move(list) : Json();
  }

  const std::vector<std::string>& without_;
  Json tree_ = Json::object();
};

using Pairs = std::vector<std::pair<std::string, std::string>>;

/// A value as labels show it: no quotes, 1 for 1.0.
std::string plain(const Json& value) {
  if (value.is_string()) return value.get<std::string>();
  if (value.is_number_float()) return fmt::to_string(value.get<double>());
  return inline_toml(value);
}

/// Compares the options with the echo of their defaults.
class Differences final : public Walker {
 public:
  Differences(Json defaults, std::string prefix, Pairs& found)
      : defaults_(std::move(defaults)), prefix_(std::move(prefix)), found_(found) {}

  void component(std::string_view key, base::AnySlot& slot, std::string_view) override {
    if (!slot.object()) return;
    const Json usual = default_of(key);
    Json defaults = usual.is_object() ? usual : Json{{"kind", usual}};
    if (defaults["kind"] != slot.kind()) {
      found_.emplace_back(name(key), slot.kind());
      defaults = defaults_of_kind(slot);
    }
    Differences nested(std::move(defaults), name(key) + ".", found_);
    slot.object()->describe(nested);
  }

  void inline_component(std::string_view key, base::AnySlot& slot, std::string_view) override {
    if (!slot.object()) return;
    if (default_of(key) == slot.kind()) return slot.object()->describe(*this);
    found_.emplace_back(name(key), slot.kind());
    Differences nested(defaults_of_kind(slot), prefix_, found_);
    slot.object()->describe(nested);
  }

  void section(std::string_view key, base::Described& options, std::string_view) override {
    Differences nested(default_of(key), name(key) + ".", found_);
    options.describe(nested);
  }

 private:
  void leaf(const Leaf& leaf) override {
    if (!leaf.value.is_null() && leaf.value != default_of(leaf.key))
      found_.emplace_back(name(leaf.key), plain(leaf.value));
  }

  void any_list(std::string_view key, AnyList& items, std::string_view) override {
    Json list = Json::array();
    for (std::size_t i = 0; i < items.size(); ++i) list.push_back(echo(items.at(i)));
    if (list != default_of(key)) found_.emplace_back(name(key), plain(list));
  }

  static Json defaults_of_kind(const base::AnySlot& slot) {
    const auto example = slot.example(slot.kind());
    return echo(*example);
  }

  Json default_of(std::string_view key) const {
    const auto found = defaults_.find(std::string(key));
    return found == defaults_.end() ? Json() : *found;
  }

  std::string name(std::string_view key) const { return fmt::format("{}{}", prefix_, key); }

  Json defaults_;
  std::string prefix_;
  Pairs& found_;
};

}  // namespace

namespace {

/// `describe` is not const because a reader assigns to the options; an echo assigns nothing.
base::Described& only_visited(const base::Described& options) { return const_cast<base::Described&>(options); }

}  // namespace

Json echo(const base::Described& options, std::string_view directory, const std::vector<std::string>& without) {
  Echo echo(directory, without);
  only_visited(options).describe(echo);
  return echo.take();
}

std::vector<std::pair<std::string, std::string>> differences(const base::Described& options,
                                                             const base::Described& defaults) {
  Pairs found;
  Differences differences(echo(defaults), "", found);
  only_visited(options).describe(differences);
  return found;
}

}  // namespace simgrad::scenario
