/// The messages between the stages of a pipeline, in one direction.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <vector>

#include "cluster/ranks/communicator.h"
#include "cluster/ranks/pending.h"

namespace simgrad::strategies {

class Hops {
 public:
  struct Message {
    values::Tensor numbers;
    bool is_part = false;  ///< one tensor rank's of them
  };

  /// The member that this rank's n-th message comes from, or goes to.
  using Peer = std::function<int(std::int64_t nth)>;
  /// comm: on channels of this direction's own; it is taken over.
  Hops(cluster::Communicator comm, Peer from, Peer to);
  /// comm: of the stages.  step: 1 towards the last stage, -1 back. The last stage is followed by the first one, for
  /// its next chunk.
  static Hops along(const cluster::Communicator& comm, int step);

  /// Posts receives until so many are posted, so that a sender does not wait for this rank's work.
  void expect(std::size_t receives);
  /// Blocks until the next message is there, which is for that piece of the model and that micro-batch.
  Message receive(int piece, int micro);
  /// Sends without blocking.
  void send(Message message, int piece, int micro);
  /// Blocks until all messages sent have arrived.
  void wait_for_sends() { cluster::wait_for_sends(sent_); }
  /// Drops the messages sent that have arrived.
  void drop_arrived();

 private:
  cluster::Communicator comm_;
  Peer from_, to_;
  std::int64_t posted_ = 0, begun_ = 0;  ///< receives and sends
  std::deque<cluster::Pending> expected_;
  std::vector<cluster::Pending> sent_;
};

}  // namespace simgrad::strategies
