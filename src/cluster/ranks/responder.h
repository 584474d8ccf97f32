/// Answering others while the rank itself is busy.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "cluster/ranks/communicator.h"
#include "cluster/ranks/peer_actors.h"

namespace simgrad::cluster {

/// Receives from members on channels apart from the communicator's own, whatever the rank's main actor does: a side
/// actor a member takes each message as it comes, and may answer it on the communicator itself. It ends with the rank's
/// generation; a rank is never blocked by its side actors, so that any pattern of questions is free of deadlock.
///
/// A side actor may outlive the rank's main actor for a moment, where that one has lost a peer: the function that it
/// calls must own whatever it reads. Under recovery = "continue" nothing is received from a lost member until it is
/// back.
class Responder {
 public:
  /// Takes a message, with the communicator of the side actor, whose time is not the rank's. Returns the answer, if
  /// there is one.
  using Respond = std::function<std::optional<Packet>(const Communicator& side, int source, Packet packet)>;

  Responder(const Communicator& communicator, std::vector<int> members, Respond respond);
  Responder(const Responder&) = delete;
  Responder& operator=(const Responder&) = delete;

  /// Sends to a member's responder; its answer, if it is to give one, comes on the communicator. Nothing is under way
  /// if the member is lost under recovery = "continue".
  [[nodiscard]] Pending start_send(int target, Packet packet) const;

 private:
  PeerActors::Body body(int member) const;

  const Communicator& communicator_;
  Communicator questions_;  ///< on channels of their own
  std::shared_ptr<const Respond> respond_;
  PeerActors receivers_;
};

}  // namespace simgrad::cluster
