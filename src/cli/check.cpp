#include <fmt/format.h>
#include <stdlib.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <filesystem>
#include <set>

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

/// Reads all scenarios before any is run, and reports all their faults at once.
std::vector<experiment::Plan> plans_of(const CheckOptions& options) {
  std::vector<experiment::Plan> plans;
  std::vector<std::string> faults;
  std::set<std::string> names;
  for (const std::string& scenario : options.scenarios) {
    try {
      plans.push_back(experiment::make_plan(scenario, options.selection));
      if (!names.insert(plans.back().name).second && !options.out.empty())
        faults.push_back(
            fmt::format("{}: two scenarios are called \"{}\", so their results would overwrite each other in --out {}; "
                        "check them one after the other",
                        scenario, plans.back().name, options.out));
    } catch (const base::ScenarioError& error) {
      faults.insert(faults.end(), error.faults().begin(), error.faults().end());
    }
  }
  if (!faults.empty()) throw base::ScenarioError(faults);
  return plans;
}

struct Tally {
  std::size_t runs = 0, failed_runs = 0, baselines_failed = 0;
  std::size_t held = 0, failed = 0, untested = 0;

  Exit exit() const {
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
    suite.cases.push_back({.name = name, .error = run.record.error});
  }
  return failed;
}

void tell(const experiment::Verdict& verdict, bool quiet, Tally& tally, outputs::TestSuite& suite) {
  outputs::TestCase& test = suite.cases.emplace_back(outputs::TestCase{.name = verdict.name});
  const std::string text = fmt::format("{}: {}", verdict.name, verdict.text);
  switch (verdict.outcome) {
    case experiment::Outcome::held:
      ++tally.held;
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

void print_tally(const Tally& tally, std::size_t scenarios) {
  fmt::print("{} scenario{}: {} expectation{} ok, {} failed", scenarios, scenarios == 1 ? "" : "s", tally.held,
             tally.held == 1 ? "" : "s", tally.failed);
  if (tally.untested > 0) fmt::print(", {} untested", tally.untested);
  if (tally.failed_runs > 0) fmt::print("; {} of {} runs failed", tally.failed_runs, tally.runs);
  fmt::print("\n");
}

Exit check_scenarios(const CheckOptions& options) {
  const std::vector<experiment::Plan> plans = plans_of(options);
  if (!options.junit.empty())
    outputs::write_file(options.junit, outputs::junit({}));  // fails now rather than after hours
  const Temporary temporary;
  Tally tally;
  std::vector<outputs::TestSuite> suites;
  std::vector<std::string> all_untested;
  for (std::size_t i = 0; i < plans.size(); ++i) {
    const experiment::Plan& plan = plans[i];
    print_warnings(plan);
    Progress progress(options.quiet);
    const outputs::Results results = experiment::run_plan(
        plan, {.out = options.out.empty() ? fmt::format("{}/{}", temporary.path(), i)
                                          : fmt::format("{}/{}", options.out, plan.name),
               .jobs = options.jobs,
               .threads = options.threads,
               .progress = [&](int done, int all, double share) { progress.show(done, all, share); }});
    progress.clear();
    if (!results.complete) return Exit::interrupted;
    outputs::TestSuite& suite = suites.emplace_back(outputs::TestSuite{.name = options.scenarios[i]});
    fmt::print("{}\n", options.scenarios[i]);
    tally.runs += results.runs.size();
    tally.failed_runs += tell_failed_runs(results.runs, suite);
    tally.baselines_failed += tell_failed_runs(results.baselines, suite);
    if (plan.expectations.empty()) fmt::print("  it has no [[expect]]: nothing to test\n");
    const std::size_t tested = tally.held + tally.failed;
    for (const experiment::Verdict& verdict : experiment::verdicts(plan.expectations, results))
      tell(verdict, options.quiet, tally, suite);
    if (!plan.expectations.empty() && tally.held + tally.failed == tested) all_untested.push_back(options.scenarios[i]);
    std::fflush(stdout);  // else the next scenario's children would print the buffer again
  }
  print_tally(tally, plans.size());
  if (!options.junit.empty()) outputs::write_file(options.junit, outputs::junit(suites));
  for (const std::string& scenario : all_untested)
    base::say(fmt::format(
        "{}: none of its expectations was tested: they are about grid points that are not run; leave --set out, "
        "or set a value that they name",
        scenario));
  const Exit exit = tally.exit();
  return exit == Exit::ok && !all_untested.empty() ? Exit::usage : exit;
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
