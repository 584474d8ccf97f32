/// The names of a run's files: its record, timeline, trace, events and model.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "outputs/results.h"

namespace simgrad::outputs {

/// "gossip-w8-s1-8a2b757412345678": the label, the workers, the seed and the id, which determines all of them, so that
/// a run always has the same name. Has letters, digits, "-" and "_" alone: no label leads out of a folder.
std::string run_stem(std::string_view label, std::int64_t workers, std::uint64_t seed, std::string_view id);
std::string run_stem(const Run& run);

/// The id at the end of such a name, or the whole of a name that is an id.
std::string id_in_stem(std::string_view stem);

/// Whether a name is an id, or ends in one as run_stem writes it.
bool is_run_stem(std::string_view name);

}  // namespace simgrad::outputs
