/// Timelines as files: a column an attribute, so that a thousand spans are a few arrays.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "record/timeline.h"

namespace simgrad::outputs {

/// {"schema": 1, "run": its id, "from_s", "to_s", "whole", "names", "ranks", "rank_names",
///  "spans": {"rank", "lane", "kind", "name", "step", "peer", "bytes", "from_s", "to_s"},
///  "messages": {"source", "target", "bytes", "step", "name", "start_s", "end_s"}}; kinds are 0 compute, 1 communicate,
/// 2 wait, 3 down; names are places in "names". Equal timelines give equal bytes.
std::string timeline_json(const record::Timeline& timeline, const std::string& run);
/// run: whose timeline it must be.
/// Errors: base::EnvironmentError for what is missing, of another type, of another length, out of bounds, or of
/// another run.
record::Timeline timeline_from_json(const nlohmann::ordered_json& json, const std::string& run);

}  // namespace simgrad::outputs
