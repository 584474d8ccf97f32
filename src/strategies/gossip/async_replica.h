/// Replicas that step at their own pace, and that messages change while their ranks compute.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "cluster/ranks/responder.h"
#include "strategies/strategy.h"

namespace simgrad::strategies {

/// A rank's replica. The rank's main actor and the actors that answer others share it; the last of them frees it.
class AsyncReplica {
 public:
  explicit AsyncReplica(const Worker& worker);
  virtual ~AsyncReplica() = default;

  State state = {};  ///< without parameters until a rank that has come back has received them

  /// Takes a message in the actor beside the rank that received it. Returns the answer, if there is one.
  virtual std::optional<cluster::Packet> take(const cluster::Communicator& beside, int peer,
                                              const cluster::Packet& came) = 0;
  /// Where take() answers nothing: it charges these flops, and then does what absorb() does.
  virtual bool absorbs() const { return false; }
  virtual double absorb_flops(const cluster::Packet& /*came*/) const { return 0.0; }
  virtual void absorb(int /*peer*/, const cluster::Packet& /*came*/) {}
  /// Takes a message while the state has no parameters. The parameters that the rank is sent later have seen the
  /// message's change already, so by default it is ignored.
  virtual std::optional<cluster::Packet> take_without_state(const cluster::Communicator& /*beside*/, int /*peer*/,
                                                            const cluster::Packet& /*came*/) {
    return {};
  }

 protected:
  /// An actor beside the rank has changed the state: the next evaluation sees it.
  void changed() const { show_(state); }

 private:
  std::function<void(const State&)> show_;
};

/// The rank's connections to other replicas. No rank waits for a busy one, because actors beside each rank answer.
class AsyncPeers {
 public:
  /// The step at which a rank goes on that has come back: the last complete one when it asks for parameters, or when it
  /// receives them. A rank that receives none begins as a fresh one at that step, or with its own start.
  enum class Rejoin { when_asked, when_answered };
  /// peers: the members that send to this replica. A rank that has come back asks the first of `tellers()` at work for
  /// parameters, then the next if the first is lost.
  /// Virtual time: none at the beginning of a run; 2 alpha + M beta for a rank that has come back.
  AsyncPeers(Worker& worker, std::shared_ptr<AsyncReplica> replica, std::vector<int> peers,
             const std::function<std::vector<int>()>& tellers, Rejoin rejoin);

  bool continues() const;
  /// Sends to a member's replica; sends nothing if the member is lost.
  [[nodiscard]] cluster::Pending start_send(int peer, cluster::Packet packet) const {
    return responder_.start_send(peer, std::move(packet));
  }
  /// Sends to all peers, after the previous call's messages have arrived: blocks until then.
  void send_to_all(const cluster::Packet& packet);

 private:
  State rejoined_state(const std::function<std::vector<int>()>& tellers, Rejoin rejoin) const;
  /// The parameters of the first of these members that answers; empty if none does.
  Tensor received_parameters(const std::vector<int>& tellers) const;

  Worker& worker_;
  std::shared_ptr<AsyncReplica> replica_;
  std::vector<int> peers_;
  cluster::Responder responder_;
  std::vector<cluster::Pending> sends_;
};

}  // namespace simgrad::strategies
