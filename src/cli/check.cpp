#include <fmt/format.h>
#include <stdlib.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <filesystem>
#include <string>
#include <system_error>
#include <vector>

#include "base/errors.h"
#include "base/say.h"
#include "cli/check_baseline.h"
#include "cli/check_report.h"
#include "cli/check_tally.h"
#include "cli/cli.h"
#include "cli/progress.h"
#include "cli/scenarios.h"
#include "cli/selection.h"
#include "experiment/run/runner.h"
#include "experiment/run/verdicts.h"
#include "outputs/comparison.h"
#include "outputs/files/test_suite.h"

namespace simgrad::cli {

namespace {

using outputs::CaseOutcome;

struct CheckOptions {
  std::vector<std::string> scenarios;
  experiment::Selection selection;
  std::string out;
  BaselineOptions baseline;
  ReportOptions report;
  int jobs = 0;
  int threads = -1;
  bool no_vacuous = false;
};

/// A temporary directory, removed with this object.
class Temporary {
 public:
  Temporary() : path_((std::filesystem::temp_directory_path() / "simgrad-check-XXXXXX").string()) {
    if (!mkdtemp(path_.data())) throw base::EnvironmentError(fmt::format("{}: cannot be created", path_));
  }
  ~Temporary() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  Temporary(const Temporary&) = delete;
  Temporary& operator=(const Temporary&) = delete;
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

/// The scenarios of one call: their runs, and what was found.
class Checking {
 public:
  explicit Checking(const CheckOptions& options)
      : options_(options), report_(options.report), baseline_(options.baseline) {}

  /// Fails now, if the files of this call cannot be read or written, or a stored baseline is of other scenarios.
  void start(const std::vector<ReadScenario>& scenarios) {
    baseline_.read();
    scenario::Faults faults;
    for (const ReadScenario& each : scenarios)
      if (each.plan) baseline_.require(*each.plan, each.file, faults);
    faults.raise_if_any();
    report_.start();
  }

  /// Runs a scenario and tests it; one that cannot be run is noted. False after an interrupt.
  bool check(ReadScenario& scenario, std::size_t index) {
    try {
      if (scenario.plan) return judge(scenario, index);
    } catch (const base::ScenarioError& error) {  // the data do not suit
      scenario.faults = error.faults();
      for (const std::string& fault : scenario.faults) base::say(fault);
    } catch (const base::EnvironmentError& error) {  // its results cannot be written, say
      scenario.faults = {error.what()};
      scenario.exit = Exit::environment;
      base::say(error.what());
    }
    if (tally_.broken++ == 0) tally_.broken_exit = scenario.exit;
    baseline_.note_broken();
    report_.add_broken(scenario.file, scenario.faults);
    return true;
  }

  /// Ends the report at an interrupt, which kept these scenarios from being checked.
  void interrupt(const std::vector<ReadScenario>& scenarios, std::size_t from) {
    for (std::size_t k = from; k < scenarios.size(); ++k)
      report_.add_broken(scenarios[k].file, {"interrupted before it was checked"});
    report_.bail_out();
  }

  /// Prints the tally and writes the files. Returns the exit code.
  Exit end() {
    if (tally_.scenarios > 0) baseline_.write();
    report_.end(tally_.scenarios == 0 ? "" : text(tally_) + (baseline_.any() ? "; " + baseline_.tally() : ""));
    for (const std::string& scenario : all_untested_)
      base::say(fmt::format(
          "{}: none of its expectations was tested: they are about grid points that are not run; leave --set out, "
          "or set a value that they name",
          scenario));
    const Exit exit = tally_.exit();
    if (exit != Exit::ok) return exit;
    if (baseline_.failures() > 0) return Exit::expectation_failed;
    return all_untested_.empty() ? Exit::ok : Exit::usage;
  }

