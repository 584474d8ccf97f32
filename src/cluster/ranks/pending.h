/// A transfer under way.
#pragma once

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "cluster/ranks/packet.h"
#include "cluster/ranks/transfer.h"

namespace simgrad::cluster {

class ActorState;
class Communicator;
struct Message;

/// wait() blocks in virtual time until the transfer is over. It must not outlive its communicator.
///
/// A transfer that is dropped before it is over, because its actor ends, stays alive until a later date (see
/// Messenger): the world still asks when it started, and SimGrid prints a backtrace for a transfer destroyed in flight.
class Pending {
 public:
  /// Nothing is under way.
  Pending() = default;
  /// A transfer that is about to start.  landing: of a receive; null of a send.  other_end: where the channel names the
  /// peer's actor.  bytes: of a send.
  Pending(const Communicator& communicator, int peer, Message** landing, const ActorState* const* other_end,
          std::int64_t bytes);
  Pending(Pending&& other) noexcept;
  Pending& operator=(Pending&& other) noexcept;
  ~Pending();

  void started(AnyTransfer transfer) { transfer_ = std::move(transfer); }
  /// The packet received; an empty one for a send. Errors: PeerLost.
  Packet wait();
  /// As wait(); nothing if the peer is lost under recovery = "continue". Otherwise: PeerLost.
  std::optional<Packet> wait_unless_lost();
  /// Blocks until that time while the transfer is under way. Whether it is over then is not asked for.
  void wait_until(double at_s);
  /// Whether wait() is still to be called.
  bool under_way() const { return static_cast<bool>(transfer_); }
  /// Whether wait() would not block.
  bool over() const { return !transfer_ || transfer_.over(); }
  /// After wait(): when the transfer started.
  double start_s() const { return start_s_; }

 private:
  void block(int peer);
  void abandon();

  const Communicator* communicator_ = nullptr;  ///< outlives its transfers
  AnyTransfer transfer_;
  Message** landing_ = nullptr;
  const ActorState* const* other_end_ = nullptr;
  int peer_ = -1;
  int incarnation_ = 0;  ///< the peer's
  std::int64_t bytes_ = 0;
  double start_s_ = -1.0;
};

/// Blocks until these messages have arrived, or their receivers are lost; then there are none left.
void wait_for_sends(std::vector<Pending>& sends);

}  // namespace simgrad::cluster
