#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdint>
#include <limits>
#include <memory>
#include <nlohmann/json.hpp>

#include "base/say.h"
#include "cli/cli.h"
#include "cli/selection.h"
#include "experiment/run/runner.h"
#include "scenario/document.h"

namespace simgrad::cli {

void add_validate(CLI::App& app, int& exit_code) {
  auto* command =
      app.add_subcommand("validate", "Checks a scenario and prints it resolved, with its runs, without simulating");
  auto chosen = std::make_shared<Chosen>();
  add_selection(*command, *chosen);
  auto all_data = std::make_shared<bool>(false);
  command->add_flag("--data", *all_data, "Reads data files of any size; without it files of at most 64 MiB");
  command->callback([chosen, all_data, &exit_code] {
    const experiment::Plan plan = plan_of(*chosen);
    constexpr std::uintmax_t small_bytes = 64 << 20;
    experiment::check_files(plan, *all_data ? std::numeric_limits<std::uintmax_t>::max() : small_bytes,
                            [](const std::string& note) { base::say("simgrad: " + note); });
    print_warnings(plan);
    fmt::print("{}\n# {} run{}, {} baseline{}\n", scenario::toml(plan.scenario), plan.runs.size(),
               plan.runs.size() == 1 ? "" : "s", plan.baselines.size(), plan.baselines.size() == 1 ? "" : "s");
    for (std::string rest = runs_text(plan); !rest.empty();) {
      const auto end = rest.find('\n') + 1;
      fmt::print("# {}", rest.substr(0, end));
      rest.erase(0, end);
    }
    exit_code = Exit::ok;
  });
}

}  // namespace simgrad::cli
