/// Scenarios, from their text to the list of runs, and values of the command line.
#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "base/errors.h"
#include "experiment/plan/plan.h"
#include "experiment/run/runner.h"
#include "fuzz/targets.h"
#include "scenario/document.h"

namespace simgrad::fuzz {

namespace {

/// Small files that scenarios of the corpus name.
void write_companions() {
  static const bool once = [] {
    files().write("data.csv", "a,b,c\n1,2,3\n2,x,5\n4,y,6\n7,x,9\n");
    files().write("data.libsvm", "+1 1:0.5 3:1\n-1 2:2\n+1 1:1\n-1 3:4\n");
    files().write("graph.edges", "0 1\n1 2\n2 3\n3 0\n");
    files().write("mixing.txt", "0.5 0.5 0 0\n0.5 0.5 0 0\n0 0 0.5 0.5\n0 0 0.5 0.5\n");
    files().write("failures.csv", "host,down_at,up_at\n0,0.5,1\n1,2,\n");
    files().write("speeds.txt", "0 1\n1 0.5\nPERIODICITY 2\n");
    return true;
  }();
  static_cast<void>(once);
}

/// As `simgrad validate` does.
experiment::Plan validated(const std::string& file, const experiment::Selection& selection) {
  experiment::Plan plan = experiment::make_plan(file, selection);
  experiment::check_files(plan, UINTMAX_MAX);
  std::set<std::string> ids;
  for (const experiment::RunPlan& run : plan.runs) {
    run.strategy->warnings(run.workers, run.seed);
    expect(ids.insert(run.id).second || !run.jobs.empty(), "two runs of one id");
  }
  expect(!scenario::toml(plan.scenario).empty(), "nothing is resolved");
  return plan;
}

}  // namespace

void read_scenario(const std::string& bytes) {
  write_companions();
  validated(files().write("scenario.toml", bytes), {});
}

void read_arguments(const std::string& bytes) {
  const std::string file = files().write("small.toml", small_scenario);
  experiment::Selection selection;
  std::vector<std::string>* const lists[] = {&selection.sets, &selection.grids, &selection.strategies};
  std::size_t line = 0;
  for (std::size_t from = 0; from < bytes.size();) {
    const std::size_t end = std::min(bytes.find('\n', from), bytes.size());
    const std::string text = bytes.substr(from, end - from);
    if (line == 0)
      selection.seeds = text;
    else if (!text.empty())
      lists[line % 3]->push_back(text);
    ++line;
    from = end + 1;
  }
  validated(file, selection);
}

}  // namespace simgrad::fuzz
