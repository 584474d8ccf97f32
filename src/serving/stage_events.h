/// Stages that are events: the same times as of StageActors, without an actor that sleeps and wakes.
///
/// SimGrid takes some eight microseconds for an actor's pass through a stage: two sleeps, the sending and the receiving
/// of a message. Here a pass is one event of the clock, and a message a flow on the cluster's own network.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "serving/service.h"
#include "serving/stages.h"

namespace simgrad::serving {

class StageEvents final : public Stages {
 public:
  /// Whether the cluster's network can do without actors, as far as messages between stages need one.
  static bool possible(const cluster::Cluster& cluster, const Layout& layout);

  explicit StageEvents(Service& service);
  ~StageEvents() override;

  void start() override;
  void start_beside(int rank, std::function<void()> body) override;
  void call(int replica) override;

 private:
  class Stage;
  Service& service_;
  std::vector<std::unique_ptr<Stage>> stages_;  ///< by replica, then stage
};

}  // namespace simgrad::serving
