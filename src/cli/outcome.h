/// The end of a command that has the results of an experiment.
#pragma once

#include <vector>

#include "cli/cli.h"
#include "outputs/results.h"

namespace simgrad::cli {

/// By the runs that failed, and whether all are there.
Exit exit_of(const outputs::Results& results);

/// Prints failed runs on stderr, since --quiet never silences errors.
void print_errors(const std::vector<outputs::Run>& runs);

}  // namespace simgrad::cli