 private:
  bool judge(const ReadScenario& scenario, std::size_t index) {
    const experiment::Plan& plan = *scenario.plan;
    print_warnings(plan);
    const outputs::Results results = results_of(plan, index);
    if (!results.complete) return false;
    report_.begin(scenario.file);
    ++tally_.scenarios;
    tally_.runs += results.runs.size();
    tally_.failed_runs += tell_failed_runs(results.runs, scenario.file);
    tally_.baselines_failed += tell_failed_runs(results.baselines, scenario.file);
    test_expectations(plan, results, scenario.file);
    if (baseline_.any()) report_.add(baseline_.judge(results));
    return true;
  }

  /// Tells of runs that failed, even if no expectation is about them.
  std::size_t tell_failed_runs(const std::vector<outputs::Run>& runs, const std::string& file) {
    std::size_t failed = 0;
    for (const outputs::Run& run : runs) {
      if (run.record.status != record::Status::failed) continue;
      ++failed;
      const std::string point = outputs::point_text(run.parameters);
      report_.add({.name = fmt::format("{}{}{}, seed {}", run.label, point.empty() ? "" : ", ", point, run.seed),
                   .outcome = CaseOutcome::error,
                   .text = run.record.error,
                   .time_s = run.wall_s,
                   .place = {.file = file}});
    }
    return failed;
  }

  void test_expectations(const experiment::Plan& plan, const outputs::Results& results, const std::string& file) {
    if (plan.expectations.empty() && !baseline_.any()) {
      ++tally_.without_expectations;
      report_.remark("  it has no [[expect]]: nothing to test");
      report_.add_silently({.name = "[[expect]]",
                            .outcome = CaseOutcome::untested,
                            .text = "the scenario has none, so nothing was tested",
                            .place = {.file = file}});
    }
    const std::size_t untested = tally_.untested;
    const std::vector<experiment::Verdict> verdicts = experiment::verdicts(plan.expectations, results, plan.runs);
    for (const experiment::Verdict& verdict : verdicts) tell(verdict, plan);
    if (!verdicts.empty() && tally_.untested - untested == verdicts.size()) all_untested_.push_back(file);
  }

  void tell(const experiment::Verdict& verdict, const experiment::Plan& plan) {
    const scenario::Position at = plan.document->position(fmt::format("expect.{}", verdict.expectation));
    outputs::TestCase test{
        .name = verdict.name, .text = verdict.text, .time_s = verdict.wall_s, .place = {at.file, at.line, at.column}};
    switch (verdict.outcome) {
      case experiment::Outcome::held:
        ++tally_.held;
        break;
      case experiment::Outcome::failed:
        ++tally_.failed;
        test.outcome = CaseOutcome::failed;
        break;
      case experiment::Outcome::untested:
        ++tally_.untested;
        test.outcome = CaseOutcome::untested;
        break;
      case experiment::Outcome::vacuous:
        ++(options_.no_vacuous ? tally_.failed : tally_.vacuous);
        test.outcome = options_.no_vacuous ? CaseOutcome::failed : CaseOutcome::vacuous;
        break;
    }
    report_.add(std::move(test));
  }

  outputs::Results results_of(const experiment::Plan& plan, std::size_t index) {
    Progress progress(options_.report.quiet);
    outputs::Results results =
        experiment::run_plan(plan, {.out = options_.out.empty() ? fmt::format("{}/{}", temporary_.path(), index)
                                                                : fmt::format("{}/{}", options_.out, plan.name),
                                    .jobs = options_.jobs,
                                    .threads = options_.threads,
                                    .again = true,  // a check is of this program, whatever another one has left
                                    .progress = [&](const experiment::Advance& advance) { progress.show(advance); },
                                    .tell = [&](const std::string& text) { progress.tell(text); }});
    progress.clear();
    return results;
  }

  const CheckOptions& options_;
  Temporary temporary_;
  Tally tally_;
  CheckReport report_;
  BaselineCheck baseline_;
  std::vector<std::string> all_untested_;
};

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
  checking.start(scenarios);
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
  command->callback([options, &exit_code] { exit_code = check_scenarios(*options); });
}

}  // namespace simgrad::cli
