#include "cli/checking.h"

#include <fmt/format.h>
#include <stdlib.h>

#include <filesystem>
#include <system_error>
#include <utility>

#include "base/errors.h"
#include "base/say.h"
#include "cli/progress.h"
#include "cli/selection.h"
#include "experiment/run/runner.h"
#include "outputs/comparison.h"
#include "outputs/files/test_suite.h"
#include "outputs/text/language.h"

namespace simgrad::cli {

using outputs::CaseOutcome;

Temporary::Temporary() : path_((std::filesystem::temp_directory_path() / "simgrad-check-XXXXXX").string()) {
  if (!mkdtemp(path_.data())) throw base::EnvironmentError(fmt::format("{}: cannot be created", path_));
}

Temporary::~Temporary() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

Exit Checking::start(const std::vector<ReadScenario>& scenarios) {
  report_.start();
  try {
    baseline_.read();
    scenario::Faults faults;
    for (const ReadScenario& each : scenarios)
      if (each.plan) baseline_.require(*each.plan, each.file, faults);
    faults.raise_if_any();
  } catch (const base::ScenarioError& error) {
    return end_without_baseline(scenarios, error.faults(), Exit::usage);
  } catch (const base::EnvironmentError& error) {
    return end_without_baseline(scenarios, {error.what()}, Exit::environment);
  }
  return Exit::ok;
}

bool Checking::check(ReadScenario& scenario, std::size_t index) {
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

void Checking::interrupt(const std::vector<ReadScenario>& scenarios, std::size_t from) {
  for (std::size_t k = from; k < scenarios.size(); ++k)
    report_.add_broken(scenarios[k].file, {"interrupted before it was checked"});
  report_.bail_out("interrupted");
}

Exit Checking::end() {
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

Exit Checking::end_without_baseline(const std::vector<ReadScenario>& scenarios, const std::vector<std::string>& faults,
                                    Exit exit) {
  for (const std::string& fault : faults) base::say(fault);
  for (const ReadScenario& each : scenarios)
    if (!each.plan) report_.add_broken(each.file, each.faults);
  report_.add_broken_baseline(baseline_.file(), faults);
  report_.bail_out(fmt::format("no scenario is run, because the stored baseline {} cannot be used", baseline_.file()));
  return exit;
}

bool Checking::judge(const ReadScenario& scenario, std::size_t index) {
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
  if (baseline_.any()) report_.add(baseline_.judge(results, plan));
  return true;
}

/// Tells of runs that failed, even if no expectation is about them.
std::size_t Checking::tell_failed_runs(const std::vector<outputs::Run>& runs, const std::string& file) {
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

void Checking::test_expectations(const experiment::Plan& plan, const outputs::Results& results,
                                 const std::string& file) {
  if (plan.expectations.empty() && !baseline_.any()) {
    ++tally_.without_expectations;
    report_.remark("  " + outputs::tr("it has no [[expect]]: nothing to test"));
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

void Checking::tell(const experiment::Verdict& verdict, const experiment::Plan& plan) {
  const scenario::Position at = plan.document->position(fmt::format("expect.{}", verdict.expectation));
  outputs::TestCase test{.name = verdict.name,
                         .text = verdict.text,
                         .time_s = verdict.wall_s,
                         .place = {at.file, at.line, at.column},
                         .bound = verdict.bound};
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

outputs::Results Checking::results_of(const experiment::Plan& plan, std::size_t index) {
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

}  // namespace simgrad::cli
