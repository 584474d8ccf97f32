/// Hosts that crash at given times, and how the training recovers.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "base/describe.h"

namespace simgrad::cluster {

/// The host of one worker goes down: its actors die, its transfers break.
struct Crash : base::Described {
  std::int64_t rank = 0;
  double at_s = 0.0;
  std::optional<double> repair_s;  ///< from the crash until the host is back; without it it never is

  void describe(base::Describer& d) override;
};

enum class Recovery {
  restart,  ///< everybody waits for the repair, then all ranks go on from the last checkpoint
  shrink    ///< the others go on from the last checkpoint at once, with one rank fewer
};

struct FailureOptions : base::Described {
  std::vector<Crash> crashes;
  double detection_s = 0.1;
  Recovery recovery = Recovery::restart;

  void describe(base::Describer& d) override;
};

}  // namespace simgrad::cluster
