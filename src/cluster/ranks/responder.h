/// Answering others while the rank itself is busy.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "cluster/ranks/absorber.h"
#include "cluster/ranks/communicator.h"
#include "cluster/ranks/peer_actors.h"

namespace simgrad::cluster {

/// Receives from members on channels apart from the communicator's own, whatever the rank's main actor does. One side
/// actor for each member takes each message as it comes, and may answer it on the communicator itself; where messages
/// are not answered, one side actor takes those of all members if the cluster's network allows it. The side actors
/// end with the rank's generation. A rank is never blocked by them, so that any pattern of requests is free of
/// deadlock.
///
/// A side actor may outlive the rank's main actor for a moment, where the main actor has lost a peer. So the function
/// must own everything that it reads. Under recovery = "continue" nothing is received from a lost member until it is
/// back.
class Responder {
 public:
  /// Takes a message, with the communicator of the side actor, whose time is not the rank's. Returns the answer, if
  /// there is one.
  using Respond = std::function<std::optional<Packet>(const Communicator& side, int source, Packet packet)>;

  /// absorption: what `respond` does with messages in a run without failures, where it answers none; if it does.
  Responder(const Communicator& communicator, std::vector<int> members, Respond respond,
            const Absorption& absorption = {});
  Responder(const Responder&) = delete;
  Responder& operator=(const Responder&) = delete;

  /// Sends to a member's responder, whose answer, if any, comes on the communicator. Sends nothing if the member is
  /// lost under recovery = "continue".
  [[nodiscard]] Pending start_send(int target, Packet packet) const;

 private:
  PeerActors::Body body(int member) const;

  const Communicator& communicator_;
  Communicator questions_;  ///< on channels of their own
  std::shared_ptr<const Respond> respond_;
  std::optional<PeerActors> receivers_;
  std::optional<Absorber> absorber_;
};

}  // namespace simgrad::cluster
