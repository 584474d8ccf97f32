#include "experiment/calibration/calibrate.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cmath>

#include "base/errors.h"
#include "base/units.h"
#include "cli/calibrate_network.h"
#include "cli/cli.h"
#include "cli/selection.h"

namespace simgrad::cli {

namespace {

/// Three digits: further digits would differ the next time.
std::string speed(double flops_per_s) {
  const double digit = std::pow(10.0, std::floor(std::log10(flops_per_s)) - 2.0);
  return base::format_quantity(std::round(flops_per_s / digit) * digit, base::Unit::flops_per_second);
}

std::string text_of(const experiment::Calibration& found) {
  return fmt::format(
      "# This machine, one thread: {}, gradients of {} rows of {} features, {:.4g} flop each.\n"
      "# {} gradients: a tenth of them slower than {}, a tenth faster than {}.\n"
      "[cluster]\n"
      "speed = \"{}\"\n",
      found.model, found.rows, found.features, found.flops, found.gradients, speed(found.slow_flops_per_s),
      speed(found.fast_flops_per_s), speed(found.median_flops_per_s));
}

}  // namespace

void add_calibrate(CLI::App& app, int& exit_code) {
  auto* command = app.add_subcommand("calibrate",
                                     "Times a worker's gradients of the scenario on this machine, or fits a network to "
                                     "measured transfers; prints TOML to paste");
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
  command->callback([chosen, real_s, network, bandwidth, &exit_code] {
    if (!network->empty()) {
      calibrate_network(*network, *bandwidth);
      exit_code = Exit::ok;
      return;
    }
    if (chosen->scenario.empty())
      throw base::ScenarioError("calibrate: give a scenario, whose gradients are timed, or --network FILE.csv");
    chosen->selection.baselines = false;
    const experiment::Plan plan = experiment::make_plan(chosen->scenario, chosen->selection);
    fmt::print("{}", text_of(experiment::calibrate(plan.runs.front(), *real_s)));
    exit_code = Exit::ok;
  });
}

}  // namespace simgrad::cli
