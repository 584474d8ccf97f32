#include <fmt/format.h>
#include <stdlib.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <filesystem>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include "base/errors.h"
#include "base/say.h"
#include "cli/cli.h"
#include "cli/progress.h"
#include "cli/selection.h"
#include "experiment/run/runner.h"
#include "experiment/run/verdicts.h"
#include "outputs/comparison.h"
#include "outputs/files/junit.h"
#include "outputs/text/text_layout.h"

namespace simgrad::cli {

namespace {

struct CheckOptions {
  std::vector<std::string> scenarios;
  experiment::Selection selection;
  std::string out;
  std::string junit;
  int jobs = 0;
  int threads = -1;
  bool quiet = false;
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

/// A scenario to check: its plan, or the faults for which it has none.
struct Checked {
  std::string file;
  std::optional<experiment::Plan> plan = {};
  std::vector<std::string> faults = {};
  Exit exit = Exit::usage;  ///< of a scenario with faults
};

/// Refuses scenarios whose kept results would overwrite each other.
void refuse_equal_names(const std::vector<Checked>& all, const std::string& out) {
  std::vector<std::string> faults;
  std::set<std::string> names;
  for (const Checked& each : all)
    if (each.plan && !names.insert(each.plan->name).second)
      faults.push_back(
          fmt::format("{}: two scenarios are called \"{}\", so their results would overwrite each other in --out {}; "
                      "check them one after the other",
                      each.file, each.plan->name, out));
  if (!faults.empty()) throw base::ScenarioError(faults);
}

/// Reads all scenarios before any is run, and prints all their faults at once.
std::vector<Checked> scenarios_of(const CheckOptions& options) {
  std::vector<Checked> all;
  for (const std::string& file : options.scenarios) {
    Checked& read = all.emplace_back(Checked{.file = file});
    try {
      read.plan = experiment::make_plan(file, options.selection);
    } catch (const base::ScenarioError& error) {
      read.faults = error.faults();
    } catch (const base::EnvironmentError& error) {
      read.faults = {error.what()};
      read.exit = Exit::environment;
    }
    for (const std::string& fault : read.faults) base::say(fault);
  }
  if (!options.out.empty()) refuse_equal_names(all, options.out);
  return all;
}

struct Tally {
  std::size_t runs = 0, failed_runs = 0, baselines_failed = 0;
  std::size_t held = 0, failed = 0, untested = 0;
  std::size_t scenarios = 0, without_expectations = 0;  ///< that were run
  std::size_t broken = 0;                               ///< that could not be run
  Exit broken_exit = Exit::ok;                          ///< of the first of those

  Exit exit() const {
    if (broken > 0) return broken_exit;
    if (runs > 0 && failed_runs == runs) return Exit::every_run_failed;
    if (failed_runs > 0 || baselines_failed > 0) return Exit::some_runs_failed;
    return failed > 0 ? Exit::expectation_failed : Exit::ok;
  }
};

void print_line(std::string_view outcome, const std::string& text) {
  fmt::print("  {:<8}  {}\n", outcome, outputs::printable(text));
}

/// Prints runs that failed, even if no expectation is about them.
std::size_t tell_failed_runs(const std::vector<outputs::Run>& runs, outputs::TestSuite& suite) {
  std::size_t failed = 0;
  for (const outputs::Run& run : runs) {
    if (run.record.status != record::Status::failed) continue;
    ++failed;
    const std::string point = outputs::point_text(run.parameters);
    const std::string name = fmt::format("{}{}{}, seed {}", run.label, point.empty() ? "" : ", ", point, run.seed);
    print_line("FAILED", fmt::format("{}: {}", name, run.record.error));
    suite.cases.push_back({.name = name, .error = run.record.error, .time_s = run.wall_s});
  }
  return failed;
}

void tell(const experiment::Verdict& verdict, bool quiet, Tally& tally, outputs::TestSuite& suite) {
  outputs::TestCase& test = suite.cases.emplace_back(outputs::TestCase{.name = verdict.name, .time_s = verdict.wall_s});
  const std::string text = fmt::format("{}: {}", verdict.name, verdict.text);
  switch (verdict.outcome) {
    case experiment::Outcome::held:
      ++tally.held;
      test.output = verdict.text;
      if (!quiet) print_line("ok", text);
      break;
    case experiment::Outcome::failed:
      ++tally.failed;
      test.failure = verdict.text;
      print_line("FAILED", text);
      break;
    case experiment::Outcome::untested:
      ++tally.untested;
      test.skipped = verdict.text;
      print_line("untested", text);
      break;
  }
}

std::string counted(std::size_t count, std::string_view noun) {
  return fmt::format("{} {}{}", count, noun, count == 1 ? "" : "s");
}

void print_tally(const Tally& tally) {
  fmt::print("{}: {} ok, {} failed", counted(tally.scenarios, "scenario"), counted(tally.held, "expectation"),
             tally.failed);
  if (tally.untested > 0) fmt::print(", {} untested", tally.untested);
  if (tally.failed_runs > 0) fmt::print("; {} of {} runs failed", tally.failed_runs, tally.runs);
  if (tally.without_expectations > 0)
    fmt::print("; {} without [[expect]], so not tested", counted(tally.without_expectations, "scenario"));
  if (tally.broken > 0) fmt::print("; {} could not be run", counted(tally.broken, "scenario"));
  fmt::print("\n");
}

/// The scenarios of one call: their runs, and what was found.
class Checking {
 public:
  explicit Checking(const CheckOptions& options) : options_(options) {}

