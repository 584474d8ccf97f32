/// One host's speed as virtual time goes on, and how long work takes at it.
#pragma once

#include <deque>
#include <memory>
#include <optional>

#include "cluster/stragglers/stragglers.h"

namespace simgrad::cluster {

class SpeedTimeline {
 public:
  explicit SpeedTimeline(std::unique_ptr<SpeedChanges> changes) : changes_(std::move(changes)) {}

  /// Seconds from `now` (which never goes back) until `work_s` seconds at nominal speed are done; infinite if the work
  /// never ends. The speed is piecewise constant, and its integral exact.
  double seconds(double now, double work_s);

 private:
  /// The change at that place, counted from the next one; null if there is none.
  const SpeedChange* ahead(std::size_t place);

  std::unique_ptr<SpeedChanges> changes_;  ///< null once they are over
  std::deque<SpeedChange> ahead_;          ///< those not in force yet
  double factor_ = 1.0;                    ///< in force
};

}  // namespace simgrad::cluster
