/// The options that say what to run, shared by the commands that plan runs.
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
/// How many runs at a time, and threads for the numbers of one: which changes no result.
void add_pace(CLI::App& command, int& jobs, int& threads);
/// The command that asks for the same runs: `simgrad run S.toml --set ...`, quoted for a shell.  Where results go, and
/// how many runs and threads there are at a time, changes no result and is left out.
std::string command_of(const Chosen& chosen);

experiment::Plan plan_of(Chosen& chosen);

/// On stderr, each once: what the strategies that will run warn of.
void print_warnings(const experiment::Plan& plan);
/// The runs of a plan, a line each.
std::string runs_text(const experiment::Plan& plan);

}  // namespace simgrad::cli