  /// Notes a scenario that has no plan, or whose data are at fault.
  void note_broken(const Checked& scenario) {
    if (tally_.broken++ == 0) tally_.broken_exit = scenario.exit;
    outputs::TestSuite& suite = suites_.emplace_back(outputs::TestSuite{.name = scenario.file});
    std::string text;
    for (const std::string& fault : scenario.faults) text += (text.empty() ? "" : "\n") + fault;
    suite.cases.push_back({.name = "the scenario can be run", .error = text});
  }

  /// Notes a scenario that an interrupt kept from being checked.
  void note_interrupted(const Checked& scenario) {
    outputs::TestSuite& suite = suites_.emplace_back(outputs::TestSuite{.name = scenario.file});
    suite.cases.push_back({.name = "the scenario can be run", .error = "interrupted before it was checked"});
  }

  /// Runs a scenario and tests its expectations. False after an interrupt.
  bool check(const Checked& scenario, std::size_t index) {
    const experiment::Plan& plan = *scenario.plan;
    print_warnings(plan);
    const outputs::Results results = results_of(plan, index);
    if (!results.complete) return false;
    outputs::TestSuite& suite = suites_.emplace_back(outputs::TestSuite{.name = scenario.file});
    fmt::print("{}\n", scenario.file);
    ++tally_.scenarios;
    tally_.runs += results.runs.size();
    tally_.failed_runs += tell_failed_runs(results.runs, suite);
    tally_.baselines_failed += tell_failed_runs(results.baselines, suite);
    if (plan.expectations.empty()) {
      ++tally_.without_expectations;
      fmt::print("  it has no [[expect]]: nothing to test\n");
      suite.cases.push_back({.name = "[[expect]]", .skipped = "the scenario has none, so nothing was tested"});
    }
    const std::size_t tested = tally_.held + tally_.failed;
    for (const experiment::Verdict& verdict : experiment::verdicts(plan.expectations, results))
      tell(verdict, options_.quiet, tally_, suite);
    if (!plan.expectations.empty() && tally_.held + tally_.failed == tested) all_untested_.push_back(scenario.file);
    std::fflush(stdout);  // else the next scenario's children would print the buffer again
    return true;
  }

  /// Prints the tally and writes the findings. Returns the exit code.
  Exit end() const {
    print_tally(tally_);
    write();
    for (const std::string& scenario : all_untested_)
      base::say(fmt::format(
          "{}: none of its expectations was tested: they are about grid points that are not run; leave --set out, "
          "or set a value that they name",
          scenario));
    const Exit exit = tally_.exit();
    return exit == Exit::ok && !all_untested_.empty() ? Exit::usage : exit;
  }

  void write() const {
    if (!options_.junit.empty()) outputs::write_file(options_.junit, outputs::junit(suites_));
  }

 private:
  outputs::Results results_of(const experiment::Plan& plan, std::size_t index) {
    Progress progress(options_.quiet);
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
  std::vector<outputs::TestSuite> suites_;
  std::vector<std::string> all_untested_;
};

Exit check_scenarios(const CheckOptions& options) {
  std::vector<Checked> scenarios = scenarios_of(options);
  Checking checking(options);
  // Fails now rather than after hours. The reader of a pipe would take the first end for the only one.
  std::error_code unknown;
  if (!std::filesystem::is_fifo(options.junit, unknown)) checking.write();
  bool any = false;
  for (std::size_t i = 0; i < scenarios.size(); ++i) {
    Checked& scenario = scenarios[i];
    try {
      if (scenario.plan && !checking.check(scenario, i)) {
        for (std::size_t k = i; k < scenarios.size(); ++k) checking.note_interrupted(scenarios[k]);
        checking.write();
        return Exit::interrupted;
      }
      any = any || scenario.plan;
    } catch (const base::ScenarioError& error) {  // the data do not suit
      scenario.plan.reset();
      scenario.faults = error.faults();
      for (const std::string& fault : scenario.faults) base::say(fault);
    } catch (const base::EnvironmentError& error) {  // its results cannot be written, say
      scenario.plan.reset();
      scenario.faults = {error.what()};
      scenario.exit = Exit::environment;
      base::say(error.what());
    }
    if (!scenario.plan) checking.note_broken(scenario);
  }
  if (any) return checking.end();
  checking.write();
  return scenarios.front().exit;
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
  command->add_option("--junit", options->junit, "Writes the findings as JUnit XML")->type_name("FILE");
  add_pace(*command, options->jobs, options->threads);
  command->add_flag("--quiet", options->quiet, "Prints failures only, and no progress");
  command->callback([options, &exit_code] { exit_code = check_scenarios(*options); });
}

}  // namespace simgrad::cli
