/// A timeline as lines of text.
#pragma once

#include <string>

#include "record/timeline.h"

namespace simgrad::outputs {

/// One line an event, by time and rank: what a rank computes, each message (at its sender), what it reads or writes,
/// what it waits for, and when it is down. A blocked rank's share of a message is told by the message. Columns: from
/// and to [s], rank, kind, what, step, bytes, peer. Equal timelines give equal bytes.
std::string events_text(const record::Timeline& timeline, int workers);

}  // namespace simgrad::outputs
