/// Replays what the actors of a computed collective's members would have done message by message.
#pragma once

#include <limits>
#include <memory>
#include <vector>

#include "cluster/computed/collective_timing.h"
#include "cluster/usage/sent.h"

namespace simgrad::cluster {

class Account;
class ActorState;
struct PartTimes;
struct PlannedPart;

/// A collective that is broken off is no call of all its members whose waiting has one cause, that of its last arrival.
/// Each member is in the middle of some transfer or sum then, or waits for somebody who may have died, and its account
/// is that of an actor that has come so far. Here copies of the members' accounts go there, step by step.
class MembersReplay final : public TimingObserver {
 public:
  static constexpr double never = std::numeric_limits<double>::infinity();

  struct Member {
    const ActorState* at_arrival = nullptr;  ///< null: it has not come
    const ActorState* before = nullptr;      ///< whom others wait for until the member has come
    int rank = 0;
    double arrival_s = never;
    double until_s = 0.0;       ///< so far it is replayed
    bool dies = false;          ///< then
    double followed_s = never;  ///< since when its rank has waited for this side actor
  };

  explicit MembersReplay(std::vector<Member> members);

  bool has(std::size_t member) const { return members_[member].at_arrival != nullptr; }
  /// Others wait for that state until the member has come.
  void set_before(std::size_t member, const ActorState& state) { members_[member].before = &state; }

  /// All parts are replayed in the order of their phases.  until_s: of the last member.
  void replay(const PlannedPart& part, const PartTimes& times, double until_s);
  /// Then each member's time is added up to its end.
  void settle();

  /// A member's state, and its account at its end: when it died, or now.
  const ActorState& state(std::size_t member) const { return *states_[member]; }
  const Account& account(std::size_t member) const;
  /// Whether it has found a peer dead, or a transfer broken, and stands still since.
  bool has_lost_peer(std::size_t member) const { return lost_peer_[member]; }
  /// Its account when its rank began to wait for it; null if that was before its arrival, or never.
  const Account* when_followed(std::size_t member) const { return when_followed_[member].get(); }
  /// The payload that was sent in the last part that was replayed, of transfers that had started.
  const SentByPair& sent() const { return sent_; }
  /// The flops of the sums that were complete in that part.
  double flops() const { return flops_; }

  void computes(int member, double from_s, double to_s) override;
  void communicates(int, int, std::int64_t, double, double) override {}
  void sends(int source, int target, std::int64_t bytes, double start_s, double end_s) override;
  void blocks(int member, int peer, double since_s, double start_s, double end_s) override;
  void loses_peer(int member, double at_s) override;
  bool enough() const override { return false; }

 private:
  /// The payload that a member has sent to the target of its last message.
  struct Last {
    int target = -1;
    Sent* sent = nullptr;
  };
  std::size_t position(int member) const;
  /// Notes the account when its rank begins to wait for it, if that is before `until_s`.
  void follow(std::size_t position, double until_s, double transfer_start_s);

  std::vector<Member> members_;
  std::vector<std::shared_ptr<ActorState>> states_;
  std::vector<std::shared_ptr<const Account>> when_followed_;
  std::vector<std::shared_ptr<const Account>> at_death_;
  std::vector<bool> lost_peer_;
  const PlannedPart* part_ = nullptr;
  const std::vector<double>* seconds_per_flop_ = nullptr;
  SentByPair sent_;
  std::vector<Last> last_sent_;  ///< by source
  double flops_ = 0.0;
};

}  // namespace simgrad::cluster
