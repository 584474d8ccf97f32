/// Whoever takes the iterations of all replicas through their stages, at their times.
#pragma once

#include <functional>

namespace simgrad::serving {

class Stages {
 public:
  virtual ~Stages() = default;
  Stages() = default;
  Stages(const Stages&) = delete;
  Stages& operator=(const Stages&) = delete;

  /// Once, at the world's beginning.
  virtual void start() = 0;
  /// Starts an actor that is no stage, on the host of that rank.
  virtual void start_beside(int rank, std::function<void()> body) = 0;
  /// There may be work for the replica's first stage.
  virtual void call(int replica) = 0;
};

}  // namespace simgrad::serving
