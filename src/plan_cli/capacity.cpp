#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>

#include "base/errors.h"
#include "base/say.h"
#include "capacity/check.h"
#include "capacity/study.h"
#include "capacity/tables.h"
#include "capacity/unread.h"
#include "cli/language.h"
#include "experiment/plan/capacity_of_plan.h"
#include "experiment/plan/plan.h"
#include "experiment/plan/seeds.h"
#include "experiment/run/runner.h"
#include "outputs/text/language.h"
#include "plan_cli/plan_cli.h"

namespace simgrad::plan_cli {

namespace {

struct CapacityOptions {
  std::string scenario;
  std::string seeds;
  experiment::Selection selection;
  std::string out;
  int jobs = 0;
  int threads = -1;
  bool json = false;
  bool quiet = false;
};

/// Refuses a scenario without the section, or with several trainings to choose from.
const experiment::RunPlan& only_run(const experiment::Plan& plan) {
  if (!plan.runs.front().settings->capacity.any())
    throw base::ScenarioError(fmt::format("{}: there is no fleet; expected [capacity] with hosts",
                                          plan.document->position("capacity").text()));
  if (!experiment::has_work(plan.runs.front().settings->capacity))
    throw base::ScenarioError(
        fmt::format("{}: the section is that of a plan, and has no jobs; expected [[capacity.job]], "
                    "[[capacity.arrivals]], or [capacity.training] with hosts",
                    plan.document->position("capacity").text()));
  if (plan.runs.size() != 1) {
    capacity::check(plan);  // a fault that no choice of a run mends comes first
    throw capacity::several_trainings(plan);
  }
  return plan.runs.front();
}

void estimate_capacity(CapacityOptions& options) {
  options.selection.baselines = false;
  const experiment::Plan plan = experiment::make_plan(options.scenario, options.selection);
  const experiment::RunPlan& run = only_run(plan);
  const std::vector<std::uint64_t> seeds =
      options.seeds.empty() ? std::vector<std::uint64_t>{run.seed} : experiment::parse_seeds(options.seeds);
  const capacity::Study study = capacity::study(plan, seeds, options.jobs, options.threads);
  if (!options.quiet)
    for (const std::string& line : capacity::unread_keys(plan)) base::say(line);
  if (!options.out.empty()) capacity::write_files(study, options.out);
  if (options.json)
    fmt::print("{}\n", capacity::json(study).dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace));
  else if (!options.quiet)
    fmt::print("{}", capacity::text(study));
  if (options.out.empty() || options.json || options.quiet) return;
  std::string files;
  for (const outputs::ResultTable& table : capacity::tables(study)) files += fmt::format(", {}.csv", table.name);
  fmt::print("\n{}\n", outputs::tr("Results: {}/capacity.json{}", base::printable(options.out), files));
}

}  // namespace

void add_capacity(CLI::App& app, int& exit_code) {
  auto* command = app.add_subcommand("capacity", cli::capacity_summary);
  auto options = std::make_shared<CapacityOptions>();
  command->add_option("scenario", options->scenario, "The scenario, a TOML file with [capacity]")->required();
  command->add_option("--set", options->selection.sets, "Sets any key: --set capacity.hosts=128 (repeatable)")
      ->take_all()
      ->allow_extra_args(false)
      ->type_name("KEY=VALUE");
  command
      ->add_option("--strategy", options->selection.strategies,
                   "The strategy of the jobs' training, by label, else by kind")
      ->take_all()
      ->allow_extra_args(false)
      ->type_name("LABEL");
  command
      ->add_option("--seeds", options->seeds,
                   "Seeds of failures and arrivals: 1..50, or 1,3,7 (default: the scenario's seed)")
      ->type_name("A..B");
  command->add_option("--out", options->out, "Writes capacity.json and CSV files into this directory")
      ->type_name("DIR");
  command->add_option("--jobs", options->jobs, "Simulations of steps at a time (default: all cores)")
      ->check(CLI::Range(1, 4096))
      ->type_name("N");
  command
      ->add_option("--threads", options->threads, "Threads of each such simulation (default: cores / jobs; 0: inline)")
      ->check(CLI::Range(0, 1024))
      ->type_name("N");
  command->add_flag("--json", options->json, "Prints the results as JSON instead of tables");
  command->add_flag("--quiet", options->quiet, "Prints no tables");
  cli::add_language(*command);
  command->callback([options, &exit_code] {
    estimate_capacity(*options);
    exit_code = cli::Exit::ok;
  });
}

}  // namespace simgrad::plan_cli
