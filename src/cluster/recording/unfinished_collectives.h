/// Computed collectives in the middle, as timelines show them.
#pragma once

#include <map>
#include <vector>

#include "cluster/recording/track.h"
#include "record/timeline.h"

namespace simgrad::cluster {

/// Collectives at which not all members have arrived, until now; where somebody records.
struct UnfinishedCollectives {
  std::map<const Track*, std::vector<Interval>> intervals;
  std::vector<record::TimedMessage> messages;
};

}  // namespace simgrad::cluster
