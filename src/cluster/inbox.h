/// Receiving from whoever comes first.
#pragma once

#include <memory>
#include <optional>
#include <span>

#include "cluster/communicator.h"

namespace simgrad::cluster {

/// Receives from many members at once, each message handed out in the order of completion. A receive a member is posted
/// ahead at all times, so that a busy server's link still fills.
class Inbox {
 public:
  /// Starts to receive from members first .. first + count - 1.
  Inbox(const Communicator& communicator, int first, int count);

  struct Arrival {
    int source = 0;
    Packet packet;
  };
  /// Blocks until a message has come in.
  Arrival next();
  /// Blocks until then at the latest; nothing if no message has come in.
  std::optional<Arrival> next_until(double virtual_s);
  /// Computes, but gives up when a message comes in or is there already. Returns whether it got to the end.
  /// Virtual time: the flops', at the rank's speed, or until the message. The rank is alone on its cores.
  bool compute(double flops);

 private:
  struct Shelf;
  std::optional<Arrival> take(std::optional<double> timeout_s);

  const Communicator& communicator_;
  std::shared_ptr<Shelf> shelf_;
};

}  // namespace simgrad::cluster
