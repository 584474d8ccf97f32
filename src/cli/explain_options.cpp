#include "cli/explain_options.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "base/text.h"
#include "outputs/text/language.h"
#include "outputs/text/recognised.h"
#include "outputs/text/text_layout.h"

namespace simgrad::cli {

namespace {

using outputs::tr;
using scenario::OptionText;

/// An option in a place of the catalogue, or in several places with the same text.
struct PlacedOption {
  const Kind* kind;
  OptionText option;
  std::string where;
  std::vector<std::string> owners;                                  ///< the components, or the section
  std::map<std::string, std::vector<std::string>> by_default = {};  ///< owners by default
};

std::string head_of(const OptionText& option, const std::string& fallback) {
  const std::string comma = option.range.empty() ? "" : tr(", ");
  const std::string values = outputs::translated(option.type) + comma + outputs::translated(option.range) + fallback;
  return fmt::format("  {}{}\n      {}\n", option.key, tr(" ({})", values), tr(option.meaning));
}

std::string default_of(const std::string& fallback) { return fallback.empty() ? "" : tr(", default {}", fallback); }

std::string choices_text(const OptionText& option) {
  std::string text;
  for (const auto& [name, meaning] : option.choices)
    text += fmt::format("        {}\n", tr("{}: {}", name, tr(meaning)));
  return text;
}

std::string last_word(const std::string& key) { return key.substr(key.rfind('.') + 1); }

/// All that a text says of an option, its default aside.
std::string said_of(const OptionText& option) {
  return fmt::format("{}\n{}\n{}\n{}", option.type, option.range, option.meaning, choices_text(option));
}

template <class Wanted>
std::vector<PlacedOption> placed_options(const Wanted& wanted) {
  std::vector<PlacedOption> found;
  for (const Kind& kind : catalogue())
    for (const Item& item : kind.items) {
      if (!item.make) continue;
      for (const OptionText& option : scenario::options(*item.make())) {
        if (!wanted(option)) continue;
        const std::string section = section_of(item, option.key);
        found.push_back({.kind = &kind,
                         .option = option,
                         .where = where(kind, item),
                         .owners = {section.empty() ? std::string(item.about.kind) : "[" + section + "]"}});
      }
    }
  return found;
}

/// Puts together what several components of a kind have in common. An option of a section is found in the sections
/// around it, too: the shortest key stays.
std::vector<PlacedOption> merged(std::vector<PlacedOption> all) {
  std::ranges::stable_sort(all, {}, [](const PlacedOption& each) {
    return each.kind->one == "section" ? std::ranges::count(each.option.key, '.') : 0;
  });
  std::vector<PlacedOption> few;
  std::map<std::string, std::size_t> places;
  for (PlacedOption& each : all) {
    const bool section = each.kind->one == "section";
    const std::string key = fmt::format("{}\n{}\n{}\n{}", each.kind->name, section ? "" : each.where,
                                        last_word(each.option.key), said_of(each.option));
    const auto [at, fresh] = places.emplace(key, few.size());
    const std::string& first_key = fresh ? each.option.key : few[at->second].option.key;
    if (section && !fresh && each.option.key.ends_with("." + first_key)) continue;
    each.by_default[each.option.fallback].push_back(each.owners.front());
    if (fresh || section) {
      few.push_back(std::move(each));
      continue;
    }
    few[at->second].owners.push_back(each.owners.front());
    few[at->second].by_default[each.option.fallback].push_back(each.owners.front());
  }
  return few;
}

/// The option's text; defaults that differ in a line each.
std::string placed_text(const PlacedOption& placed) {
  if (placed.by_default.size() == 1) return option_text(placed.option);
  std::string text = head_of(placed.option, "") + choices_text(placed.option);
  for (const auto& [fallback, owners] : placed.by_default)
    text += fmt::format("        {}\n", tr("{}: {}", fallback.empty() ? tr("no default") : tr("default {}", fallback),
                                           base::joined(owners)));
  return text;
}

Likely likely_of(const Kind& kind) {
  return kind.one == "section"    ? Likely::key
         : kind.one == "strategy" ? Likely::strategy_option
         : kind.one == "device"   ? Likely::device
                                  : Likely::option;
}

std::string owners_text(const PlacedOption& placed) {
  return tr("{} ({})", base::joined(placed.owners), tr(placed.where));
}

/// The names of an option's values: its choices, components or the word that stands for none.
std::vector<std::string> values_of(const OptionText& option, bool of_components) {
  std::vector<std::string> values;
  for (const auto& [name, meaning] : option.choices) values.push_back(name);
  if (!values.empty()) return values;
  constexpr std::string_view list = "one of ", word = " or \"";
  if (of_components && option.type.starts_with(list)) {
    for (std::size_t from = list.size(); from < option.type.size();) {
      const std::size_t end = std::min(option.type.find(", ", from), option.type.size());
      values.push_back(option.type.substr(from, end - from));
      from = end + 2;
    }
  } else if (const auto at = option.type.rfind(word); at != std::string::npos && option.type.ends_with('"')) {
    const std::size_t from = at + word.size();
    values.push_back(option.type.substr(from, option.type.size() - 1 - from));
  }
  return values;
}

std::string meaning_of_value(const OptionText& option, const std::string& value) {
  for (const auto& [name, meaning] : option.choices)
    if (name == value) return meaning;
  return {};
}

}  // namespace

std::string option_text(const OptionText& option) {
  return head_of(option, default_of(option.fallback)) + choices_text(option);
}

const std::string& where(const Kind& kind, const Item& item) { return item.where.empty() ? kind.where : item.where; }

std::string section_of(const Item& item, const std::string& key) {
  const auto dot = key.find('.');
  return item.about.kind == "scenario" && dot != std::string::npos ? key.substr(0, dot) : "";
}

std::vector<Sense> options_called(const std::string& wanted) {
  std::vector<Sense> all;
  for (const PlacedOption& placed : merged(placed_options([&](const OptionText& each) { return each.key == wanted; })))
    all.push_back({.likely = likely_of(*placed.kind),
                   .text = tr("{}: an option of {}", wanted, owners_text(placed)) + "\n" + placed_text(placed),
                   .in_short = tr("{}, an option of {}: {}", wanted, owners_text(placed), tr(placed.option.meaning))});
  return all;
}

std::vector<Sense> options_with_value(const std::string& wanted, bool of_components) {
  const auto has_value = [&](const OptionText& each) {
    return std::ranges::count(values_of(each, of_components), wanted) > 0;
  };
  std::vector<Sense> all;
  for (const PlacedOption& placed : merged(placed_options(has_value))) {
    const std::string head = tr("{}: a value of {}, an option of {}", wanted, placed.option.key, owners_text(placed));
    const std::string meaning = tr(meaning_of_value(placed.option, wanted));
    all.push_back({.likely = Likely::value,
                   .text = head + "\n" + placed_text(placed),
                   .in_short = meaning.empty() ? head : tr("{}: {}", head, meaning)});
  }
  return all;
}

bool have_equal_options(const std::vector<const Item*>& items) {
  std::set<std::vector<std::string>> lists;
  std::size_t with_options = 0;
  for (const Item* item : items) {
    std::vector<std::string> keys;
    if (item->make)
      for (const OptionText& option : scenario::options(*item->make())) keys.push_back(option.key);
    if (keys.empty()) continue;
    ++with_options;
    lists.insert(keys);
  }
  return with_options > 1 && lists.size() == 1;
}

std::string common_options_text(const std::vector<const Item*>& items) {
  std::vector<PlacedOption> all;
  std::map<std::string, std::size_t> places;
  for (const Item* item : items) {
    if (!item->make) continue;
    const std::string owner(item->about.kind);
    for (const OptionText& option : scenario::options(*item->make())) {
      const auto [at, fresh] = places.emplace(option.key + "\n" + said_of(option), all.size());
      if (fresh) all.push_back({.kind = nullptr, .option = option, .where = {}, .owners = {}});
      all[at->second].owners.push_back(owner);
      all[at->second].by_default[option.fallback].push_back(owner);
    }
  }
  const auto with_options = static_cast<std::size_t>(std::ranges::count_if(
      items, [](const Item* item) { return item->make && !scenario::options(*item->make()).empty(); }));
  std::string text;
  for (const PlacedOption& placed : all) {
    text += placed_text(placed);
    if (placed.owners.size() < with_options)
      text += fmt::format("        {}\n", tr("an option of {}", base::joined(placed.owners)));
  }
  return text;
}

}  // namespace simgrad::cli
