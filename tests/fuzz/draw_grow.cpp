/// Scenarios that grow by what has not stood beside the rest of them: pairs of rare keys are too rare by chance.
#include <algorithm>
#include <iterator>
#include <string>
#include <vector>

#include "fuzz/draw.h"

namespace simgrad::fuzz {

using Json = Draw::Json;

Together::Together() {
  const Schema& all = schema();
  std::ranges::set_union(all.keys, all.values, std::back_inserter(names_));
  seen_.resize(names_.size() * names_.size());
}

std::vector<std::size_t> Together::places(const std::set<std::string>& names) const {
  std::vector<std::size_t> all;
  for (const std::string& name : names)
    if (const auto at = std::ranges::lower_bound(names_, name); at != names_.end() && *at == name)
      all.push_back(static_cast<std::size_t>(at - names_.begin()));
  return all;
}

void Together::see(const std::set<std::string>& present) {
  const std::vector<std::size_t> all = places(present);
  for (const std::size_t one : all)
    for (const std::size_t other : all) seen_[one * names_.size() + other] = true;
}

std::size_t Together::new_pairs(const std::set<std::string>& present, const std::set<std::string>& more) const {
  const std::vector<std::size_t> those = places(present);
  std::size_t count = 0;
  for (const std::size_t one : places(more))
    count += static_cast<std::size_t>(
        std::ranges::count_if(those, [&](std::size_t other) { return !seen_[one * names_.size() + other]; }));
  return count;
}

namespace {

/// An option or component of a section or of the first strategy.
struct Part {
  std::string section, key;
  Json value;

  bool of_list() const { return section == "strategy"; }
  Json alone() const {
    Json table{{key, value}};
    return {{section, of_list() ? Json::array({std::move(table)}) : std::move(table)}};
  }
  void put(Json& tree) const { (of_list() ? tree[section][0] : tree[section])[key] = value; }
};

/// The parts of `fresh` that the tree does not have.
std::vector<Part> parts_beside(const Json& tree, const Json& fresh) {
  std::vector<Part> parts;
  for (const auto& [section, drawn] : fresh.items()) {
    const bool of_list = section == "strategy";
    if (of_list ? drawn.empty() || tree.value(section, Json::array()).empty() : !drawn.is_object()) continue;
    const Json& own = of_list ? tree.at(section)[0] : tree.value(section, Json::object());
    if (of_list && own.value("kind", "") != drawn[0].value("kind", "")) continue;
    for (const auto& [key, value] : (of_list ? drawn[0] : drawn).items())
      if (!own.contains(key)) parts.push_back({section, key, value});
  }
  return parts;
}

}  // namespace

void grow(Json& tree, Dice& dice, const Together& together, const std::string& file) {
  constexpr int rounds = 8, candidates = 4;
  for (int round = 0; round < rounds; ++round) {
    const std::vector<Part> parts = parts_beside(tree, drawn(dice, {.rate = 0.3, .context = tree}));
    if (parts.empty()) continue;
    const std::set<std::string> present = keys_and_values(tree);
    const Part* best = nullptr;
    std::size_t most = 0;
    for (int i = 0; i < candidates; ++i) {
      const Part& part = parts[dice.one_of(parts.size())];
      const std::size_t count = together.new_pairs(present, keys_and_values(part.alone()));
      if (!best || count > most) best = &part;
      most = std::max(most, count);
    }
    Json more = tree;
    best->put(more);
    if (accepted(more, file)) tree = std::move(more);
  }
  accepted(tree, file);
}

}  // namespace simgrad::fuzz
