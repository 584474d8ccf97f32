#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdint>
#include <limits>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "base/errors.h"
#include "base/say.h"
#include "cli/brief.h"
#include "cli/cli.h"
#include "cli/language.h"
#include "cli/scenarios.h"
#include "cli/selection.h"
#include "experiment/run/estimate.h"
#include "experiment/run/runner.h"
#include "scenario/document.h"

namespace simgrad::cli {

namespace {

bool is_planned(const experiment::Plan& plan) { return plan.document->contains("plan") || !plan.space.empty(); }

bool has_fleet(const experiment::Plan& plan) { return plan.runs.front().settings->capacity.any(); }

/// Whether the file has a section [plan]; no, where it cannot be read.
bool is_planned(const std::string& file) {
  try {
    return scenario::Document::read(file).contains("plan");
  } catch (const std::exception&) {
    return false;
  }
}

/// The checks of `simgrad plan` and `simgrad capacity`, which this program may leave to the one that has them.
class FurtherChecks {
 public:
  FurtherChecks(const PlanCommands& commands, char** argv) : commands_(commands), argv_(argv) {}

  /// Hands everything over if one of the scenarios needs it, so call it before anything is printed.
  void prepare(const std::vector<experiment::Plan>& plans) const {
    for (const experiment::Plan& plan : plans)
      if (is_planned(plan) || has_fleet(plan)) prepare();
  }

  void check(const Chosen& chosen, const experiment::Plan& plan, std::uintmax_t most_bytes) const {
    if (is_planned(plan)) commands_.check_plan(chosen, most_bytes);
    if (has_fleet(plan)) commands_.check_capacity(plan);
  }

  /// Adds to the faults of a scenario that cannot be run as it is that it can be planned.
  base::ScenarioError explained(const Chosen& chosen, const base::ScenarioError& fault,
                                std::uintmax_t most_bytes) const {
    if (!is_planned(chosen.scenario)) return fault;
    prepare();
    try {
      commands_.check_plan(chosen, most_bytes);
    } catch (const base::ScenarioError&) {
      return fault;
    }
    std::vector<std::string> faults = fault.faults();
    faults.push_back(
        fmt::format("{}: `simgrad plan` takes this scenario all the same, with the values of [plan.space]; `simgrad "
                    "run` takes those that the other sections give",
                    chosen.scenario));
    return base::ScenarioError(faults);
  }

 private:
  void prepare() const {
    if (commands_.check_plan == nullptr) hand_over(argv_);
  }

  PlanCommands commands_;
  char** argv_;
};

/// The options of the command itself.
struct Asked {
  bool all_data = false;
  bool resolved = false;

  std::uintmax_t most_bytes() const { return all_data ? std::numeric_limits<std::uintmax_t>::max() : readable_bytes; }
};

/// The real time of the trials from which the time of the runs is estimated.
constexpr double tried_s = 0.5;

/// The resolved scenario, and the runs as comments below it: a scenario again.
std::string resolved_text(const experiment::Plan& plan) {
  std::string text =
      fmt::format("{}\n# {} run{}, {} baseline{}\n", scenario::toml(plan.scenario), plan.runs.size(),
                  plan.runs.size() == 1 ? "" : "s", plan.baselines.size(), plan.baselines.size() == 1 ? "" : "s");
  const std::string runs = runs_text(plan);
  for (std::size_t from = 0; from < runs.size();) {
    const std::size_t end = runs.find('\n', from) + 1;
    text += "# " + runs.substr(from, end - from);
    from = end;
  }
  return text;
}

/// Checks all that can be checked, and returns the answer.
std::string checked_text(const Chosen& chosen, const experiment::Plan& plan, const Asked& asked,
                         const FurtherChecks& further) {
  further.check(chosen, plan, asked.most_bytes());
  experiment::check_files(plan, asked.most_bytes(), [](const std::string& note) { base::say("simgrad: " + note); });
  print_warnings(plan);
  if (asked.resolved) return resolved_text(plan);
  flush_output();  // else the trials' processes would print the buffer again
  return brief(plan, experiment::estimate(plan, 0, -1, tried_s, "", true));
}

void validate_one(Chosen& chosen, const Asked& asked, const FurtherChecks& further) {
  std::vector<experiment::Plan> plans;
  try {
    plans.push_back(plan_of(chosen));
  } catch (const base::ScenarioError& fault) {
    throw further.explained(chosen, fault, asked.most_bytes());
  }
  further.prepare(plans);
  fmt::print("{}", checked_text(chosen, plans.front(), asked, further));
}

Exit validate_each(const Chosen& chosen, const std::vector<std::string>& scenarios, const Asked& asked,
                   const FurtherChecks& further) {
  Exit exit = Exit::ok;
  const std::vector<experiment::Plan> plans = plans_of(chosen, scenarios, exit);
  further.prepare(plans);
  for (std::size_t i = 0; i < plans.size(); ++i) {
    Chosen one = chosen;
    one.scenario = scenarios[i];
    fmt::print("{}{}{}\n", i == 0 ? "" : "\n", asked.resolved ? "# " : "", base::printable(scenarios[i]));
    exit = worst(exit, told([&] {
                   fmt::print("{}", checked_text(one, plans[i], asked, further));
                   return Exit::ok;
                 }));
  }
  return exit;
}

}  // namespace

void add_validate(CLI::App& app, int& exit_code, const PlanCommands& plan_commands, char** argv) {
  auto* command = app.add_subcommand(
      "validate", "Checks a scenario: whether it is sound, how long its runs take, what it sets, which runs it has");
  auto chosen = std::make_shared<Chosen>();
  auto scenarios = std::make_shared<std::vector<std::string>>();
  add_selection(*command, *chosen, scenarios.get());
  auto asked = std::make_shared<Asked>();
  command->add_flag("--data", asked->all_data, "Reads data files of any size; without it files of at most 64 MiB");
  command->add_flag("--resolved", asked->resolved,
                    "Prints the whole scenario with every default, as TOML, and its runs with their ids; tries none");
  add_language(*command);
  command->callback([chosen, scenarios, asked, further = FurtherChecks(plan_commands, argv), &exit_code] {
    if (scenarios->size() > 1) {
      exit_code = validate_each(*chosen, *scenarios, *asked, further);
      return;
    }
    chosen->scenario = scenarios->front();
    validate_one(*chosen, *asked, further);
  });
}

}  // namespace simgrad::cli
