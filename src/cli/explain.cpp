#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/errors.h"
#include "base/text.h"
#include "cli/catalogue.h"
#include "cli/cli.h"
#include "cli/cost_letters.h"
#include "cli/explain_balance.h"
#include "cli/explain_layers.h"
#include "cli/explain_layouts.h"
#include "cli/explain_metrics.h"
#include "cli/explain_network.h"
#include "cli/explain_origins.h"
#include "cli/result_fields.h"
#include "experiment/plan/plan.h"
#include "scenario/aliases.h"
#include "scenario/document.h"

namespace simgrad::cli {

namespace {

void print(const scenario::OptionText& option) {
  fmt::print("  {} ({}{}{}{})\n      {}\n", option.key, option.type, option.range.empty() ? "" : ", ", option.range,
             option.fallback.empty() ? "" : ", default " + option.fallback, option.meaning);
  for (const auto& [name, meaning] : option.choices) fmt::print("        {}: {}\n", name, meaning);
}

void print_options(base::Described& component) {
  const auto options = scenario::options(component);
  if (options.empty()) fmt::print("  no options\n");
  for (const scenario::OptionText& option : options) print(option);
}

const std::string& where(const Kind& kind, const Item& item) { return item.where.empty() ? kind.where : item.where; }

void print(const Kind& kind, const Item& item) {
  fmt::print("{} ({})\n  {}\n", item.about.kind, where(kind, item), item.about.summary);
  if (!item.about.cost.empty()) fmt::print("  cost: {}\n", item.about.cost);
  if (const std::string letters = cost_letters(kind.name, item.about.cost); !letters.empty())
    fmt::print("  letters: {}\n", letters);
  if (!item.about.source.empty()) fmt::print("  source: {}\n", item.about.source);
  if (!item.make) return;
  const auto example = item.make();
  if (const std::string text = totals_text(*example); !text.empty()) fmt::print("  by default: {}\n", text);
  print_options(*example);
}

/// The section of a scenario that the key stands in; empty for a key of another item.
std::string section_of(const Item& item, const std::string& key) {
  const auto dot = key.find('.');
  return item.about.kind == "scenario" && dot != std::string::npos ? key.substr(0, dot) : "";
}

/// Everything that a name can mean. Explanations are printed with an empty line between two.
class Explanation {
 public:
  /// Explains all that is called so. Returns whether there is something.
  bool of(const std::string& wanted) {
    const bool before = found_;
    found_ = false;
    names_and_options(wanted);
    if (!found_) section(wanted);
    fields(wanted);
    letters(wanted);
    if (wanted == metrics_name) begin(), print_metrics();
    const bool any = found_;
    found_ = found_ || before;
    return any;
  }

  /// An empty line, but for the first call.
  void begin() {
    if (printed_) fmt::print("\n");
    printed_ = true;
    found_ = true;
  }

 private:
  void names_and_options(const std::string& wanted) {
    for (const Kind& kind : catalogue()) {
      // Explains all of a kind, as in `explain network_model` and `explain network_models`.
      const bool all = wanted == kind.name || wanted == kind.one;
      for (const Item& item : kind.items)
        if (all || item.about.kind == wanted) {
          begin();
          print(kind, item);
        }
    }
    for (const Kind& kind : catalogue())
      for (const Item& item : kind.items) {
        if (!item.make) continue;
        for (const scenario::OptionText& option : scenario::options(*item.make())) {
          if (option.key != wanted) continue;
          begin();
          const std::string section = section_of(item, option.key);
          fmt::print("{}: an option of {} ({})\n", wanted, section.empty() ? item.about.kind : "[" + section + "]",
                     where(kind, item));
          print(option);
        }
      }
  }

