/// Timelines as JSON files. Attributes are columns, so that a thousand spans are a few arrays.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "record/timeline.h"

namespace simgrad::outputs {

/// Returns {"schema": 1, "run": the id, "from_s", "to_s", "whole", "names", "ranks", "rank_names",
///  "spans": {"rank", "lane", "kind", "name", "step", "peer", "bytes", "from_s", "to_s", "cause"},
///  "messages": {"source", "target", "bytes", "step", "name", "start_s", "end_s"}}; kinds are 0 compute, 1 communicate,
/// 2 wait, 3 down; names are indices into "names"; a cause is the number of a wait's part of time
/// (record/time_part.h), or -1 where none is known. Times are seconds. Equal timelines give equal bytes.
std::string timeline_json(const record::Timeline& timeline, const std::string& run);
/// Whether a file begins and ends as timeline_json of this run does. A file that a machine's death has left empty, full
/// of zeros or cut off does not. Costs a few system calls, whatever the file's size.
bool is_whole_timeline(const std::string& file, const std::string& run);
/// Reads the timeline of a run.  run: the id that the file must have.
/// Errors: base::EnvironmentError for a member that is missing, of another type, of another length or out of bounds,
/// and for another run.
record::Timeline timeline_from_json(const nlohmann::ordered_json& json, const std::string& run);

}  // namespace simgrad::outputs
