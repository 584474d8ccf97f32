#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <stdexcept>
#include <string>
#include <vector>

#include "base/errors.h"
#include "base/say.h"
#include "cli/cli.h"
#include "cli/emit.h"
#include "cli/language.h"
#include "cli/outcome.h"
#include "cli/progress.h"
#include "cli/report.h"
#include "cli/run_options.h"
#include "cli/scenarios.h"
#include "cli/selection.h"
#include "cli/sharding.h"
#include "cli/terminal.h"
#include "cli/tracing.h"
#include "cli/unwritten_files.h"
#include "experiment/run/counterfactuals.h"
#include "experiment/run/estimate.h"
#include "experiment/run/run_store.h"
#include "experiment/run/runner.h"
#include "outputs/files/sqlite.h"
#include "outputs/report/page.h"
#include "outputs/terminal/plot.h"

namespace simgrad::cli {

namespace {

/// The real time of all trials of --dry-run.
constexpr double trials_s = 2.0;

outputs::TableStyle style() {
  outputs::TableStyle style;
  const bool terminal = isatty(STDOUT_FILENO) != 0;
  style.colour = terminal && std::getenv("NO_COLOR") == nullptr;
  if (const auto width = terminal_width()) style.width = static_cast<int>(*width);
  return style;
}

/// An empty line and the plot, or nothing if there is nothing to draw.
std::string plot_below(const outputs::Results& results) {
  const std::string drawn = outputs::plot(results, style());
  return drawn.empty() ? "" : "\n" + drawn;
}

void print_results(const outputs::Results& results, const RunOptions& options,
                   const experiment::Recordings& recordings) {
  if (options.json)
    outputs::write_results_json(results, [](std::string_view piece) { fmt::print("{}", piece); });
  else if (recordings.events)
    print_events(results, options.out);
  else if (!options.quiet)
    fmt::print("{}{}\n", outputs::table(results, style()), plot_below(results));
  if (options.quiet || options.json || recordings.events) {
    print_errors(results.baselines);
    print_errors(results.runs);
  }
}

/// Writes the page. Returns whether there is one; a fault of its files is only printed, so that the results are not
/// lost.
bool written_page(const outputs::Results& results, const std::string& out, UnwrittenFiles& unwritten) {
  if (outputs::page().empty() || results.runs.empty()) return false;
  try {
    write_page(results, out);
  } catch (const std::runtime_error& fault) {
    unwritten.add(fault.what());
    return false;
  }
  return true;
}

/// Writes the database. A fault is only printed, so that the results are not lost.
void write_database(const outputs::Results& results, const std::string& out, UnwrittenFiles& unwritten) {
  try {
    outputs::write_sqlite(results, out + "/results.sqlite");
  } catch (const base::EnvironmentError& fault) {
    unwritten.add(fault.what());
  }
}

/// The sentence on an interrupt: finished runs, if there are some.
std::string interrupted_text(const outputs::Results& results, const std::string& out) {
  std::error_code none;
  if (results.runs.empty())
    return std::filesystem::is_empty(out + "/runs", none) || none
               ? "simgrad: interrupted before a run was finished; no results are written"
               : fmt::format(
                     "simgrad: interrupted before another run was finished; those that are finished, such as "
                     "baselines, are kept in {}/runs, and the same command goes on from there",
                     out);
  return fmt::format("simgrad: interrupted; the finished runs are in {}", out);
}

/// Lists the runs, and says how many are to be simulated, how long they take and how much disk their files need.
experiment::Estimate list_runs(const experiment::Plan& plan, const RunOptions& options, double budget_s) {
  fmt::print("{}", runs_text(plan));
  if (options.quiet) return {};
  const std::string out = options.force ? "" : options.out;
  flush_output();  // else the trials' processes would print the buffer again
  const experiment::Estimate estimate =
      experiment::estimate(plan, options.jobs, options.threads, budget_s, out, !options.own_numbers);
  base::say(
      fmt::format("simgrad: {}{}", options.scenarios.size() == 1 ? "" : plan.name + ": ", experiment::text(estimate)));
  return estimate;
}

/// Prints the file for a scheduler.
Exit emit(const RunOptions& options, const experiment::Plan& plan) {
  if (!options.tracing.trace.empty() || options.tracing.events)
    throw base::ScenarioError("--emit: shards write no traces and print no events; leave --trace and --events out");
  std::vector<std::string> merge;
  if (options.no_why) merge.emplace_back("--no-why");
  if (const std::string language(outputs::name(outputs::language())); language != language_of_environment())
    merge.insert(merge.end(), {"--language", language});
  const std::size_t runs = experiment::pieces_of_work(plan).size();
  std::vector<std::string> words = words_of(options.chosen);
  for (const std::string& word : words_of_runs(options)) words.push_back(word);
  Sharded command{.name = plan.name,
                  .words = words,
                  .out = options.out,
                  .merge = merge,
                  .jobs = std::max(1, options.jobs),
                  .threads = std::max(0, options.threads),
                  .runs = runs};
  check_emission(options.emission);  // before the trials
  command.estimate = experiment::estimate(plan, command.jobs, command.threads, trials_s, "", !options.own_numbers);
  fmt::print("{}", emitted(options.emission, command));
  if (static_cast<std::size_t>(options.emission.shards) > runs && !options.quiet)
    base::say(fmt::format("simgrad: {} runs to simulate are fewer than {} shards: some will have nothing to do", runs,
                          options.emission.shards));
  return Exit::ok;
}

/// Refuses options about results, which a shard does not have, and a race, which needs all strategies of a grid point.
void check_shard(const RunOptions& options, const experiment::Shard& shard, const experiment::Recordings& recordings) {
  const char* option = options.json        ? "--json"
                       : recordings.events ? "--events"
                       : recordings.trace  ? "--trace"
                                           : nullptr;
  if (options.race)
    throw base::ScenarioError(fmt::format(
        "--race: shard {} has a part of the runs alone, so that strategies cannot be compared while it goes on; leave "
        "--race out, or do all runs with --shard all",
        text(shard)));
  if (option != nullptr)
    throw base::ScenarioError(
        fmt::format("{}: shard {} writes records alone; leave the option out, or do all runs with --shard all", option,
                    text(shard)));
}

/// Says where the runs of earlier commands are that a command of some strategies or seeds leaves out.
void tell_of_others(const RunOptions& options, const experiment::Plan& plan, Progress& progress) {
  const experiment::Selection& selection = options.chosen.selection;
  if (selection.strategies.empty() && selection.seeds.empty()) return;
  if (const std::int64_t others = experiment::records_beside(options.out, plan); others > 0)
    progress.tell(
        fmt::format("{} run{} of earlier commands {} kept in {}/runs, but not in results.json and the tables, which "
                    "have this command's runs alone",
                    others, others == 1 ? "" : "s", others == 1 ? "is" : "are", options.out));
}

/// estimates: gets that of --dry-run.
Exit run_experiment(RunOptions& options, const experiment::Plan& plan, std::vector<experiment::Estimate>& estimates) {
  print_warnings(plan);
  if (options.out.empty()) options.out = default_directory(plan.name);
  const experiment::Recordings recordings = recordings_of(options.tracing, plan);
  if (options.dry_run) {
    if (recordings.more())
      throw base::ScenarioError(
          "--dry-run runs nothing, so there is nothing to show for --trace or --events; leave one of them out");
    estimates.push_back(list_runs(plan, options, trials_s / static_cast<double>(options.scenarios.size())));
    return Exit::ok;
  }
  if (!options.emission.engine.empty()) return emit(options, plan);
  const auto shard = chosen_shard(options.shard, options.quiet);
  if (shard) check_shard(options, *shard, recordings);
  Progress progress(options.quiet);
  UnwrittenFiles unwritten(progress);
  experiment::RunnerOptions runner{.out = options.out,
                                   .jobs = options.jobs,
                                   .threads = options.threads,
                                   .again = options.force,
                                   .counterfactuals = !options.no_why,
                                   .race = options.race,
                                   .share_numbers = !options.own_numbers,
                                   .limits = limits_of(options),
                                   .recordings = recordings,
                                   .unwritten = [&](const std::string& fault) { unwritten.add(fault); },
                                   .progress = [&](const experiment::Advance& advance) { progress.show(advance); },
                                   .tell = [&](const std::string& text) { progress.tell(text); }};
  if (shard) {
    runner.unwritten = nullptr;  // the first one is told, and is an error at the end
    return do_shard(plan, *shard, {.file = options.chosen.scenario, .selection = options.chosen.selection}, options.out,
                    runner, options.quiet);
  }
  if (const std::string remark = experiment::too_large_for_counterfactuals(plan); !options.no_why && !remark.empty())
    progress.tell(remark);
  std::unique_ptr<const experiment::ResultsDirectory> directory;  // held until its last file is written
  const outputs::Results results = experiment::run_plan(plan, runner, directory);
  tell_of_others(options, plan, progress);
  progress.clear();
  const bool has_page = written_page(results, options.out, unwritten);
  const bool something = results.complete || !results.runs.empty();
  if (options.sqlite && something) write_database(results, options.out, unwritten);
  directory.reset();  // a reader of the table may take long
  print_results(results, options, recordings);
  if (something && !options.quiet && !options.json && !recordings.events && unwritten.none())
    fmt::print("{}\n", results_line(options.out, options.sqlite, has_page));
  if (outputs::page().empty() && !options.quiet) base::say(no_page);
  if (recordings.trace) print_trace_hint(results, options.out, recordings);
  unwritten.tell_rest();
  if (!results.complete) base::say(interrupted_text(results, options.out));
  return unwritten.none() ? exit_of(results) : Exit::environment;
}

/// Refuses options that make one document or one file of a command.
void refuse_one_file(const RunOptions& options) {
  const std::size_t count = options.scenarios.size();
  if (options.json)
    throw base::ScenarioError(
        fmt::format("--json prints one document, but there are {} scenarios; run them one after the other", count));
  if (!options.emission.engine.empty())
    throw base::ScenarioError(fmt::format(
        "--emit prints one script, but there are {} scenarios; print one for each, one after the other", count));
  const std::string& trace = options.tracing.trace;
  if (!trace.empty() && trace != "json" && trace != "gz")
    throw base::ScenarioError(fmt::format(
        "--trace={} is one file, but there are {} scenarios; write --trace for a file for each run", trace, count));
}

/// One of several scenarios. Its faults are printed, and do not keep the others from being run.
Exit run_one(const RunOptions& options, const std::string& scenario, const experiment::Plan& plan,
             std::vector<experiment::Estimate>& estimates) {
  RunOptions own = options;
  own.chosen.scenario = scenario;
  own.out = options.out.empty() ? std::string() : fmt::format("{}/{}", options.out, plan.name);
  const Exit exit = told([&] { return run_experiment(own, plan, estimates); });
  std::fflush(stdout);  // else the next scenario's children would print the buffer again
  return exit;
}

Exit run_scenarios(RunOptions& options) {
  std::vector<experiment::Estimate> estimates;
  if (options.scenarios.size() == 1) {
    options.chosen.scenario = options.scenarios.front();
    return run_experiment(options, plan_of(options.chosen), estimates);
  }
  refuse_one_file(options);
  Exit exit = Exit::ok;
  const std::vector<experiment::Plan> plans = plans_of(options.chosen, options.scenarios, exit);
  for (const experiment::Plan& plan : plans)
    exit = worst(exit, told([&] {
                   experiment::check_files(plan, readable_bytes, {});
                   return Exit::ok;
                 }));
  if (exit != Exit::ok) return exit;
  for (std::size_t i = 0; i < plans.size() && exit != Exit::interrupted; ++i) {
    if (!options.quiet) fmt::print("{}{}\n", i == 0 ? "" : "\n", base::printable(options.scenarios[i]));
    exit = worst(exit, run_one(options, options.scenarios[i], plans[i], estimates));
  }
  if (options.dry_run && !options.quiet && !plans.empty())
    base::say(fmt::format("simgrad: {} scenarios: {}", plans.size(), experiment::text(experiment::sum(estimates))));
  return exit;
}

}  // namespace

void add_run(CLI::App& app, int& exit_code) {
  auto* command = app.add_subcommand("run", "Runs the experiment: every strategy x every grid point x every seed");
  auto options = std::make_shared<RunOptions>();
  add_run_options(*command, *options);
  command->callback([options, &exit_code] { exit_code = run_scenarios(*options); });
}

}  // namespace simgrad::cli
