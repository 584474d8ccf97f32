// A timeline of two ranks, small enough to be checked by eye.
#pragma once

#include "record/timeline.h"

namespace simgrad::tests {

/// Rank 0 computes until 2 s and sends 8 bytes until 3 s; rank 1 computes until 1 s, waits for the message and takes
/// it.
inline record::Timeline two_ranks() {
  using record::Activity;
  record::Timeline timeline;
  timeline.names = {"idle", "gradient", "gossip"};
  timeline.ranks = {0, 1};
  timeline.rank_names = {"rank 0 (host-0)", "rank \"1\" (host-1)"};
  timeline.to_s = 3.0;
  timeline.spans = {{0, 0, Activity::compute, 1, 0, -1, 0, 0.0, 2.0},
                    {0, 0, Activity::communicate, 2, 0, 1, 8, 2.0, 3.0},
                    {1, 0, Activity::compute, 1, 0, -1, 0, 0.0, 1.0},
                    {1, 0, Activity::wait, 2, 0, 0, 8, 1.0, 2.0},
                    {1, 0, Activity::communicate, 2, 0, 0, 8, 2.0, 3.0}};
  timeline.messages = {{0, 1, 8, 0, 2, 2.0, 3.0}};
  return timeline;
}

}  // namespace simgrad::tests
