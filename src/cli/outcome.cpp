#include "cli/outcome.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/files.h"
#include "base/say.h"
#include "outputs/text/language.h"

namespace simgrad::cli {

namespace {

bool failed(const outputs::Run& run) { return run.record.status == record::Status::failed; }

}  // namespace

std::string default_directory(const std::string& name) {
  std::string directory = "out/" + name;
  base::refuse_linked_folder(directory);
  return directory;
}

Exit exit_of(const outputs::Results& results) {
  if (!results.complete) return Exit::interrupted;
  if (std::ranges::all_of(results.runs, failed)) return Exit::every_run_failed;
  const bool some = std::ranges::any_of(results.runs, failed) || std::ranges::any_of(results.baselines, failed);
  return some ? Exit::some_runs_failed : Exit::ok;
}

std::string results_line(const std::string& out, bool has_database, bool has_page) {
  return outputs::tr("Results: {}/results.json, runs.csv, summary.csv, curves.csv, ranks.csv, links.csv{}{}",
                     base::printable(out), has_database ? ", results.sqlite" : "", has_page ? ", report.html" : "");
}

void print_errors(const std::vector<outputs::Run>& runs) {
  for (const outputs::Run& run : runs)
    if (failed(run)) base::say(fmt::format("{} {}: {}", run.id, run.label, run.record.error));
}

}  // namespace simgrad::cli
