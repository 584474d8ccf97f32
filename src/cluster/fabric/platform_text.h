/// The text of a platform file, looked at before SimGrid sees it.
///
/// SimGrid obeys what else may stand in such a file: options of its own, one of which makes it write to any path, and
/// programs to start. Its reader has no limits.
#pragma once

#include <string>

namespace simgrad::cluster {

/// Refuses a platform whose text does more than to describe hosts and links, or more of them than a run can have.
/// The files of speeds and states that it names are read, too: each must be a regular one.
/// Errors: base::ScenarioError with file, line and column; base::EnvironmentError for a file that cannot be read.
void check_platform_text(const std::string& file);

}  // namespace simgrad::cluster
