#include "cli/scenarios.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>

#include "base/errors.h"
#include "base/say.h"

namespace simgrad::cli {

std::vector<ReadScenario> read_scenarios(const std::vector<std::string>& files,
                                         const experiment::Selection& selection) {
  std::vector<ReadScenario> all;
  for (const std::string& file : files) {
    ReadScenario& read = all.emplace_back(ReadScenario{.file = file});
    try {
      read.plan = experiment::make_plan(file, selection);
    } catch (const base::ScenarioError& error) {
      read.faults = error.faults();
    } catch (const base::EnvironmentError& error) {
      read.faults = {error.what()};
      read.exit = Exit::environment;
    }
    for (const std::string& fault : read.faults) base::say(fault);
  }
  return all;
}

void refuse_equal_names(const std::vector<ReadScenario>& all, const std::string& out, const char* action) {
  std::vector<std::string> faults;
  std::set<std::string> names;
  for (const ReadScenario& each : all)
    if (each.plan && !names.insert(each.plan->name).second)
      faults.push_back(
          fmt::format("{}: two scenarios are called \"{}\", so their results would overwrite each other in {}; "
                      "{} them one after the other",
                      each.file, each.plan->name, out, action));
  if (!faults.empty()) throw base::ScenarioError(faults);
}

Exit told(const std::function<Exit()>& action) {
  try {
    return action();
  } catch (const base::ScenarioError& error) {
    for (const std::string& fault : error.faults()) base::say(fault);
    return Exit::usage;
  } catch (const base::EnvironmentError& error) {
    base::say(error.what());
    return Exit::environment;
  }
}

Exit worst(Exit a, Exit b) {
  constexpr std::array order{Exit::interrupted,      Exit::environment,      Exit::usage,
                             Exit::every_run_failed, Exit::some_runs_failed, Exit::expectation_failed};
  for (const Exit each : order)
    if (a == each || b == each) return each;
  return Exit::ok;
}

}  // namespace simgrad::cli
