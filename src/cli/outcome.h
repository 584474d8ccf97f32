/// The end of a command that has the results of an experiment.
#pragma once

#include <string>
#include <vector>

#include "cli/cli.h"
#include "outputs/results.h"

namespace simgrad::cli {

/// The results directory of an experiment where the command line names none: out/<name>.
/// Errors: EnvironmentError for a link of that name, since nobody has asked to write behind it.
std::string default_directory(const std::string& name);

/// By the runs that failed, and whether all are there.
Exit exit_of(const outputs::Results& results);

/// "Results: out/x/results.json, runs.csv, ...": the files that a command has written into a directory.
std::string results_line(const std::string& out, bool has_database, bool has_page);

/// Prints failed runs on stderr, since --quiet never silences errors.
void print_errors(const std::vector<outputs::Run>& runs);

}  // namespace simgrad::cli
