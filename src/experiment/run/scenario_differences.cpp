#include "experiment/run/scenario_differences.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"
#include "scenario/json.h"

namespace simgrad::experiment {

namespace {

using Tree = nlohmann::ordered_json;

void add_leaves(const Tree& tree, const std::string& key, Leaves& leaves) {
  if (tree.is_null() || (tree.is_object() && tree.empty())) return;  // nothing is given
  if (!tree.is_structured() || tree.empty()) {
    leaves[key] = scenario::inline_toml(tree);
    return;
  }
  for (const auto& [name, value] : tree.items()) add_leaves(value, key.empty() ? name : key + "." + name, leaves);
}

/// The value of a key, cut if it is long.
std::string value_in(const Leaves& leaves, const std::string& key) {
  constexpr std::size_t longest = 80;
  const auto found = leaves.find(key);
  if (found == leaves.end()) return "absent";
  return found->second.size() <= longest ? found->second : found->second.substr(0, longest) + "...";
}

}  // namespace

Leaves leaves_of(const nlohmann::ordered_json& tree) {
  Leaves leaves;
  add_leaves(tree, "", leaves);
  return leaves;
}

std::vector<ChangedKey> changed_keys(const Leaves& first, const Leaves& second) {
  std::set<std::string> keys;
  for (const Leaves* leaves : {&first, &second})
    for (const auto& [key, value] : *leaves) keys.insert(key);
  std::vector<ChangedKey> changes;
  for (const std::string& key : keys) {
    const auto in_first = first.find(key), in_second = second.find(key);
    if (in_first == first.end() || in_second == second.end() || in_first->second != in_second->second)
      changes.push_back({key, value_in(first, key), value_in(second, key)});
  }
  return changes;
}

std::string some_of(const std::vector<ChangedKey>& changes,
                    const std::function<std::string(const ChangedKey& change)>& one) {
  constexpr std::size_t shown = 3;
  std::vector<std::string> texts;
  for (std::size_t k = 0; k < std::min(shown, changes.size()); ++k) texts.push_back(one(changes[k]));
  return base::joined(texts) + (changes.size() > shown ? fmt::format(", and {} more", changes.size() - shown) : "");
}

std::set<std::string> varied_keys(const nlohmann::ordered_json& scenario) {
  std::set<std::string> keys;
  const auto grid = scenario.find("grid");
  if (grid == scenario.end() || !grid->is_object()) return keys;
  for (const auto& [key, values] : grid->items()) {
    if (key != "zip") keys.insert(key);
    for (const Tree& zip : key == "zip" ? values : Tree::array())
      for (const auto& [zipped, list] : zip.items()) keys.insert(zipped);
  }
  return keys;
}

Leaves defining_leaves(nlohmann::ordered_json scenario, const std::set<std::string>& varied) {
  for (const char* choice : {"title", "seed", "save_model", "expect", "grid", "strategy", "capacity", "plan"})
    scenario.erase(choice);
  Leaves leaves = leaves_of(scenario);
  std::erase_if(leaves, [&](const auto& leaf) {
    return std::ranges::any_of(
        varied, [&](const std::string& key) { return leaf.first == key || leaf.first.starts_with(key + "."); });
  });
  return leaves;
}

Leaves defining_leaves_with_strategies(const nlohmann::ordered_json& scenario) {
  Leaves leaves = defining_leaves(scenario, varied_keys(scenario));
  const auto strategies = scenario.find("strategy");
  if (strategies == scenario.end() || !strategies->is_array()) return leaves;
  for (const Tree& strategy : *strategies) {
    if (!strategy.contains("label")) continue;
    const std::string label = strategy["label"];
    for (const auto& [key, value] : leaves_of(strategy))
      if (key != "label") leaves.emplace(fmt::format("strategy.{}.{}", label, key), value);
  }
  return leaves;
}

std::string differences(const Leaves& first, const Leaves& second, const std::string& place_of_first,
                        const std::string& place_of_second) {
  return some_of(changed_keys(first, second), [&](const ChangedKey& change) {
    return fmt::format("{} is {} {} and {} {}", change.key, change.first, place_of_first, change.second,
                       place_of_second);
  });
}

}  // namespace simgrad::experiment
