#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>
#include <string>
#include <vector>

#include "base/errors.h"
#include "cli/checking.h"
#include "cli/cli.h"
#include "cli/language.h"
#include "cli/scenarios.h"
#include "cli/selection.h"

namespace simgrad::cli {

namespace {

/// Refuses options that mean nothing without another, or contradict it.
void refuse_options(const BaselineOptions& options) {
  std::vector<std::string> faults;
  if (!options.baseline.empty() && !options.update.empty())
    faults.emplace_back("--baseline compares with a stored baseline and --update writes one; leave one of them out");
  if (options.exact && options.baseline.empty())
    faults.emplace_back("--exact says how runs are compared with a stored baseline; add --baseline FILE");
  if (options.force && options.update.empty())
    faults.emplace_back("--force lets --update replace exact values; add --update FILE");
  if (!faults.empty()) throw base::ScenarioError(faults);
}

Exit check_scenarios(const CheckOptions& options) {
  refuse_options(options.baseline);
  std::vector<std::string> kept_in;
  if (!options.out.empty()) kept_in.push_back("--out " + options.out);
  for (const std::string& file : {options.baseline.baseline, options.baseline.update})
    if (!file.empty()) kept_in.push_back(file);
  std::vector<ReadScenario> scenarios = read_scenarios(options.scenarios, options.selection);
  for (const std::string& place : kept_in) refuse_equal_names(scenarios, place, "check");
  Checking checking(options);
  if (const Exit exit = checking.start(scenarios); exit != Exit::ok) return exit;
  for (std::size_t i = 0; i < scenarios.size(); ++i)
    if (!checking.check(scenarios[i], i)) {
      checking.interrupt(scenarios, i);
      return Exit::interrupted;
    }
  return checking.end();
}

}  // namespace

void add_check(CLI::App& app, int& exit_code) {
  auto* command = app.add_subcommand("check", "Runs scenarios and tests their [[expect]] entries");
  auto options = std::make_shared<CheckOptions>();
  command->add_option("scenario", options->scenarios, "The scenarios, TOML files")->required();
  command->add_option("--set", options->selection.sets, "Sets any key, in all of them (repeatable)")
      ->take_all()
      ->allow_extra_args(false)
      ->type_name("KEY=VALUE");
  command
      ->add_option("--seeds", options->selection.seeds,
                   "Seeds: 1..5, or 1,3,7; expectations are about the mean over seeds")
      ->type_name("A..B");
  command->add_option("--out", options->out, "Keeps the results, in DIR/<scenario's name> (default: nowhere)")
      ->type_name("DIR");
  command->add_option("--baseline", options->baseline.baseline, "Compares the runs with those stored in the file")
      ->type_name("FILE");
  command->add_flag("--exact", options->baseline.exact,
                    "With --baseline: fails unless all values are the same bits, whatever the tolerances");
  command->add_option("--update", options->baseline.update, "Stores the runs' metrics in the file, for --baseline")
      ->type_name("FILE");
  command->add_flag("--force", options->baseline.force,
                    "With --update: also replaces values that differ for no new results_number");
  command->add_flag("--no-vacuous", options->no_vacuous, "Fails on expectations that could not have failed");
  command->add_option("--junit", options->report.junit, "Writes the findings as JUnit XML")->type_name("FILE");
  command->add_flag("--tap", options->report.tap, "Prints the findings as TAP 13 and nothing else");
  add_pace(*command, options->jobs, options->threads);
  command->add_flag("--quiet", options->report.quiet, "Prints failures only, and no progress");
  add_language(*command);
  command->callback([options, &exit_code] { exit_code = check_scenarios(*options); });
}

}  // namespace simgrad::cli
