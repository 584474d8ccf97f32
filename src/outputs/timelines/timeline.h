/// Timelines as files: JSON, packed by gzip. Attributes are columns, so that a thousand spans are a few arrays.
#pragma once

#include <cstddef>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "record/timeline.h"

namespace simgrad::outputs {

/// Returns {"schema": 1, "run": the id, "from_s", "to_s", "whole", "names", "ranks", "rank_names",
///  "spans": {"rank", "lane", "kind", "name", "step", "peer", "bytes", "from_s", "to_s", "cause", and "micro" where a
///  span has a micro-batch}, "messages": {"source", "target", "bytes", "step", "name", "start_s", "end_s"}}; kinds are
///  0 compute, 1 communicate,
/// 2 wait, 3 down; names are indices into "names"; a cause is the number of a wait's part of time
/// (record/time_part.h), or -1 where none is known. Times are seconds. Equal timelines give equal bytes.
std::string timeline_json(const record::Timeline& timeline, const std::string& run);
/// The most bytes of a timeline in a results directory, unpacked. It has some 1500 spans and four times as many
/// messages (cluster::TimelineLimits), of 250 bytes at most: two million bytes. The rest is for the names of its ranks.
inline constexpr std::size_t timeline_bytes_most = std::size_t{16} << 20;

/// The file of a run's timeline: <directory>/timelines/<stem>.json.gz.  stem: as of outputs/files/run_stem.h.
std::string timeline_file(const std::string& directory, const std::string& stem);
/// Errors: base::EnvironmentError for a file that cannot be written, and for a timeline of more bytes than that.
void write_timeline(const std::string& directory, const record::Timeline& timeline, const std::string& stem);
/// Whether the run's timeline is in the directory, and is whole: a file that a machine's death has left empty, full of
/// zeros or cut off is not, and nor is one that unpacks to more bytes than a timeline has, or a link.
bool has_timeline(const std::string& directory, const std::string& stem);
/// Whether the file begins as the timeline of the run with the id does. Follows no link.
bool begins_as_timeline(const std::string& file, const std::string& run);
/// Reads the run's timeline; nothing without its file.  Errors: base::EnvironmentError for a file that cannot be
/// opened; base::ScenarioError, with the file's name, for one that is damaged and for contents that are wrong.
std::optional<record::Timeline> read_timeline(const std::string& directory, const std::string& stem);
/// Reads the timeline of a run.  run: the id that the file must have.
/// Errors: base::EnvironmentError for a member that is missing, of another type, of another length or out of bounds,
/// and for another run.
record::Timeline timeline_from_json(const nlohmann::ordered_json& json, const std::string& run);

}  // namespace simgrad::outputs
