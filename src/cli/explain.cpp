#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>

#include "base/errors.h"
#include "base/text.h"
#include "cli/catalogue.h"
#include "cli/cli.h"
#include "cli/explain_network.h"
#include "experiment/plan/plan.h"
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
  if (!item.about.source.empty()) fmt::print("  source: {}\n", item.about.source);
  if (item.make) print_options(*item.make());
}

/// Explains every option of that name, and says to what it belongs. Adds the names of all options to the known ones.
bool explain_option(const std::string& wanted, std::vector<std::string>& known) {
  bool found = false;
  for (const Kind& kind : catalogue())
    for (const Item& item : kind.items) {
      if (!item.make) continue;
      for (const scenario::OptionText& option : scenario::options(*item.make())) {
        known.push_back(option.key);
        if (option.key != wanted) continue;
        fmt::print("{}{}: an option of {} ({})\n", found ? "\n" : "", wanted, item.about.kind, where(kind, item));
        print(option);
        found = true;
      }
    }
  return found;
}

/// Prints the message times of network_model on a scenario's cluster, or without a scenario on the default one.
void explain_on(const std::string& wanted, const std::string& scenario, const std::vector<std::string>& sets) {
  if (wanted != "network_model" && wanted != "network_models") {
    if (!scenario.empty() || !sets.empty())
      throw base::ScenarioError(fmt::format("explain {}: takes no scenario; explain network_model does", wanted));
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

void explain(const std::string& wanted) {
  std::vector<std::string> known;
  bool found = false;
  for (const Kind& kind : catalogue()) {
    // Explains all of a kind, as in `explain network_model` and `explain network_models`.
    const bool all = wanted == kind.name || wanted == kind.one;
    known.push_back(kind.name);
    for (const Item& item : kind.items) {
      known.emplace_back(item.about.kind);
      if (!all && item.about.kind != wanted) continue;
      if (found) fmt::print("\n");
      print(kind, item);
      found = true;
    }
  }
  if (found || explain_option(wanted, known)) return;
  // Accepts a section's full name: cluster.failures.
  if (const auto dot = wanted.rfind('.'); dot != std::string::npos && is_section(wanted.substr(dot + 1)))
    return explain(wanted.substr(dot + 1));
  std::vector<std::string> once;
  for (const std::string& name : known)
    if (std::ranges::find(once, name) == once.end()) once.push_back(name);
  throw base::ScenarioError(fmt::format("explain: unknown name \"{}\"{}", wanted, base::suggestion(wanted, once)));
}

}  // namespace

void add_explain(CLI::App& app, int& exit_code) {
  auto* command = app.add_subcommand("explain", "Explains the options of one name: unit, default, range, cost, source");
  auto wanted = std::make_shared<std::string>();
  command->add_option("name", *wanted, "A strategy, model, section, ...: any name that `list` shows; or an option")
      ->required();
  auto scenario = std::make_shared<std::string>();
  command->add_option("scenario", *scenario,
                      "For network_model: the scenario on whose links messages are timed; default a star");
  auto sets = std::make_shared<std::vector<std::string>>();
  command->add_option("--set", *sets, "Sets any key of that scenario: --set cluster.bandwidth=10Gbps (repeatable)")
      ->take_all()
      ->allow_extra_args(false)
      ->type_name("KEY=VALUE");
  command->callback([wanted, scenario, sets, &exit_code] {
    explain(*wanted);
    explain_on(*wanted, *scenario, *sets);
    exit_code = Exit::ok;
  });
}

}  // namespace simgrad::cli
