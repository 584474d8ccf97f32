#include "cli/run_options.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <optional>
#include <stdexcept>

#include "base/errors.h"
#include "base/units.h"
#include "cli/language.h"

namespace simgrad::cli {

namespace {

/// The quantity that an option gives, if it does.  Errors: ScenarioError.
std::optional<double> quantity_of(const char* option, const std::string& text, base::Unit unit) {
  if (text.empty()) return {};
  try {
    const double value = base::parse_quantity(text, unit);
    if (value > 0.0) return value;
    throw std::invalid_argument(fmt::format("{} ends every run at once; expected more than 0", text));
  } catch (const std::invalid_argument& fault) {
    throw base::ScenarioError(fmt::format("{} {}: {}", option, text, fault.what()));
  }
}

/// Options on the directory, and on the way in which runs are done. Returns --force.
CLI::Option* add_execution(CLI::App& command, RunOptions& options) {
  command
      .add_option(
          "--out", options.out,
          "The directory of the results (default out/<scenario's name>); of several scenarios DIR/<scenario's name>")
      ->type_name("DIR");
  auto* const force =
      command.add_flag("--force", options.force,
                       "Repeats all runs, finished ones included, and replaces the results of an earlier version of "
                       "the scenario instead of keeping them");
  add_pace(command, options.jobs, options.threads);
  command.add_option("--run-time", options.run_time, "The most real time that a run may take; a longer run fails")
      ->type_name("TIME");
  command
      .add_option("--run-memory", options.run_memory,
                  "The most memory that a run may take, its data included; a larger run fails")
      ->type_name("SIZE");
  command.add_flag("--own-numbers", options.own_numbers,
                   "Every run computes its own numbers; otherwise runs that differ only in their timing share them");
  return force;
}

CLI::Option* add_shard(CLI::App& command, RunOptions& options) {
  return command
      .add_option("--shard", options.shard,
                  "Does part i of n of the runs, and leaves their records in DIR/shard-i-of-n for `simgrad merge`; "
                  "all: all runs, whatever the environment says")
      ->check([](const std::string& text) {  // of a variable that is not set
        return text.empty() ? "found an empty text, expected i/n, such as 1/8, or all" : "";
      })
      ->type_name("I/N");
}

}  // namespace

experiment::ChildLimits limits_of(const RunOptions& options) {
  return {.time_s = quantity_of("--run-time", options.run_time, base::Unit::seconds),
          .memory_bytes = quantity_of("--run-memory", options.run_memory, base::Unit::bytes)};
}

std::vector<std::string> words_of_runs(const RunOptions& options) {
  std::vector<std::string> words;
  if (!options.run_time.empty()) words.insert(words.end(), {"--run-time", options.run_time});
  if (!options.run_memory.empty()) words.insert(words.end(), {"--run-memory", options.run_memory});
  if (options.own_numbers) words.emplace_back("--own-numbers");
  return words;
}

void add_run_options(CLI::App& command, RunOptions& options) {
  add_selection(command, options.chosen, &options.scenarios);
  auto* const force = add_execution(command, options);
  add_details(command, options.chosen.selection);
  auto* const events = add_tracing(command, options.tracing);
  auto* const emit = add_emission(command, options.emission);
  auto* const shard = add_shard(command, options)->excludes(emit);
  force->excludes(emit);
  auto* const dry_run = command.add_flag(
      "--dry-run", options.dry_run,
      "Only lists the runs, and estimates their real time and the size of their files by short trials");
  dry_run->excludes(emit)->excludes(shard);
  command
      .add_flag("--race", options.race,
                "Stops running more seeds of a strategy that is clearly slower than the best one at its grid point")
      ->excludes(emit)
      ->excludes(dry_run);
  command.add_flag("--json", options.json, "Prints results.json on stdout, and nothing else")
      ->excludes(dry_run)
      ->excludes(events)
      ->excludes(emit);
  command
      .add_flag("--sqlite", options.sqlite, "Also writes results.sqlite, a database with the tables of the CSV files")
      ->excludes(dry_run)
      ->excludes(emit);
  command.add_flag("--quiet", options.quiet, "Prints errors only, and neither table nor progress")->excludes(events);
  command.add_flag(
      "--no-why", options.no_why,
      "Does not try what would make the runs faster (twice the bandwidth, no stragglers, ...), which takes "
      "up to a fifth of the experiment's time, or a second for a few steps (8 s where runs are on devices)");
  add_language(command);
}

}  // namespace simgrad::cli
