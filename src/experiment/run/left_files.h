/// Files that earlier commands have left in a results directory.
#pragma once

#include <string>

namespace simgrad::experiment {

/// Removes the temporary files of writers that were killed, in the directory and in the folders that are its own.
void remove_temporary_files(const std::string& out);

/// Removes the files of an experiment that another one replaces: records, timelines, trajectories, traces, events,
/// trials, the report, the database. results.json and the tables stay until they are written again, and files with
/// names that simgrad does not give stay for good.
void remove_files_of_experiment(const std::string& out);

}  // namespace simgrad::experiment
