/// Mends a scenario that contradicts itself by what the program says about it: a refusal has a place and names other
/// keys, often with the value that they should have. One of these is changed at random, and the program is asked again.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <exception>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string>
#include <vector>

#include "base/errors.h"
#include "experiment/plan/plan.h"
#include "experiment/run/expected_effort.h"
#include "experiment/run/runner.h"
#include "fuzz/draw.h"
#include "scenario/document.h"
#include "scenario/json.h"

namespace simgrad::fuzz {

namespace {

using Json = Draw::Json;
using Parts = std::vector<std::string>;  ///< the keys and indices that lead to a value

struct Refusal {
  Parts place;
  std::string message;
};

bool is_number(const std::string& part) {
  return !part.empty() && std::ranges::all_of(part, [](char c) { return c >= '0' && c <= '9'; });
}

/// The dotted key, without indices.
std::string dotted(const Parts& parts) {
  std::string all;
  for (const std::string& part : parts)
    if (!is_number(part)) all += (all.empty() ? "" : ".") + part;
  return all;
}

bool stands_at(const scenario::Position& position, int line, int column) {
  return position.line == line && position.column == column;
}

std::optional<Parts> found_in(const scenario::Table& table, int line, int column, const Parts& above);

std::optional<Parts> found_in(const scenario::Node& node, int line, int column, const Parts& above) {
  if (const auto* table = node.as<scenario::Table>())
    if (auto found = found_in(*table, line, column, above)) return found;
  if (const auto* list = node.as<scenario::Array>())
    for (std::size_t i = 0; i < list->size(); ++i) {
      Parts item = above;
      item.push_back(std::to_string(i));
      if (auto found = found_in((*list)[i], line, column, item)) return found;
    }
  if (stands_at(node.position, line, column)) return above;
  return {};
}

/// The keys that lead to the value at a place of the text.
std::optional<Parts> found_in(const scenario::Table& table, int line, int column, const Parts& above) {
  for (const scenario::Entry& entry : table.entries) {
    Parts here = above;
    here.push_back(entry.key);
    if (auto found = found_in(entry.node, line, column, here)) return found;
    if (stands_at(entry.position, line, column)) return here;
  }
  return {};
}

/// `file:line:column: message`, where the file is the scenario's.
Refusal refusal_of(const std::string& fault, const std::string& file, const scenario::Table& table) {
  Refusal refusal{.place = {}, .message = fault};
  if (!fault.starts_with(file + ":")) return refusal;
  int line = 0, column = 0;
  const char* const end = fault.data() + fault.size();
  const auto first = std::from_chars(fault.data() + file.size() + 1, end, line);
  if (first.ptr == end || *first.ptr != ':') return refusal;
  const auto second = std::from_chars(first.ptr + 1, end, column);
  refusal.message = std::string(second.ptr, end);
  if (auto found = found_in(table, line, column, {})) refusal.place = std::move(*found);
  return refusal;
}

/// The refusals of a file; none if the program accepts it, and if its runs are short. An error that is no refusal is a
/// fault of the program: the scenario stays as it is, and whoever runs it will report the fault.
std::vector<Refusal> refusals(const std::string& file, const std::string& text) {
  try {
    const experiment::Plan plan = experiment::make_plan(file, {});
    experiment::check_files(plan, UINTMAX_MAX);
    double effort_s = 0.0;
    for (const experiment::RunPlan& run : plan.runs) effort_s += experiment::expected_effort_s(run);
    constexpr double most_s = 0.3;
    if (effort_s <= most_s) return {};
    return {{.place = {}, .message = "too slow: training.numbers = false, stop.steps = 2, cluster.workers = 3"}};
  } catch (const base::ScenarioError& error) {
    const scenario::Table table = scenario::parse_toml(text, file);
    std::vector<Refusal> all;
    for (const std::string& fault : error.faults()) all.push_back(refusal_of(fault, file, table));
    return all;
  } catch (const base::EnvironmentError& error) {
    return {{.place = {}, .message = error.what()}};
  } catch (const std::exception&) {
    return {};
  }
}

void write_anew(const std::string& file, const std::string& text) {
  std::filesystem::remove(file);  // to cut a file that is there waits for the disk on ext4 (auto_da_alloc)
  std::ofstream stream(file);
  stream << text;
  if (!stream.flush()) throw base::EnvironmentError(fmt::format("{}: cannot be written", file));
}

/// The value at the parts, or null. Lists are entered at the index that `near` has there, else at the first.
Json* at(Json& tree, const Parts& keys, const Parts& near, Parts& exact) {
  Json* value = &tree;
  exact.clear();
  for (const std::string& key : keys) {
    if (value->is_array() && !is_number(key)) {
      const bool same = near.size() > exact.size() && std::equal(exact.begin(), exact.end(), near.begin());
      const std::string index = same && is_number(near[exact.size()]) ? near[exact.size()] : "0";
      if (std::stoul(index) >= value->size()) return nullptr;
      exact.push_back(index);
      value = &(*value)[std::stoul(index)];
    }
    if (value->is_array()) {
      if (std::stoul(key) >= value->size()) return nullptr;
      value = &(*value)[std::stoul(key)];
    } else {
      if (!value->is_object() || !value->contains(key)) return nullptr;
      value = &(*value)[key];
    }
    exact.push_back(key);
  }
  return value;
}

Parts split(const std::string& key) {
  Parts parts;
  for (std::size_t from = 0; from <= key.size();) {
    const std::size_t dot = std::min(key.find('.', from), key.size());
    parts.push_back(key.substr(from, dot - from));
    from = dot + 1;
  }
  return parts;
}

/// A word of a message that names a key, and the value that stands behind it, in TOML, or "".
struct Mention {
  std::string key, value;
};

class Repair {
 public:
  Repair(Json& tree, Dice& dice, const Aim& aim) : tree_(tree), dice_(dice), aim_(aim) {}

