/// Side actors of a rank, one for each of some members, which take what that member sends.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "cluster/ranks/communicator.h"
#include "cluster/ranks/membership.h"

namespace simgrad::cluster {

/// Under recovery = "continue" the actor of a lost member is killed, and starts anew when the member rejoins.
class PeerActors final : private MembershipListener {
 public:
  /// An actor's work.
  using Body = std::function<void()>;
  /// make: the body for a member.  detected: called when a member is known to be lost; may be null.
  PeerActors(const Communicator& communicator, std::vector<int> members, std::function<Body(int member)> make,
             std::function<void(int member)> detected = {});
  PeerActors(const PeerActors&) = delete;
  PeerActors& operator=(const PeerActors&) = delete;

 private:
  void start(std::size_t place);
  /// The place of that rank among the members, if it has one.
  std::optional<std::size_t> place(int rank) const;
  void on_crash(int rank) override;
  void on_detected(int rank) override;
  void on_rejoin(int rank) override;

  const Communicator& communicator_;
  std::vector<int> members_;
  std::function<Body(int member)> make_;
  std::function<void(int member)> detected_;
  std::vector<std::int64_t> actors_;  ///< by place
  Membership::Subscription subscription_;
};

}  // namespace simgrad::cluster
