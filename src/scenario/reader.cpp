#include "scenario/reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>
#include <stdexcept>

#include "base/text.h"
#include "scenario/phrases.h"
#include "scenario/usual_words.h"

namespace simgrad::scenario {

namespace {

/// "bandwidth" of "cluster.bandwidth"
std::string_view last_part(std::string_view key) { return key.substr(key.rfind('.') + 1); }

/// "lr" of "learning_rate"
std::string initials(std::string_view name) {
  std::string letters;
  for (std::size_t i = 0; i < name.size(); ++i)
    if (i == 0 || name[i - 1] == '_') letters += name[i];
  return letters;
}

/// "workers" of "num_workers", "bandwidth" of "bandwidth_gbps": the name with a count or a unit; empty if there is
/// none.
std::string without_count_or_unit(const std::string& key, const std::vector<std::string>& names) {
  constexpr std::array counts{"num_", "n_", "max_", "total_"};
  constexpr std::array units{"_s", "_ms", "_us", "_gb", "_mb", "_gbps", "_mbps"};
  for (const std::string& name : names) {
    if (std::ranges::any_of(counts, [&](const char* count) { return key == count + name; })) return name;
    if (std::ranges::any_of(units, [&](const char* unit) { return key == name + unit; })) return name;
  }
  return {};
}

}  // namespace

std::string_view bare_title(std::string_view title) {
  while (title.starts_with('[')) title.remove_prefix(1);
  while (title.ends_with(']')) title.remove_suffix(1);
  return title;
}

const Entry* Reader::entry(std::string_view key) const {
  const Entry* const written = table_.find(key);
  return written ? written : preset_.find(key);
}

const Node* Reader::take(std::string_view key) {
  known_.emplace_back(key);
  const Entry* const found = entry(key);
  return found ? &found->node : nullptr;
}

void Reader::fault(std::string_view key, const Position& position, std::string message) {
  faulty_.emplace_back(key);
  reading_.faults.add(position, std::move(message));
}

void Reader::wrong(std::string_view key, const Node& node, std::string_view expected) {
  fault(key, node.position, fmt::format("{} must be {}, found {}", key, expected, shown(node)));
}

std::string Reader::meant_by(const std::string& key) const {
  // In the root and in a section a key of another section is meant more probably than one that is spelt differently.
  // Tables of lists and of components have keys that depend on their kind, which are not looked for.
  constexpr std::size_t most = 3;
  const std::string_view section = bare_title(title_);
  const bool searched = reading_.all_keys && !title_.starts_with("[[") && section.find('.') == std::string_view::npos;
  if (searched && !reading_.known) {
    reading_.known = reading_.all_keys();
    // The nearest to the root are the most usual: cluster.bandwidth before cluster.topology.bandwidth.
    std::ranges::stable_sort(*reading_.known, {},
                             [](const std::string& name) { return std::ranges::count(name, '.'); });
  }
  std::vector<std::string> others;
  for (const std::string& name : searched ? *reading_.known : std::vector<std::string>())
    if (section.empty() || !name.starts_with(fmt::format("{}.", section))) others.push_back(name);
  const auto ending_in = [&](const auto& fits) {
    std::vector<std::string> found;
    for (const std::string& name : others)
      if (found.size() < most && fits(last_part(name)) && std::ranges::find(found, name) == found.end())
        found.push_back(name);
    return base::joined(found, "\" or \"");
  };
  // A plural for a singular or the other way round, or initials of a key of this very table.
  for (const std::string& name : known_)
    if (name == key + "s" || key == name + "s" || (key.size() > 1 && initials(name) == key)) return name;
  const std::string_view usual = section.empty() ? std::string_view() : key_for_word(key);
  if (std::ranges::find(known_, usual) != known_.end()) return std::string(usual);
  std::string meant = ending_in([&](std::string_view last) { return last == key; });
  if (meant.empty()) meant = without_count_or_unit(key, known_);
  if (meant.empty()) meant = base::closest(key, known_);
  if (meant.empty()) meant = ending_in([&](std::string_view last) { return last == usual; });
  if (meant.empty()) meant = ending_in([&](std::string_view last) { return key.size() > 1 && initials(last) == key; });
  if (!meant.empty()) return meant;
  std::vector<std::string> lasts;
  for (const std::string& name : others) lasts.emplace_back(last_part(name));
  const std::string closest = base::closest(key, lasts);
  return closest.empty() ? "" : ending_in([&](std::string_view last) { return last == closest; });
}

void Reader::refuse_unknown_keys() {
  if (all_known_) return;
  for (const Entry& entry : table_.entries) {
    if (std::ranges::find(known_, entry.key) != known_.end()) continue;
    std::string text = fmt::format("unknown key {}{}{}", toml_string(entry.key), title_.empty() ? "" : " in ", title_);
    if (reading_.suggestions > 0) {
      --reading_.suggestions;
      const std::string meant = meant_by(entry.key);
      text += meant.empty() ? fmt::format("; known: {}", base::joined(known_))
                            : fmt::format("; did you mean \"{}\"?", meant);
    }
    reading_.faults.add(entry.position, std::move(text));
  }
}

void Reader::refuse(std::string_view key, std::string_view message) {
  // An option whose value could not be read has its default, so a contradiction with it is not the user's.
  if (std::ranges::find(faulty_, key) != faulty_.end()) return;
  const Entry* entry = table_.find(key);
  reading_.faults.add(entry ? entry->position : position_, std::string(message));
}

bool Reader::in_bounds(std::string_view key, const Node& node, double value, const base::Bounds& bounds) {
  if (bounds.contains(value)) return true;
  wrong(key, node, range(bounds));
  return false;
}

std::optional<std::int64_t> Reader::integer_in(std::string_view key, const Node& node, const base::Bounds& bounds,
                                               std::string_view expected) {
  std::optional<std::int64_t> value;
  if (const auto* integer = node.as<std::int64_t>()) value = *integer;
  // 1e6 is accepted as an integer; every whole double below 2^63 is exact.
  if (const auto* number = node.as<double>(); number && std::abs(*number) < 0x1p63 && std::trunc(*number) == *number)
    value = static_cast<std::int64_t>(*number);
  if (!value)
    wrong(key, node, expected);
  else if (!in_bounds(key, node, static_cast<double>(*value), bounds))
    value.reset();
  return value;
}

std::optional<double> Reader::number_in(std::string_view key, const Node& node, const base::Bounds& bounds,
                                        std::string_view expected) {
  std::optional<double> value;
  if (const auto* integer = node.as<std::int64_t>()) value = static_cast<double>(*integer);
  if (const auto* number = node.as<double>()) value = *number;
  if (!value || !std::isfinite(*value)) {
    wrong(key, node, value ? "a finite number" : expected);
    return std::nullopt;
  }
  return in_bounds(key, node, *value, bounds) ? value : std::nullopt;
}

std::optional<double> Reader::quantity_in(std::string_view key, const Node& node, base::Unit unit,
                                          const base::Bounds& bounds, std::string_view word) {
  const auto [measures, example] = base::unit_name(unit);
  const std::string or_word = word.empty() ? "" : fmt::format(" or \"{}\"", word);
  if (node.as<std::int64_t>() || node.as<double>()) {
    fault(key, node.position,
          fmt::format("{}: {} needs a unit, as in \"{}\"{}; found {}", key, measures, example, or_word, shown(node)));
    return std::nullopt;
  }
  const auto* text = node.as<std::string>();
  if (!text) {
    wrong(key, node, fmt::format("{}, as in \"{}\"{}", measures, example, or_word));
    return std::nullopt;
  }
  try {
    const double value = base::parse_quantity(*text, unit);
    if (bounds.contains(value)) return value;
    wrong(key, node, range(bounds, unit));
  } catch (const std::invalid_argument& error) {
    fault(key, node.position,
          fmt::format("{}: {}{}", key, error.what(), word.empty() ? "" : fmt::format("; or write \"{}\"", word)));
  }
  return std::nullopt;
}

std::optional<std::string> Reader::text_in(std::string_view key, const Node& node) {
  if (const auto* text = node.as<std::string>()) return *text;
  wrong(key, node, "a string");
  return std::nullopt;
}

void Reader::flag(std::string_view key, bool& value, std::string_view) {
  const Node* node = take(key);
  if (!node) return;
  if (const auto* flag = node->as<bool>())
    value = *flag;
  else
    wrong(key, *node, "true or false");
}

void Reader::integer(std::string_view key, std::int64_t& value, std::string_view, base::Bounds bounds) {
  if (const Node* node = take(key)) value = integer_in(key, *node, bounds).value_or(value);
}

void Reader::integer(std::string_view key, std::optional<std::int64_t>& value, std::string_view, base::Bounds bounds) {
  const Node* node = take(key);
  if (!node) return;
  if (const auto read = integer_in(key, *node, bounds)) value = read;
}

void Reader::integer_or(std::string_view key, std::optional<std::int64_t>& value, std::string_view word,
                        std::string_view, base::Bounds bounds) {
  const Node* node = take(key);
  if (!node) return;
  if (const auto* text = node->as<std::string>(); text && *text == word)
    value.reset();
  else if (const auto read = integer_in(key, *node, bounds, fmt::format("an integer or \"{}\"", word)))
    value = read;
}

void Reader::number(std::string_view key, double& value, std::string_view, base::Bounds bounds) {
  if (const Node* node = take(key)) value = number_in(key, *node, bounds).value_or(value);
}

void Reader::number(std::string_view key, std::optional<double>& value, std::string_view, base::Bounds bounds) {
  const Node* node = take(key);
  if (!node) return;
  if (const auto read = number_in(key, *node, bounds)) value = read;
}

void Reader::quantity(std::string_view key, double& value, base::Unit unit, std::string_view, base::Bounds bounds) {
  if (const Node* node = take(key)) value = quantity_in(key, *node, unit, bounds).value_or(value);
}

void Reader::quantity(std::string_view key, std::optional<double>& value, base::Unit unit, std::string_view,
                      base::Bounds bounds) {
  const Node* node = take(key);
  if (!node) return;
  if (const auto read = quantity_in(key, *node, unit, bounds)) value = read;
}

void Reader::number_or(std::string_view key, std::optional<double>& value, std::string_view word, std::string_view,
                       base::Bounds bounds) {
  const Node* node = take(key);
  if (!node) return;
  if (const auto* text = node->as<std::string>(); text && *text == word)
    value.reset();
  else if (const auto read = number_in(key, *node, bounds, fmt::format("a number or \"{}\"", word)))
    value = read;
}

void Reader::quantity_or(std::string_view key, std::optional<double>& value, base::Unit unit, std::string_view word,
                         std::string_view, base::Bounds bounds) {
  const Node* node = take(key);
  if (!node) return;
  if (const auto* text = node->as<std::string>(); text && *text == word)
    value.reset();
  else if (const auto read = quantity_in(key, *node, unit, bounds, word))
    value = read;
}

void Reader::text(std::string_view key, std::string& value, std::string_view) {
  if (const Node* node = take(key)) value = text_in(key, *node).value_or(value);
}

std::optional<std::string> Reader::name_or_index_in(std::string_view key, const Node& node, std::string_view expected) {
  if (const auto* name = node.as<std::string>()) return *name;
  if (const auto* index = node.as<std::int64_t>(); index && *index >= 0) return std::to_string(*index);
  wrong(key, node, expected);
  return std::nullopt;
}

void Reader::name_or_index(std::string_view key, std::optional<std::string>& value, std::string_view) {
  const Node* node = take(key);
  if (!node) return;
  if (auto read = name_or_index_in(key, *node, "a name or an index from 0")) value = std::move(read);
}

void Reader::names_or_indices(std::string_view key, std::vector<std::string>& values, std::string_view) {
  const Node* node = take(key);
  if (!node) return;
  constexpr std::string_view expected = "a list of names or of indices from 0";
  std::vector<std::string> read;
  const auto add = [&](const Node& item) {
    if (auto name = name_or_index_in(key, item, expected)) read.push_back(*std::move(name));
  };
  if (const auto* list = node->as<Array>())
    for (const Node& item : *list) add(item);
  else
    add(*node);
  values = std::move(read);
}

void Reader::text(std::string_view key, std::optional<std::string>& value, std::string_view) {
  const Node* node = take(key);
  if (!node) return;
  if (auto read = text_in(key, *node)) value = std::move(read);
}

void Reader::path(std::string_view key, std::string& value, std::string_view) {
  const Node* node = take(key);
  if (!node) return;
  const auto written = text_in(key, *node);
  if (!written) return;
  // A path is relative to the file that writes it, one of the command line to the current directory. operator/ does not
  // change an absolute path.
  const bool from_file = node->position.line != 0;
  const auto directory = std::filesystem::path(node->position.file).parent_path();
  value = from_file && !written->empty() ? (directory / *written).lexically_normal().string() : *written;
}

void Reader::numbers(std::string_view key, std::vector<double>& values, std::string_view, base::Bounds bounds) {
  const Node* node = take(key);
  if (!node) return;
  const auto* list = node->as<Array>();
  if (!list) return wrong(key, *node, "a list of numbers");
  std::vector<double> read;
  for (const Node& item : *list)
    if (const auto value = number_in(key, item, bounds, "a list of numbers")) read.push_back(*value);
  if (read.size() == list->size()) values = std::move(read);
}

void Reader::any_choice(std::string_view key, int& index, std::span<const base::Choice> choices, std::string_view) {
  const Node* node = take(key);
  if (!node) return;
  const std::vector<std::string> known = names(choices);
  const auto* name = node->as<std::string>();
  if (!name) return wrong(key, *node, one_of(known));
  const auto found = std::ranges::find(known, *name);
  if (found == known.end())
    return fault(key, node->position,
                 fmt::format("unknown {} {}{}", key, shown(*node), base::suggestion(*name, known)));
  index = static_cast<int>(found - known.begin());
}

}  // namespace simgrad::scenario
