/// The options that select runs, shared by the commands that plan runs.
#pragma once

#include <string>

#include "experiment/plan/plan.h"

namespace CLI {
class App;
}

namespace simgrad::cli {

struct Chosen {
  std::string scenario;
  experiment::Selection selection;
  bool no_baseline = false;
};

void add_selection(CLI::App& command, Chosen& chosen);
/// The number of runs at a time and of threads for a run's numbers. Neither changes a result.
void add_pace(CLI::App& command, int& jobs, int& threads);
/// The command that repeats these runs: `simgrad run S.toml --set ...`, quoted for a shell. Options that change no
/// result, such as --out, --jobs and --threads, are left out.
std::string command_of(const Chosen& chosen);

experiment::Plan plan_of(Chosen& chosen);

/// Prints the warnings of the plan's strategies on stderr, each once.
void print_warnings(const experiment::Plan& plan);
/// The runs of a plan, one line each.
std::string runs_text(const experiment::Plan& plan);

}  // namespace simgrad::cli
