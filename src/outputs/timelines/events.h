/// A timeline as lines of text, one per event.
#pragma once

#include <string>

#include "record/timeline.h"

namespace simgrad::outputs {

/// Returns the events by time and rank: computing, each message (at its sender), reading and writing, waiting, being
/// down. Time in which a rank is blocked on a message has no line: the message has one. Columns: from [s], to [s],
/// rank, kind, name, step, bytes, peer. Equal timelines give equal bytes.
std::string events_text(const record::Timeline& timeline, int workers);

}  // namespace simgrad::outputs
