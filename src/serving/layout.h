/// The ranks that answer requests: replicas of the model, each cut into stages, each stage among tensor ranks.
#pragma once

#include <cstdint>
#include <vector>

namespace simgrad::serving {

struct Layout {
  int tensor = 1, pipeline = 1;
  /// By replica, stage and tensor rank: the ranks of the cluster.
  std::vector<std::vector<std::vector<int>>> ranks;

  int replicas() const { return static_cast<int>(ranks.size()); }
  int count() const { return tensor * pipeline * replicas(); }
};

}  // namespace simgrad::serving