  /// The options of a section of scenarios that has no item of its own.
  void section(const std::string& wanted) {
    for (const Kind& kind : catalogue())
      for (const Item& item : kind.items) {
        if (!item.make) continue;
        bool first = true;
        for (const scenario::OptionText& option : scenario::options(*item.make())) {
          if (section_of(item, option.key) != wanted) continue;
          if (first) {
            begin();
            fmt::print("{}: the section [{}] ({})\n", wanted, wanted, where(kind, item));
          }
          first = false;
          print(option);
        }
      }
  }

  void fields(const std::string& wanted) {
    for (const ResultField& field : result_fields()) {
      if (field.name != wanted) continue;
      begin();
      fmt::print("{}: {}{}\n      {}\n", wanted, field.place,
                 field.unit.empty() ? "" : fmt::format(", in {}", field.unit), field.meaning);
    }
  }

  void letters(const std::string& wanted) {
    for (const LetterMeaning& letter : meanings_of_letter(wanted)) {
      begin();
      fmt::print("{}: in the cost lines{}{}\n      {}\n", wanted, letter.kinds.empty() ? "" : " of ", letter.kinds,
                 letter.meaning);
    }
  }

  bool found_ = false;
  bool printed_ = false;
};

/// Every name that can be explained, aliases aside: kinds, items, options, fields of results; each once.
std::vector<std::string> known_names() {
  std::vector<std::string> known;
  std::set<std::string> seen;
  const auto add = [&](std::string_view name) {
    if (seen.emplace(name).second) known.emplace_back(name);
  };
  for (const Kind& kind : catalogue()) {
    add(kind.name);
    for (const Item& item : kind.items) add(item.about.kind);
  }
  for (const Kind& kind : catalogue())
    for (const Item& item : kind.items)
      if (item.make)
        for (const scenario::OptionText& option : scenario::options(*item.make())) add(option.key);
  for (const ResultField& field : result_fields()) add(field.name);
  add(metrics_name);
  add(layers_name);
  add(layouts_name);
  add(origins_name);
  return known;
}

/// Prints the message times of network_model on a scenario's cluster, or without a scenario on the default one; or the
/// layers of a scenario's model, or the numbers that its times rest on.
void explain_on(const std::string& wanted, const std::string& scenario, const std::vector<std::string>& sets) {
  if (wanted == layers_name) return print_layers(experiment::make_plan(scenario, {.sets = sets}).runs.front());
  if (wanted == layouts_name) return print_layouts(experiment::make_plan(scenario, {.sets = sets}).runs.front());
  if (wanted == balance_name && !scenario.empty())
    return print_balance(experiment::make_plan(scenario, {.sets = sets}).runs.front());
  if (wanted == origins_name) return print_origins(experiment::make_plan(scenario, {.sets = sets}).runs.front());
  if (wanted != "network_model" && wanted != "network_models") {
    if (!scenario.empty() || !sets.empty())
      throw base::ScenarioError(fmt::format(
          "explain {}: takes no scenario; explain network_model, layers, layouts, balance and origins do", wanted));
    return;
  }
  if (scenario.empty() && !sets.empty())
    throw base::ScenarioError("explain network_model: --set is for a scenario; name one");
  if (scenario.empty()) return print_message_times({}, "the default cluster");
  const experiment::Plan plan = experiment::make_plan(scenario, {.sets = sets});
  print_message_times(plan.runs.front().settings->cluster, scenario);
}

bool is_section(const std::string& name) {
  return std::ranges::any_of(catalogue(), [&](const Kind& kind) {
    return kind.one == "section" &&
           std::ranges::any_of(kind.items, [&](const Item& item) { return item.about.kind == name; });
  });
}

/// Explains the names that an alias stands for. Returns whether there is one.
bool explain_alias(const std::string& wanted, Explanation& explanation) {
  bool any = false;
  std::vector<std::string_view> explained;
  for (const scenario::Alias& alias : scenario::aliases()) {
    if (alias.alias != scenario::alias_text(wanted)) continue;
    explanation.begin();
    fmt::print("{}: see {}; {}{}{}\n", wanted, alias.name, alias.meaning, alias.options.empty() ? "" : ": ",
               alias.options);
    explained.push_back(alias.name);
    any = true;
  }
  for (const std::string_view name : explained) explanation.of(std::string(name));
  return any;
}

[[noreturn]] void refuse_name(const std::string& wanted, const std::vector<std::string>& known) {
  constexpr std::size_t most = 5;
  std::vector<std::string> names = known;
  for (const scenario::Alias& alias : scenario::aliases()) names.emplace_back(alias.alias);
  std::vector<std::string> meant;
  for (const std::string& name : base::nearest(wanted, names, most)) meant.push_back(fmt::format("\"{}\"", name));
  throw base::ScenarioError(
      fmt::format("explain: unknown name \"{}\"; {}`simgrad list` shows the components, `simgrad explain scenario` "
                  "the keys of a scenario",
                  wanted, meant.empty() ? "" : fmt::format("did you mean {}? ", base::joined(meant, " or "))));
}

void explain(const std::string& wanted) {
  Explanation explanation;
  bool found = explanation.of(wanted);
  if (!found && scenario::alias_text(wanted) != wanted) found = explanation.of(scenario::alias_text(wanted));
  if (explain_alias(wanted, explanation) || found) return;
  // Accepts a section's full name: cluster.failures.
  if (const auto dot = wanted.rfind('.'); dot != std::string::npos && is_section(wanted.substr(dot + 1)))
    return explain(wanted.substr(dot + 1));
  const std::vector<std::string> known = known_names();
  std::vector<std::string> longer;
  for (const std::string& name : known)
    if (wanted.size() > 1 && name.starts_with(scenario::alias_text(wanted)) && name.find('.') == std::string::npos)
      longer.push_back(name);
  if (longer.empty()) refuse_name(wanted, known);
  constexpr std::size_t most = 12;
  if (longer.size() > most) longer.resize(most);
  if (longer.size() > 1)
    throw base::ScenarioError(
        fmt::format("explain: \"{}\" begins several names: {}; explain one of them", wanted, base::joined(longer)));
  explanation.of(longer.front());
}

}  // namespace

void add_explain(CLI::App& app, int& exit_code) {
  auto* command = app.add_subcommand(
      "explain",
      "Explains a name: a component's options (unit, default, range), cost and source; an option; a field of results");
  auto wanted = std::make_shared<std::string>();
  command
      ->add_option("name", *wanted,
                   "A strategy, model, section, ...: any name that `list` shows; an option; a column of a result file")
      ->required();
  auto scenario = std::make_shared<std::string>();
  command->add_option(
      "scenario", *scenario,
      "For network_model: the scenario on whose links messages are timed; default a star. For layers, "
      "layouts, balance and origins: the scenario whose model, whose ways to be cut, whose shares, or whose speeds and "
      "work, are shown");
  auto sets = std::make_shared<std::vector<std::string>>();
  command->add_option("--set", *sets, "Sets any key of that scenario: --set cluster.bandwidth=10Gbps (repeatable)")
      ->take_all()
      ->allow_extra_args(false)
      ->type_name("KEY=VALUE");
  command->callback([wanted, scenario, sets, &exit_code] {
    if (*wanted == layers_name && scenario->empty())
      throw base::ScenarioError("explain layers: shows the layers of a scenario's model; name the scenario");
    if (*wanted == layouts_name && scenario->empty())
      throw base::ScenarioError("explain layouts: shows ways to cut a scenario's model; name the scenario");
    if (*wanted == origins_name && scenario->empty())
      throw base::ScenarioError("explain origins: shows the origins of a scenario's numbers; name the scenario");
    const bool of_scenario = *wanted == layers_name || *wanted == layouts_name || *wanted == origins_name ||
                             (*wanted == balance_name && !scenario->empty());
    if (!of_scenario) explain(*wanted);
    explain_on(*wanted, *scenario, *sets);
    exit_code = Exit::ok;
  });
}

}  // namespace simgrad::cli
