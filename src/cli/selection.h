/// The options that select runs, shared by the commands that plan runs.
#pragma once

#include <string>
#include <vector>

#include "cli/cli.h"
#include "experiment/plan/plan.h"
#include "experiment/run/origin.h"

namespace CLI {
class App;
}

namespace simgrad::cli {

struct Chosen {
  std::string scenario;
  experiment::Selection selection;
  bool no_baseline = false;
};

/// several: takes the scenarios of a command that has one or more; null: `chosen.scenario` is the only one.
void add_selection(CLI::App& command, Chosen& chosen, std::vector<std::string>* several = nullptr);
/// Options on what is kept of the runs, for people who look at single ones.
void add_details(CLI::App& command, experiment::Selection& selection);
/// The number of runs at a time and of threads for a run's numbers. Neither changes a result.
void add_pace(CLI::App& command, int& jobs, int& threads);
/// The words of the command that repeats these runs: `simgrad run S.toml --set ...`. Options that change no result,
/// such as --out, --jobs and --threads, are left out.
std::vector<std::string> words_of(const Chosen& chosen);
/// These words, quoted for a shell.
std::string command_of(const Chosen& chosen);
/// The command for a shard's runs, made of its selection: a command that stands in its file is not used.
std::string command_of(const experiment::Origin& origin);
/// A command that stands in a file of results, for people who will paste it: taken apart, read by the parser of options
/// and written again. Empty unless it is a command `simgrad run` or `simgrad plan` with options that select runs, in
/// printable letters. Somebody else may have made the file.
std::string command_in_file(const std::string& text);

experiment::Plan plan_of(Chosen& chosen);
/// The plans of several scenarios.  Errors: none is thrown for their faults, which are printed; then there are no
/// plans, and `exit` is the code.
std::vector<experiment::Plan> plans_of(const Chosen& chosen, const std::vector<std::string>& files, Exit& exit);

/// Prints the warnings of the plan's strategies on stderr, each once.
void print_warnings(const experiment::Plan& plan);
/// "ring  cluster.workers=4  seed=1": what tells a run apart.
std::string run_line(const experiment::RunPlan& run);
/// The runs of a plan with their ids, one line each.
std::string runs_text(const experiment::Plan& plan);

}  // namespace simgrad::cli
