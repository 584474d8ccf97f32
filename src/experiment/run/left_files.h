/// Files that earlier commands have left in a results directory.
#pragma once

#include <string>
#include <string_view>

namespace simgrad::experiment {

/// Refuses a link in the place of a folder of a results directory.  Errors: EnvironmentError.
void refuse_linked_folders(const std::string& out);

/// Whether a name is a hash, as the keys of trajectories are.
bool is_hash_name(std::string_view name);

/// Removes the temporary files of writers that were killed, in the directory and in the folders that are its own: those
/// that would have become one of its files.
void remove_temporary_files(const std::string& out);

/// Removes the files of an experiment that another one replaces: records, models, timelines, trajectories, traces,
/// events, trials, the report, the database. A file is one of them by its name and by its first bytes, and is no link.
/// results.json and the tables stay until they are written again, and all other files stay for good.
void remove_files_of_experiment(const std::string& out);

/// Whether an experiment has left more of these files, or of the tables, than experiment.json.
bool has_files_of_experiment(const std::string& out);

/// Moves them into another directory, experiment.json last: whatever ends it before, the rest is still the same
/// experiment's. Other files stay, as do the folders of shards.  Errors: std::filesystem::filesystem_error.
void move_files_of_experiment(const std::string& out, const std::string& to);

}  // namespace simgrad::experiment
