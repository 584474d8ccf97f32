/// Stages that are actors: the first rank of each sends and receives, and sleeps while its stage works.
///
/// On any network. A stage asks for the next message as it begins to work on the one before, so that one message at
/// most is on its way to it, and one has come.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "cluster/ranks/communicator.h"
#include "cluster/ranks/signal.h"
#include "serving/service.h"
#include "serving/stages.h"

namespace simgrad::serving {

class StageActors final : public Stages {
 public:
  explicit StageActors(Service& service);

  void start() override;
  void start_beside(int rank, std::function<void()> body) override;
  void call(int replica) override { signal(replica).give(); }

 private:
  cluster::Signal& signal(int replica) { return *signals_[static_cast<std::size_t>(replica)]; }
  cluster::Communicator leaders(int replica, int stage) const;
  void first_stage(int replica);
  void later_stage(int replica, int stage);
  void take_tokens(const cluster::Communicator& comm, int replica);
  void pass(Flight& flight, int stage);

  Service& service_;
  cluster::World& world_;
  std::vector<std::unique_ptr<cluster::Signal>> signals_;  ///< there may be work for the replica's first stage
};

}  // namespace simgrad::serving
