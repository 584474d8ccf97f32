/// Several scenarios in one command: all of them are read, and their faults told, before any is run.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "cli/cli.h"
#include "experiment/plan/plan.h"

namespace simgrad::cli {

/// A scenario's plan, or the faults for which it has none.
struct ReadScenario {
  std::string file;
  std::optional<experiment::Plan> plan = {};
  std::vector<std::string> faults = {};
  Exit exit = Exit::usage;  ///< of a scenario with faults
};

/// Reads all scenarios, and prints all faults on stderr.
std::vector<ReadScenario> read_scenarios(const std::vector<std::string>& files, const experiment::Selection& selection);

/// Refuses scenarios whose results would overwrite each other, because their files have one stem.
/// out: the directory in which each has its own; action: "run" or "check".  Errors: ScenarioError naming each of them.
void refuse_equal_names(const std::vector<ReadScenario>& all, const std::string& out, const char* action);

/// The code that the action returns; of an action that throws, that of the fault, which is printed.
Exit told(const std::function<Exit()>& action);

/// Data files of up to so many bytes are read before anything is run.
inline constexpr std::uintmax_t readable_bytes = 64 << 20;

/// The exit code of several scenarios: the worst. From bad to good these are: interrupted (130), environment (5),
/// a scenario that is at fault (2), every run failed (1), some runs failed (4), ok (0).
Exit worst(Exit a, Exit b);

}  // namespace simgrad::cli