  void mend(const Refusal& refusal) {
    Parts exact;
    const bool there = !refusal.place.empty() && at(tree_, refusal.place, refusal.place, exact);
    const std::vector<Mention> mentions = mentions_of(refusal);
    if (!mentions.empty() && dice_.hits(there ? 0.55 : 0.9))
      follow(mentions[dice_.one_of(mentions.size())], refusal.place);
    else if (there && (dice_.hits(0.3) || aim_.leads_through(dotted(exact))))
      redraw(dotted(exact), refusal.place);
    else if (there)
      erase(exact);
    else
      erase_any();
  }

 private:
  /// The keys that the message names: whole, or beside the place, or anywhere if there are few of that name.
  std::vector<Mention> mentions_of(const Refusal& refusal) const {
    const std::string place = dotted(refusal.place), above = place.substr(0, std::min(place.rfind('.'), place.size()));
    const std::set<std::string>& keys = schema().keys;
    std::vector<Mention> all;
    const std::string& text = refusal.message;
    const auto in_word = [](char c) {
      return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_' || c == '.';
    };
    for (std::size_t from = 0; from < text.size(); ++from) {
      if (!in_word(text[from])) continue;
      std::size_t to = from;
      while (to < text.size() && in_word(text[to])) ++to;
      std::string word = text.substr(from, to - from);
      while (word.ends_with('.')) word.pop_back();
      const std::string value = value_behind(text, to);
      from = to;
      for (const std::string& key : {word, above + "." + word, place + "." + word})
        if (keys.contains(key) && (key != place || !value.empty())) all.push_back({key, value});
    }
    return all;
  }

  /// The value in `key = value`, or "".
  static std::string value_behind(const std::string& text, std::size_t from) {
    if (text.compare(from, 3, " = ") != 0) return {};
    from += 3;
    const std::size_t to = text[from] == '"' ? text.find('"', from + 1) : text.find_first_of(" ,;:)", from);
    if (to == std::string::npos) return text[from] == '"' ? std::string() : text.substr(from);
    return text.substr(from, to - from + (text[from] == '"' ? 1 : 0));
  }

  void follow(const Mention& mention, const Parts& near) {
    Parts exact;
    const Json* const present = at(tree_, split(mention.key), near, exact);
    if (!mention.value.empty() && dice_.hits(0.6)) return set(mention, near);
    if (present && !aim_.leads_through(mention.key) && dice_.hits(0.6)) return erase(exact);
    redraw(mention.key, near);
  }

