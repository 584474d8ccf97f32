#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstddef>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/errors.h"
#include "base/text.h"
#include "cli/catalogue.h"
#include "cli/cli.h"
#include "cli/explain_balance.h"
#include "cli/explain_layers.h"
#include "cli/explain_layouts.h"
#include "cli/explain_metrics.h"
#include "cli/explain_network.h"
#include "cli/explain_origins.h"
#include "cli/explain_senses.h"
#include "cli/language.h"
#include "cli/result_fields.h"
#include "experiment/plan/plan.h"
#include "outputs/text/language.h"
#include "outputs/text/text_layout.h"
#include "scenario/aliases.h"
#include "scenario/document.h"

namespace simgrad::cli {

namespace {

using outputs::tr;

/// An answer of more lines than a screen says its likeliest part again at its end.
constexpr std::ptrdiff_t screen_lines = 24;
constexpr std::size_t screen_columns = 118;

/// Everything that a name can mean, with an empty line between two explanations.
class Explanation {
 public:
  /// Adds all that is called so. Returns whether there is something.
  bool of(const std::string& wanted) {
    const std::vector<Sense> found = senses(wanted);
    for (const Sense& sense : found) add(sense.text, sense.in_short);
    return !found.empty();
  }

  void add(const std::string& text, const std::string& in_short) {
    if (parts_++ == 0)
      first_ = in_short;
    else
      text_ += '\n';
    text_ += text;
  }

  const std::string& text() const { return text_; }

  /// An empty line and the first part again; nothing where the answer has no other part, or fits on a screen.
  /// below: the lines that are printed below it.
  std::string closing(std::ptrdiff_t below) const {
    if (parts_ < 2 || std::ranges::count(text_, '\n') + below <= screen_lines) return {};
    return '\n' + outputs::cut(tr("first above: {}", first_), screen_columns) + '\n';
  }

 private:
  std::string text_;
  std::string first_;
  int parts_ = 0;
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
  if (wanted == layouts_name) return print_layouts(scenario, sets);
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
  if (scenario.empty()) return print_message_times({}, tr("the default cluster"));
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
    std::string line = tr("{}: see {}; {}", wanted, alias.name, tr(alias.meaning));
    if (!alias.options.empty()) line = tr("{}: {}", line, alias.options);
    explanation.add(line + "\n", line);
    explained.push_back(alias.name);
    any = true;
  }
  for (const std::string_view name : explained) explanation.of(std::string(name));
  return any;
}

/// Names the columns of results that begin with the word, as wait_s does with "wait"; empty without one.
std::string columns_text(const std::string& wanted) {
  constexpr std::size_t most = 6;
  std::vector<std::string> names;
  for (const ResultField& field : result_fields())
    if (std::string name(field.name); name.starts_with(wanted + "_") && std::ranges::count(names, name) == 0)
      names.push_back(std::move(name));
  return names.empty() ? "" : tr("columns of results: {}", outputs::listed(names, most)) + "\n";
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

/// The components of that name, or nothing if it is another name as well.
std::vector<KindItem> components_called(const std::string& name) {
  std::vector<KindItem> all;
  for (const Kind& kind : catalogue())
    for (const Item& item : kind.items)
      if (item.about.kind == name) all.emplace_back(&kind, &item);
  return all;
}

/// Explains names that begin alike: components of one kind together; of others the error has a line for each.
void explain_beginning(const std::string& wanted, const std::vector<std::string>& names, Explanation& explanation) {
  std::vector<KindItem> variants;
  std::vector<std::string> lines{
      fmt::format("explain: \"{}\" begins several names: {}; explain one of them", wanted, base::joined(names))};
  bool alike = true;
  for (const std::string& name : names) {
    const std::vector<KindItem> called = components_called(name);
    alike = alike && called.size() == 1 && (variants.empty() || variants.front().first == called.front().first);
    if (!called.empty()) variants.push_back(called.front());
    const std::vector<Sense> meanings = senses(name);
    if (!meanings.empty()) lines.push_back(outputs::cut("  " + meanings.front().in_short, screen_columns));
  }
  if (!alike) throw base::ScenarioError(lines);
  const Kind& kind = *variants.front().first;
  const std::string heading =
      tr("{}: {} {} ({}) have names that begin so", wanted, names.size(), kind.name, tr(kind.where));
  explanation.add(variants_text(heading, variants), heading);
}

void explain(const std::string& wanted, Explanation& explanation) {
  bool found = explanation.of(wanted);
  if (!found && scenario::alias_text(wanted) != wanted) found = explanation.of(scenario::alias_text(wanted));
  if (explain_alias(wanted, explanation) || found) {
    if (const std::string columns = columns_text(wanted); !columns.empty()) explanation.add(columns, columns);
    return;
  }
  // Accepts a section's full name: cluster.failures.
  if (const auto dot = wanted.rfind('.'); dot != std::string::npos && is_section(wanted.substr(dot + 1)))
    return explain(wanted.substr(dot + 1), explanation);
  const std::vector<std::string> known = known_names();
  std::vector<std::string> longer;
  for (const std::string& name : known)
    if (wanted.size() > 1 && name.starts_with(scenario::alias_text(wanted)) && name.find('.') == std::string::npos)
      longer.push_back(name);
  if (longer.empty()) refuse_name(wanted, known);
  constexpr std::size_t most = 12;
  if (longer.size() > most) longer.resize(most);
  if (longer.size() > 1) return explain_beginning(wanted, longer, explanation);
  explanation.of(longer.front());
}

}  // namespace

void add_explain(CLI::App& app, int& exit_code) {
  auto* command = app.add_subcommand("explain",
                                     "Explains a name: a component's options (unit, default, range), cost and source; "
                                     "an option or one of its values; a "
                                     "field of results");
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
  add_language(*command);
  command->callback([wanted, scenario, sets, &exit_code] {
    if (*wanted == layers_name && scenario->empty())
      throw base::ScenarioError("explain layers: shows the layers of a scenario's model; name the scenario");
    if (*wanted == layouts_name && scenario->empty())
      throw base::ScenarioError("explain layouts: shows ways to cut a scenario's model; name the scenario");
    if (*wanted == origins_name && scenario->empty())
      throw base::ScenarioError("explain origins: shows the origins of a scenario's numbers; name the scenario");
    const bool of_scenario = *wanted == layers_name || *wanted == layouts_name || *wanted == origins_name ||
                             (*wanted == balance_name && !scenario->empty());
    Explanation explanation;
    if (!of_scenario) explain(*wanted, explanation);
    fmt::print("{}", explanation.text());
    explain_on(*wanted, *scenario, *sets);
    fmt::print("{}", explanation.closing(wanted->starts_with("network_model") ? screen_lines : 0));
    exit_code = Exit::ok;
  });
}

}  // namespace simgrad::cli
