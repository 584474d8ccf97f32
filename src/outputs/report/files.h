/// The report's files: read from a directory of results, and written into it.
#pragma once

#include <string>

#include "outputs/report/report.h"

namespace simgrad::outputs::report {

/// Reads results.json of the directory, and plan.json where `simgrad plan` has written both.
/// Errors: base::EnvironmentError for a file that cannot be read; base::ScenarioError for contents that are wrong, with
/// the file's name, and line and column where it is not JSON.
Results read_results(const std::string& directory);

/// Returns a function that reads timelines/<stem>.json.gz of the directory when it is called. Errors of the call: as of
/// read_results.
TimelineOf timelines_in(const std::string& directory);

/// A hash of the sizes of those files of the runs, and of the times at which they were changed.
std::string state_of_timelines(const std::string& directory, const Results& results);

}  // namespace simgrad::outputs::report
