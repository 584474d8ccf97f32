/// One host's speed as virtual time goes on, and how long work takes at it.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>

#include "cluster/stragglers/stragglers.h"

namespace simgrad::cluster {

class SpeedTimeline {
 public:
  explicit SpeedTimeline(std::unique_ptr<SpeedChanges> changes, std::int64_t most_changes = 1'000'000)
      : changes_(std::move(changes)), most_changes_(most_changes) {}

  /// Seconds from `now` (which never goes back) until `work_s` seconds at nominal speed are done; infinite if the work
  /// never ends. The speed is piecewise constant, and its integral exact.
  /// Errors: std::runtime_error if more than `most_changes` happen since the last call or until the work is done.
  double seconds(double now, double work_s);

 private:
  /// The change at that place, counted from the next one; null if there is none.
  const SpeedChange* ahead(std::size_t place);
  /// Errors: std::runtime_error for a change too many.
  void count(std::int64_t changes) const;

  std::unique_ptr<SpeedChanges> changes_;  ///< null once they are over
  std::int64_t most_changes_;
  std::deque<SpeedChange> ahead_;  ///< those not in force yet
  double factor_ = 1.0;            ///< in force
};

}  // namespace simgrad::cluster
