#include "experiment/calibration/calibrate.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cmath>

#include "base/errors.h"
#include "base/units.h"
#include "cli/calibrate_network.h"
#include "cli/calibrate_runs.h"
#include "cli/cli.h"
#include "cli/language.h"
#include "cli/selection.h"
#include "outputs/text/language.h"

namespace simgrad::cli {

namespace {

using outputs::tr;

/// Three digits: further digits would differ the next time.
std::string speed(double flops_per_s) {
  const double digit = std::pow(10.0, std::floor(std::log10(flops_per_s)) - 2.0);
  return base::format_quantity(std::round(flops_per_s / digit) * digit, base::Unit::flops_per_second);
}

std::string text_of(const experiment::Calibration& found) {
  return fmt::format("# {}\n# {}\n[cluster]\nspeed = \"{}\"\n",
                     tr("This machine, one thread: {}, gradients of {} rows of {} features, {:.4g} flop each.",
                        found.model, found.rows, found.features, found.flops),
                     tr("{} gradients: a tenth of them slower than {}, a tenth faster than {}.", found.gradients,
                        speed(found.slow_flops_per_s), speed(found.fast_flops_per_s)),
                     speed(found.median_flops_per_s));
}

/// The options of --runs.
void add_runs(CLI::App& command, CalibrateRuns& runs, CLI::Option* network) {
  CLI::Option* measured = command
                              .add_option("--runs", runs.file,
                                          "Fits options of the scenario to this CSV file of measured steps: step_s, "
                                          "[family,] and options, such as cluster.workers")
                              ->excludes(network)
                              ->type_name("FILE.csv");
  command.add_option("--fit", runs.fit, "With --runs: an option whose value is fitted, such as cluster.bandwidth")
      ->needs(measured)
      ->type_name("KEY")
      ->expected(1)
      ->allow_extra_args(false)
      ->take_all();
  command.add_option("--column", runs.columns, "With --runs: a column that has the values of an option")
      ->needs(measured)
      ->type_name("NAME=KEY")
      ->expected(1)
      ->allow_extra_args(false)
      ->take_all();
  command
      .add_option("--folds", runs.folds,
                  "With --runs: the number of parts of the rows, each of which is predicted by a fit to the others "
                  "(cross-validation); 0: none")
      ->needs(measured)
      ->check(CLI::Range(0, 100));
  command
      .add_option("--tolerance", runs.tolerance,
                  "With --runs: from this error on a row counts by the error's size instead of its square (Huber's "
                  "loss), so that rows that no option explains have less influence (default: squares alone)")
      ->needs(measured)
      ->default_str("")
      ->check(CLI::Range(0.001, 1.0));
  command.add_option("--jobs", runs.jobs, "With --runs: simulations at a time (default: all cores)")
      ->needs(measured)
      ->check(CLI::Range(1, 4096));
}

}  // namespace

void add_calibrate(CLI::App& app, int& exit_code) {
  auto* command = app.add_subcommand("calibrate",
                                     "Times a worker's gradients of the scenario on this machine, or fits a network to "
                                     "measured transfers, or options to measured steps; prints TOML to paste");
  auto chosen = std::make_shared<Chosen>();
  auto real_s = std::make_shared<double>(2.0);
  add_selection(*command, *chosen);
  CLI::Option* scenario = command->get_option("scenario")->required(false);
  command->add_option("--seconds", *real_s, "Seconds of measuring")->check(CLI::Range(0.01, 3600.0));
  auto network = std::make_shared<std::string>();
  auto bandwidth = std::make_shared<std::string>();
  CLI::Option* file =
      command
          ->add_option(
              "--network", *network,
              "Fits latency, efficiency and flow limit to this CSV file: bytes, seconds[, collective, workers]")
          ->excludes(scenario)
          ->type_name("FILE.csv");
  command->add_option("--bandwidth", *bandwidth, "With --network: a link's bandwidth by its data sheet, as in 10Gbps")
      ->needs(file);
  auto protocol = std::make_shared<bool>(false);
  command
      ->add_flag("--protocol", *protocol,
                 "With --network: also fits cluster.protocol, a table of factors by the size of messages")
      ->needs(file);
  auto runs = std::make_shared<CalibrateRuns>();
  add_runs(*command, *runs, file);
  add_language(*command);
  command->callback([chosen, real_s, network, bandwidth, protocol, runs, &exit_code] {
    if (!network->empty()) {
      calibrate_network(*network, *bandwidth, *protocol);
      exit_code = Exit::ok;
      return;
    }
    if (chosen->scenario.empty())
      throw base::ScenarioError("calibrate: give a scenario, whose gradients are timed, or --network FILE.csv");
    chosen->selection.baselines = false;
    const experiment::Plan plan = experiment::make_plan(chosen->scenario, chosen->selection);
    if (!runs->file.empty()) {
      calibrate_runs(plan, *runs);
      exit_code = Exit::ok;
      return;
    }
    fmt::print("{}", text_of(experiment::calibrate(plan.runs.front(), *real_s)));
    exit_code = Exit::ok;
  });
}

}  // namespace simgrad::cli
