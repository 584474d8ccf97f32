/// Receiving from whoever comes first.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "cluster/ranks/communicator.h"

namespace simgrad::cluster {

/// Receives from many members at once, each message handed out in the order of completion. A receive a member is posted
/// ahead at all times, so that a busy server's link still fills.
///
/// Where failures stop nobody else, who is lost is not listened to until it is back.
class Inbox final : private MembershipListener {
 public:
  enum class Losses { untold, told };
  /// Starts to receive from members first .. first + count - 1.  told: an arrival says when a member is known to be
  /// lost.
  Inbox(const Communicator& communicator, int first, int count, Losses losses = Losses::untold);
  ~Inbox() override;
  Inbox(const Inbox&) = delete;
  Inbox& operator=(const Inbox&) = delete;

  struct Arrival {
    int source = 0;
    Packet packet;
    bool lost = false;  ///< no message: the source is lost
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
  /// Puts an entry on the shelf, for which the rank may be waiting: from now on it is not stuck.
  static void put(const Communicator& communicator, Shelf& shelf, Arrival arrival, double transfer_start_s);
  std::optional<Arrival> take(std::optional<double> timeout_s);
  void listen(int member);
  /// The place in `listeners_` of that rank, or nothing.
  std::optional<std::size_t> place(int rank) const;
  void on_crash(int rank) override;
  void on_detected(int rank) override;
  void on_rejoin(int rank) override;

  const Communicator& communicator_;
  std::shared_ptr<Shelf> shelf_;
  std::shared_ptr<std::vector<MembershipListener*>>
      membership_listeners_;  ///< the world's; null: this one watches nothing
  int first_;
  Losses losses_;
  std::vector<std::int64_t> listeners_;  ///< actors, by member
};

}  // namespace simgrad::cluster
