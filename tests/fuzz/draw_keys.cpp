/// The keys that a scenario can have, with the values that can be counted: `describe` knows them all.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <set>
#include <string>
#include <vector>

#include "base/files.h"
#include "experiment/plan/settings.h"
#include "fuzz/draw.h"
#include "scenario/node.h"
#include "scenario/walker.h"

namespace simgrad::fuzz {

namespace {

/// Collects every dotted key, and "key=value" for the kinds of components and for the choices of enumerations.
class Everything final : public scenario::Walker {
 public:
  Everything(std::string prefix, std::set<std::string>& keys, std::set<std::string>& values)
      : prefix_(std::move(prefix)), keys_(keys), values_(values) {}

  void component(std::string_view key, base::AnySlot& slot, std::string_view) override {
    of_kinds(key, slot, fmt::format("{}{}.", prefix_, key));
  }
  void inline_component(std::string_view key, base::AnySlot& slot, std::string_view) override {
    of_kinds(key, slot, prefix_);
  }
  void section(std::string_view key, base::Described& options, std::string_view) override { nested(key, options); }

 private:
  void leaf(const scenario::Leaf& leaf) override {
    add(leaf.key);
    for (const base::Choice& choice : leaf.choices)
      values_.insert(fmt::format("{}{}={}", prefix_, leaf.key, choice.name));
  }
  void any_list(std::string_view key, AnyList& items, std::string_view) override { nested(key, *items.example()); }

  void of_kinds(std::string_view key, const base::AnySlot& slot, const std::string& prefix) {
    add(key);
    for (const base::About& about : slot.kinds()) {
      values_.insert(fmt::format("{}{}={}", prefix_, key, about.kind));
      Everything inner(prefix, keys_, values_);
      slot.example(about.kind)->describe(inner);
    }
  }
  void nested(std::string_view key, base::Described& options) {
    add(key);
    Everything inner(fmt::format("{}{}.", prefix_, key), keys_, values_);
    options.describe(inner);
  }
  void add(std::string_view key) { keys_.insert(fmt::format("{}{}", prefix_, key)); }

  std::string prefix_;
  std::set<std::string>& keys_;
  std::set<std::string>& values_;
};

void collect(const scenario::Table& table, const std::string& prefix, std::set<std::string>& seen);

void collect(const scenario::Node& node, const std::string& key, std::set<std::string>& seen) {
  seen.insert(key);
  if (const auto* text = node.as<std::string>()) seen.insert(fmt::format("{}={}", key, *text));
  if (const auto* table = node.as<scenario::Table>()) {
    if (const auto* kind = table->find("kind"))
      if (const auto* name = kind->node.as<std::string>()) seen.insert(fmt::format("{}={}", key, *name));
    collect(*table, key + ".", seen);
  }
  if (const auto* list = node.as<scenario::Array>())
    for (const scenario::Node& item : *list) collect(item, key, seen);
}

void collect(const scenario::Table& table, const std::string& prefix, std::set<std::string>& seen) {
  for (const scenario::Entry& entry : table.entries) collect(entry.node, prefix + entry.key, seen);
}

/// Returns whether none is missing.
bool report_missing(std::string_view what, const std::set<std::string>& all, const std::set<std::string>& seen) {
  std::vector<std::string> missing;
  std::ranges::set_difference(all, seen, std::back_inserter(missing));
  fmt::print("{} of {} {} drawn\n", all.size() - missing.size(), all.size(), what);
  for (const std::string& each : missing) fmt::print("  never: {}\n", each);
  return missing.empty();
}

}  // namespace

const Schema& schema() {
  static const Schema known = [] {
    Schema all;
    experiment::Settings settings;
    Everything everything("", all.keys, all.values);
    settings.describe(everything);
    return all;
  }();
  return known;
}

std::set<std::string> keys_and_values(const std::string& file) {
  std::set<std::string> seen;
  collect(scenario::parse_toml(base::read_file(file), file), "", seen);
  return seen;
}

bool report_keys(const std::string& directory) {
  const Schema& all = schema();
  std::set<std::string> seen;
  std::set<std::pair<std::string, std::string>> pairs;
  std::size_t scenarios = 0;
  for (const auto& entry : std::filesystem::directory_iterator(directory)) {
    const std::string name = entry.path().filename().string();
    if (!name.starts_with("valid-") || !name.ends_with(".toml")) continue;
    ++scenarios;
    std::set<std::string> keys;
    const std::set<std::string> here = keys_and_values(entry.path().string());
    seen.insert(here.begin(), here.end());
    std::ranges::set_intersection(here, all.keys, std::inserter(keys, keys.end()));
    for (auto one = keys.begin(); one != keys.end(); ++one)
      for (auto other = std::next(one); other != keys.end(); ++other) pairs.emplace(*one, *other);
  }
  const bool has_all = report_missing("keys are", all.keys, seen);
  report_missing("kinds and choices are", all.values, seen);
  fmt::print("{} pairs of keys in {} scenarios\n", pairs.size(), scenarios);
  return has_all;
}

}  // namespace simgrad::fuzz
