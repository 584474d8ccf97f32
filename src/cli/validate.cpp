#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdint>
#include <limits>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "base/errors.h"
#include "base/say.h"
#include "cli/cli.h"
#include "cli/scenarios.h"
#include "cli/selection.h"
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

void validate(const Chosen& chosen, const experiment::Plan& plan, std::uintmax_t most_bytes,
              const FurtherChecks& further) {
  further.check(chosen, plan, most_bytes);
  experiment::check_files(plan, most_bytes, [](const std::string& note) { base::say("simgrad: " + note); });
  print_warnings(plan);
  fmt::print("{}\n# {} run{}, {} baseline{}\n", scenario::toml(plan.scenario), plan.runs.size(),
             plan.runs.size() == 1 ? "" : "s", plan.baselines.size(), plan.baselines.size() == 1 ? "" : "s");
  const std::string runs = runs_text(plan);
  for (std::size_t from = 0; from < runs.size();) {
    const std::size_t end = runs.find('\n', from) + 1;
    fmt::print("# {}", std::string_view(runs).substr(from, end - from));
    from = end;
  }
}

void validate_one(Chosen& chosen, std::uintmax_t most_bytes, const FurtherChecks& further) {
  std::vector<experiment::Plan> plans;
  try {
    plans.push_back(plan_of(chosen));
  } catch (const base::ScenarioError& fault) {
    throw further.explained(chosen, fault, most_bytes);
  }
  further.prepare(plans);
  validate(chosen, plans.front(), most_bytes, further);
}

Exit validate_each(const Chosen& chosen, const std::vector<std::string>& scenarios, std::uintmax_t most_bytes,
                   const FurtherChecks& further) {
  Exit exit = Exit::ok;
  const std::vector<experiment::Plan> plans = plans_of(chosen, scenarios, exit);
  further.prepare(plans);
  for (std::size_t i = 0; i < plans.size(); ++i) {
    Chosen one = chosen;
    one.scenario = scenarios[i];
    fmt::print("{}# {}\n", i == 0 ? "" : "\n", base::printable(scenarios[i]));
    exit = worst(exit, told([&] {
                   validate(one, plans[i], most_bytes, further);
                   return Exit::ok;
                 }));
  }
  return exit;
}

}  // namespace

void add_validate(CLI::App& app, int& exit_code, const PlanCommands& plan_commands, char** argv) {
  auto* command =
      app.add_subcommand("validate", "Checks a scenario and prints it resolved, with its runs, without simulating");
  auto chosen = std::make_shared<Chosen>();
  auto scenarios = std::make_shared<std::vector<std::string>>();
  add_selection(*command, *chosen, scenarios.get());
  auto all_data = std::make_shared<bool>(false);
  command->add_flag("--data", *all_data, "Reads data files of any size; without it files of at most 64 MiB");
  command->callback([chosen, scenarios, all_data, further = FurtherChecks(plan_commands, argv), &exit_code] {
    const std::uintmax_t most_bytes = *all_data ? std::numeric_limits<std::uintmax_t>::max() : readable_bytes;
    if (scenarios->size() > 1) {
      exit_code = validate_each(*chosen, *scenarios, most_bytes, further);
      return;
    }
    chosen->scenario = scenarios->front();
    validate_one(*chosen, most_bytes, further);
  });
}

}  // namespace simgrad::cli
