#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdint>
#include <limits>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "base/say.h"
#include "cli/cli.h"
#include "cli/scenarios.h"
#include "cli/selection.h"
#include "experiment/run/runner.h"
#include "scenario/document.h"

namespace simgrad::cli {

namespace {

void validate(const experiment::Plan& plan, bool all_data) {
  experiment::check_files(plan, all_data ? std::numeric_limits<std::uintmax_t>::max() : readable_bytes,
                          [](const std::string& note) { base::say("simgrad: " + note); });
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

}  // namespace

void add_validate(CLI::App& app, int& exit_code) {
  auto* command =
      app.add_subcommand("validate", "Checks a scenario and prints it resolved, with its runs, without simulating");
  auto chosen = std::make_shared<Chosen>();
  auto scenarios = std::make_shared<std::vector<std::string>>();
  add_selection(*command, *chosen, scenarios.get());
  auto all_data = std::make_shared<bool>(false);
  command->add_flag("--data", *all_data, "Reads data files of any size; without it files of at most 64 MiB");
  command->callback([chosen, scenarios, all_data, &exit_code] {
    if (scenarios->size() == 1) {
      chosen->scenario = scenarios->front();
      validate(plan_of(*chosen), *all_data);
      return;
    }
    Exit exit = Exit::ok;
    const std::vector<experiment::Plan> plans = plans_of(*chosen, *scenarios, exit);
    for (std::size_t i = 0; i < plans.size(); ++i) {
      fmt::print("{}# {}\n", i == 0 ? "" : "\n", base::printable((*scenarios)[i]));
      exit = worst(exit, told([&] {
                     validate(plans[i], *all_data);
                     return Exit::ok;
                   }));
    }
    exit_code = exit;
  });
}

}  // namespace simgrad::cli
