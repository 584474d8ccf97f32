#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdlib>
#include <stdexcept>
#include <string>
#include <vector>

#include "base/errors.h"
#include "base/say.h"
#include "cli/cli.h"
#include "cli/language.h"
#include "cli/progress.h"
#include "cli/report.h"
#include "cli/selection.h"
#include "cli/tracing.h"
#include "experiment/run/estimate.h"
#include "experiment/run/runner.h"
#include "outputs/report/page.h"
#include "outputs/terminal/plot.h"

namespace simgrad::cli {

namespace {

struct RunOptions {
  Chosen chosen;
  std::string out;
  int jobs = 0;
  int threads = -1;
  bool dry_run = false;
  bool json = false;
  bool quiet = false;
  bool no_why = false;
  bool force = false;
  Tracing tracing;
  std::string language;
};

outputs::TableStyle style() {
  outputs::TableStyle style;
  const bool terminal = isatty(STDOUT_FILENO) != 0;
  style.colour = terminal && std::getenv("NO_COLOR") == nullptr;
  winsize size = {};
  if (terminal && ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0)
    style.width = std::max(60, static_cast<int>(size.ws_col));
  return style;
}

/// An empty line and the plot, or nothing if there is nothing to draw.
std::string plot_below(const outputs::Results& results) {
  const std::string drawn = outputs::plot(results, style());
  return drawn.empty() ? "" : "\n" + drawn;
}

bool failed(const outputs::Run& run) { return run.record.status == record::Status::failed; }

Exit exit_of(const outputs::Results& results) {
  if (!results.complete) return Exit::interrupted;
  if (std::ranges::all_of(results.runs, failed)) return Exit::every_run_failed;
  const bool some = std::ranges::any_of(results.runs, failed) || std::ranges::any_of(results.baselines, failed);
  return some ? Exit::some_runs_failed : Exit::ok;
}

/// Prints failed runs on stderr, since --quiet never silences errors.
void print_errors(const std::vector<outputs::Run>& runs) {
  for (const outputs::Run& run : runs)
    if (failed(run)) base::say(fmt::format("{} {}: {}", run.id, run.label, run.record.error));
}

void print_results(const outputs::Results& results, const RunOptions& options,
                   const experiment::Recordings& recordings) {
  if (options.json)
    fmt::print("{}", outputs::results_json(results));
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
bool written_page(const outputs::Results& results, const std::string& out, std::vector<std::string>& unwritten) {
  if (outputs::page().empty() || results.runs.empty()) return false;
  try {
    write_page(results, out, out + "/report.html", outputs::page());
  } catch (const std::runtime_error& fault) {
    unwritten.emplace_back(fault.what());
    return false;
  }
  return true;
}

/// The sentence on an interrupt: finished runs, if there are some.
std::string interrupted_text(const outputs::Results& results, const std::string& out) {
  if (results.runs.empty()) return "simgrad: interrupted before a run was finished; no results are written";
  return fmt::format("simgrad: interrupted; the finished runs are in {}", out);
}

Exit run_experiment(RunOptions& options) {
  const experiment::Plan plan = plan_of(options.chosen);
  print_warnings(plan);
  const experiment::Recordings recordings = recordings_of(options.tracing, plan);
  if (options.dry_run) {
    if (recordings.more())
      throw base::ScenarioError(
          "--dry-run runs nothing, so there is nothing to show for --trace or --events; leave one of them out");
    constexpr double trials_s = 2.0;
    const std::string estimated =
        options.quiet ? "" : experiment::text(experiment::estimate(plan, options.jobs, options.threads, trials_s));
    fmt::print("{}", runs_text(plan));
    if (!estimated.empty()) base::say("simgrad: " + estimated);
    return Exit::ok;
  }
  if (options.out.empty()) options.out = "out/" + plan.name;
  Progress progress(options.quiet);
  const auto show = [&](const experiment::Advance& advance) { progress.show(advance); };
  std::vector<std::string> unwritten;
  const outputs::Results results =
      experiment::run_plan(plan, {.out = options.out,
                                  .jobs = options.jobs,
                                  .threads = options.threads,
                                  .again = options.force,
                                  .counterfactuals = !options.no_why,
                                  .recordings = recordings,
                                  .unwritten = [&](const std::string& fault) { unwritten.push_back(fault); },
                                  .progress = show,
                                  .tell = [&](const std::string& text) { progress.tell(text); }});
  progress.clear();
  print_results(results, options, recordings);
  const bool has_page = written_page(results, options.out, unwritten);
  const bool something = results.complete || !results.runs.empty();
  if (something && !options.quiet && !options.json && !recordings.events && unwritten.empty())
    fmt::print("Results: {}/results.json, runs.csv, summary.csv, curves.csv, ranks.csv, links.csv{}\n", options.out,
               has_page ? ", report.html" : "");
  if (outputs::page().empty() && !options.quiet) base::say(no_page);
  if (recordings.trace) print_trace_hint(results, options.out, recordings);
  for (const std::string& fault : unwritten) base::say(fault);
  if (!results.complete) base::say(interrupted_text(results, options.out));
  return unwritten.empty() ? exit_of(results) : Exit::environment;
}

}  // namespace

void add_run(CLI::App& app, int& exit_code) {
  auto* command = app.add_subcommand("run", "Runs the experiment: every strategy x every grid point x every seed");
  auto options = std::make_shared<RunOptions>();
  add_selection(*command, options->chosen);
  command->add_option("--out", options->out, "The directory of the results (default out/<scenario's name>)")
      ->type_name("DIR");
  command->add_flag("--force", options->force,
                    "Does all runs again, those too whose records are in the directory, and replaces the results of "
                    "another experiment");
  add_pace(*command, options->jobs, options->threads);
  auto* const events = add_tracing(*command, options->tracing);
  auto* dry_run = command->add_flag(
      "--dry-run", options->dry_run,
      "Only lists the runs, and estimates their real time and the size of their files by short trials");
  command->add_flag("--json", options->json, "results.json on stdout, and nothing else")
      ->excludes(dry_run)
      ->excludes(events);
  command->add_flag("--quiet", options->quiet, "Prints neither table nor progress, but errors")->excludes(events);
  command->add_flag(
      "--no-why", options->no_why,
      "Does not try what would make the runs faster (twice the bandwidth, no stragglers, ...), which takes "
      "up to a fifth of the experiment's time, or a tenth of a second");
  add_language(*command, options->language);
  command->callback([options, &exit_code] {
    speak(options->language);
    exit_code = run_experiment(*options);
  });
}

}  // namespace simgrad::cli