  void set(const Mention& mention, const Parts& near) {
    try {
      put(mention.key, scenario::json(scenario::parse_value(mention.value, {})), near);
    } catch (const base::ScenarioError&) {  // no value, but words that look like one
    }
  }

  /// Draws the key again, among the kinds that the scenario has.
  void redraw(const std::string& key, const Parts& near) {
    const Aim aim{.rate = 0.0, .wanted = {key}, .context = tree_};
    Json fresh = drawn(dice_, aim);
    Parts exact;
    if (const Json* const value = at(fresh, split(key), near, exact)) put(key, *value, near);
  }

  /// Tables on the way are made; a list on the way gets its first item.
  void put(const std::string& key, const Json& value, const Parts& near) {
    Parts keys = split(key), exact;
    const std::string last = keys.back();
    keys.pop_back();
    Json* table = &tree_;
    for (std::size_t depth = 1; depth <= keys.size(); ++depth) {
      const Parts head(keys.begin(), keys.begin() + static_cast<std::ptrdiff_t>(depth));
      Json* next = at(tree_, head, near, exact);
      if (!next) {
        if (!table->is_object()) return;
        next = &(*table)[head.back()];
        *next = Json::object();
      }
      if (next->is_array()) {
        const bool inside = near.size() > exact.size() && std::equal(exact.begin(), exact.end(), near.begin()) &&
                            is_number(near[exact.size()]) && std::stoul(near[exact.size()]) < next->size();
        if (next->empty()) return;
        next = &(*next)[inside ? std::stoul(near[exact.size()]) : 0];
      }
      table = next;
    }
    if (!table->is_object()) return;
    if ((last == "kind" || last == "source") && table->value(last, value) != value)
      forget_options(*table, dotted(keys));
    (*table)[last] = value;
  }

  /// Drops a component's options except for the wanted ones: another kind has other options.
  void forget_options(Json& table, const std::string& path) const {
    Json kept = Json::object();
    for (const auto& [key, value] : table.items())
      if (key == "label" || aim_.leads_through(path + "." + key)) kept[key] = value;
    table = std::move(kept);
  }

  void erase(const Parts& exact) {
    if (exact.empty() || aim_.leads_through(dotted(exact))) return;
    Parts above(exact.begin(), exact.end() - 1), unused;
    Json* const table = above.empty() ? &tree_ : at(tree_, above, exact, unused);
    if (!table) return;
    const std::string& last = exact.back();
    if (table->is_array()) {
      if (std::stoul(last) < table->size() && table->size() > 1) return void(table->erase(std::stoul(last)));
      return above.front() == "strategy" ? redraw("strategy.kind", exact) : erase(above);
    }
    if (last == "kind" && above.size() > 1) return redraw(dotted(above), exact);
    if (table->is_object()) table->erase(last);
  }

  /// A section's option, where the message says nothing that can be followed.
  void erase_any() {
    if (tree_.empty()) return;
    auto section = tree_.begin();
    std::advance(section, static_cast<std::ptrdiff_t>(dice_.one_of(tree_.size())));
    if (!section->is_object() || section->empty()) return;
    auto option = section->begin();
    std::advance(option, static_cast<std::ptrdiff_t>(dice_.one_of(section->size())));
    erase({section.key(), option.key()});
  }

  Json& tree_;
  Dice& dice_;
  const Aim& aim_;
};

}  // namespace

bool accepted(const Json& tree, const std::string& file) {
  const std::string text = scenario::toml(tree);
  write_anew(file, text);
  return refusals(file, text).empty();
}

bool repair(Json& tree, Dice& dice, const Aim& aim, const std::string& file) {
  constexpr int most_rounds = 60;
  for (int round = 0; round < most_rounds; ++round) {
    const std::string text = scenario::toml(tree);
    write_anew(file, text);
    const std::vector<Refusal> all = refusals(file, text);
    if (all.empty()) return true;
    Repair mender(tree, dice, aim);
    for (const Refusal& refusal : all) mender.mend(refusal);
  }
  return false;
}

}  // namespace simgrad::fuzz
