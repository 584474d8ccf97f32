/// Taking messages that are not answered, beside a rank, from any number of members.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "cluster/ranks/actor_state.h"
#include "cluster/ranks/communicator.h"

namespace simgrad::cluster {

/// A message that is taken and not answered: how many flops it takes, and what it does after their time.
struct Absorption {
  std::function<double(const Packet& packet)> flops;
  std::function<void(int source, const Packet& packet)> take;  ///< null: messages are answered
};

/// One actor beside a rank that takes all members' messages. Each takes its own time, at the rank's speed, whatever
/// else is taken meanwhile, as if a core were there for it; the next message of its member can start after that. Only
/// on a cluster with a network of its own, and where the rank shares its cores with nobody.
class Absorber {
 public:
  Absorber(const Communicator& communicator, const std::vector<int>& members, Absorption absorption);
  Absorber(const Absorber&) = delete;
  Absorber& operator=(const Absorber&) = delete;

 private:
  class Taker;
  std::shared_ptr<Taker> taker_;  ///< with its actor, whichever lives longer
};

}  // namespace simgrad::cluster
