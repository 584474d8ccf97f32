/// Answering others while the rank itself is busy.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "cluster/ranks/communicator.h"

namespace simgrad::cluster {

/// Listens to members on channels apart from the communicator's own, whatever the rank's main actor does: an actor a
/// member takes each message as it comes and may answer it on the communicator itself. It ends with the rank's
/// generation; a rank is never blocked by who listens to it, so that any pattern of questions is free of deadlock.
///
/// A listener may outlive the rank's main actor for a moment, where that has lost a peer: what it calls must own what
/// it reads. Where failures stop nobody else, who is lost is not listened to until it is back.
class Responder final : private MembershipListener {
 public:
  /// What a message comes to, with the communicator of the actor that took it, whose time is not the rank's. Returns
  /// the answer, if there is one.
  using Respond = std::function<std::optional<Packet>(const Communicator& beside, int source, Packet packet)>;

  Responder(const Communicator& communicator, std::vector<int> members, Respond respond);
  ~Responder() override;
  Responder(const Responder&) = delete;
  Responder& operator=(const Responder&) = delete;

  /// Sends to a member's responder; its answer, if it is to give one, comes on the communicator. Nothing is under way
  /// if the member is lost, where failures stop nobody else.
  [[nodiscard]] Pending start_send(int target, Packet packet) const;

 private:
  void listen(std::size_t place);
  std::optional<std::size_t> place(int rank) const;
  void on_crash(int rank) override;
  void on_detected(int /*rank*/) override {}
  void on_rejoin(int rank) override;

  const Communicator& communicator_;
  Communicator own_channels_;
  std::vector<int> members_;
  std::shared_ptr<const Respond> respond_;
  std::shared_ptr<std::vector<MembershipListener*>>
      membership_listeners_;             ///< the world's; null: this one watches nothing
  std::vector<std::int64_t> listeners_;  ///< actors, by place in members_
};

}  // namespace simgrad::cluster
