/// Notes that several strategies write beside a message's array.
#pragma once

#include <cstdint>

namespace simgrad::strategies {

/// The number of updates that made the parameters which the array holds, or at which its gradient was computed.
struct Version {
  std::int64_t step = 0;
};

}  // namespace simgrad::strategies
