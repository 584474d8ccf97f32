/// The time of messages that go at one time on an idle network.
#pragma once

#include <cstdint>
#include <span>
#include <unordered_map>
#include <utility>
#include <vector>

#include "cluster/computed/member_routes.h"
#include "cluster/fabric/link_numbers.h"

namespace simgrad::cluster {
class Cluster;
}

namespace simgrad::strategies {

/// A message's time: latency, and seconds a byte.
struct MessageCost {
  double latency_s = 0.0;
  double s_per_byte = 0.0;
  bool operator==(const MessageCost&) const = default;
  double seconds(double bytes) const { return latency_s + bytes * s_per_byte; }
};

/// Routes between ranks; rank r lives on host r.
class ConcurrentMessages {
 public:
  explicit ConcurrentMessages(const cluster::Cluster& cluster) : cluster_(cluster), numbers_(cluster) {}

  /// The slowest of messages from a rank to another one, all of one size and at one time. Those on one link share it
  /// equally: the cost is exact where all find their narrowest share on links with as many messages.
  MessageCost slowest(std::span<const std::pair<int, int>> messages);

 private:
  const cluster::MemberRoute& route(int from, int to);

  const cluster::Cluster& cluster_;
  cluster::LinkNumbers numbers_;
  std::unordered_map<std::uint64_t, cluster::MemberRoute> known_;
  std::vector<int> on_link_;  ///< by link number: messages of this call
};

}  // namespace simgrad::strategies
