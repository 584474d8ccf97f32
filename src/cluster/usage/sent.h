/// Bytes and messages between ranks.
#pragma once

#include <cstdint>
#include <map>
#include <utility>

namespace simgrad::cluster {

/// Totals of one direction between two ranks.
struct Sent {
  std::int64_t bytes = 0;
  std::int64_t messages = 0;

  Sent& operator+=(const Sent& other) {
    bytes += other.bytes;
    messages += other.messages;
    return *this;
  }
};
using SentByPair = std::map<std::pair<int, int>, Sent>;  ///< by source and target

}  // namespace simgrad::cluster
