#include "cli/explain_senses.h"

#include <fmt/format.h>

#include <algorithm>

#include "cli/cost_letters.h"
#include "cli/explain_layers.h"
#include "cli/explain_metrics.h"
#include "cli/explain_options.h"
#include "cli/result_fields.h"
#include "outputs/text/language.h"

namespace simgrad::cli {

namespace {

using outputs::tr;

std::string item_text(const Kind& kind, const Item& item) {
  std::string text =
      fmt::format("{}\n  {}\n", tr("{} ({})", item.about.kind, tr(where(kind, item))), tr(item.about.summary));
  if (!item.about.cost.empty()) text += fmt::format("  {}\n", tr("cost: {}", tr(item.about.cost)));
  if (const std::string letters = cost_letters(kind.name, item.about.cost); !letters.empty())
    text += fmt::format("  {}\n", tr("letters: {}", letters));
  if (!item.about.source.empty()) text += fmt::format("  {}\n", tr("source: {}", item.about.source));
  if (!item.make) return text;
  const auto example = item.make();
  if (const std::string totals = totals_text(*example); !totals.empty())
    text += fmt::format("  {}\n", tr("by default: {}", totals));
  const auto options = scenario::options(*example);
  if (options.empty()) text += fmt::format("  {}\n", tr("no options"));
  for (const scenario::OptionText& option : options) text += option_text(option);
  return text;
}

std::string item_in_short(const Kind& kind, const Item& item) {
  return tr("{}: {}", tr("{} ({})", item.about.kind, tr(where(kind, item))), tr(item.about.summary));
}

std::string heading_of(const Kind& kind) { return tr("{}: the values of {}", kind.name, tr(kind.where)); }

/// All of a kind, as in `explain network_model` and `explain network_models`.
std::string kind_text(const Kind& kind) {
  std::vector<const Item*> items;
  std::vector<KindItem> variants;
  for (const Item& item : kind.items) {
    items.push_back(&item);
    variants.emplace_back(&kind, &item);
  }
  if (have_equal_options(items)) return variants_text(heading_of(kind), variants);
  std::string text;
  for (const Item& item : kind.items) text += (text.empty() ? "" : "\n") + item_text(kind, item);
  return text;
}

void add_named(const std::string& wanted, std::vector<Sense>& all) {
  for (const Kind& kind : catalogue()) {
    const bool all_of_kind = wanted == kind.name || wanted == kind.one;
    if (all_of_kind) all.push_back({.likely = Likely::kind, .text = kind_text(kind), .in_short = heading_of(kind)});
    for (const Item& item : kind.items)
      if (item.about.kind == wanted && (!all_of_kind || kind.one == "section"))
        all.push_back({Likely::name, item_text(kind, item), item_in_short(kind, item)});
  }
}

/// The options of a section of scenarios that has no item of its own.
void add_section(const std::string& wanted, std::vector<Sense>& all) {
  for (const Kind& kind : catalogue())
    for (const Item& item : kind.items) {
      if (!item.make) continue;
      std::string text;
      for (const scenario::OptionText& option : scenario::options(*item.make()))
        if (section_of(item, option.key) == wanted) text += option_text(option);
      if (text.empty()) continue;
      const std::string head = tr("{}: the section [{}] ({})", wanted, wanted, tr(where(kind, item)));
      all.push_back({Likely::name, head + "\n" + text, head});
    }
}

void add_fields(const std::string& wanted, std::vector<Sense>& all) {
  for (const ResultField& field : result_fields()) {
    if (field.name != wanted) continue;
    const std::string head =
        tr("{}: {}", wanted, tr(field.place)) + (field.unit.empty() ? "" : tr(", in {}", tr(field.unit)));
    all.push_back({Likely::field, fmt::format("{}\n      {}\n", head, tr(field.meaning)), head});
  }
}

void add_letters(const std::string& wanted, std::vector<Sense>& all) {
  for (const LetterMeaning& letter : meanings_of_letter(wanted)) {
    const std::string head = letter.kinds.empty() ? tr("{}: in the cost lines", wanted)
                                                  : tr("{}: in the cost lines of {}", wanted, letter.kinds);
    all.push_back({Likely::letter, fmt::format("{}\n      {}\n", head, tr(letter.meaning)), head});
  }
}

void add_all(std::vector<Sense> more, std::vector<Sense>& all) {
  for (Sense& each : more) all.push_back(std::move(each));
}

}  // namespace

std::vector<Sense> senses(const std::string& wanted) {
  std::vector<Sense> all;
  add_named(wanted, all);
  const bool is_name = !all.empty();
  add_all(options_called(wanted), all);
  if (all.empty()) add_section(wanted, all);
  add_all(options_with_value(wanted, !is_name), all);
  add_fields(wanted, all);
  add_letters(wanted, all);
  if (wanted == metrics_name)
    all.push_back({Likely::field, metrics_text(), tr("{}: the numbers of a run", metrics_name)});
  std::ranges::stable_sort(all, {}, &Sense::likely);
  return all;
}

std::string variants_text(const std::string& heading, const std::vector<KindItem>& variants) {
  std::string text = heading + "\n";
  std::vector<const Item*> items;
  for (const auto& [kind, item] : variants) {
    text += fmt::format("  {:<20} {}\n", item->about.kind, tr(item->about.summary));
    items.push_back(item);
  }
  const std::string options = common_options_text(items);
  return options.empty() ? text : text + tr("options") + "\n" + options;
}

}  // namespace simgrad::cli
