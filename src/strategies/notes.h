/// Notes that several strategies write beside a message's array.
#pragma once

#include <cstdint>

namespace simgrad::strategies {

/// The version of parameters: the updates that led to the array's parameters, or to those at which its gradient was
/// computed.
struct Version {
  std::int64_t step = 0;
};

}  // namespace simgrad::strategies
