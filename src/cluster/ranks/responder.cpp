#include "cluster/ranks/responder.h"

#include <algorithm>
#include <simgrid/s4u.hpp>
#include <utility>

#include "cluster/recording/recorder.h"

namespace simgrad::cluster {

namespace sg4 = simgrid::s4u;

Responder::Responder(const Communicator& communicator, std::vector<int> members, Respond respond)
    : communicator_(communicator),
      own_channels_(communicator.on_own_channels()),
      members_(std::move(members)),
      respond_(std::make_shared<const Respond>(std::move(respond))),
      listeners_(members_.size(), -1) {
  const World& world = communicator.world();
  if (world.keeps_going()) {
    membership_listeners_ = world.membership_listeners_;
    membership_listeners_->push_back(this);
  }
  for (std::size_t at = 0; at < members_.size(); ++at)
    if (!world.keeps_going() || communicator.alive(members_[at])) listen(at);
}

Responder::~Responder() {
  if (membership_listeners_) std::erase(*membership_listeners_, static_cast<MembershipListener*>(this));
}

Pending Responder::start_send(int target, Packet packet) const {
  return own_channels_.start_send_unless_lost(target, std::move(packet));
}

void Responder::listen(std::size_t at) {
  const int rank = communicator_.world_rank(communicator_.rank());
  std::shared_ptr<ActorState> activity;  // kept where somebody records
  if (World& world = communicator_.world(); world.recorder_) {
    activity = std::make_shared<ActorState>();
    world.record_side_actor(rank, activity);
  }
  const auto body = [respond = respond_, activity, answers = communicator_.for_side_actor(activity.get()),
                     questions = own_channels_.for_side_actor(activity.get()), member = members_[at]] {
    Pending answering;
    for (;;) {
      Packet question = questions.receive(member);
      std::optional<Packet> answer = (*respond)(answers, member, std::move(question));
      if (!answer) continue;
      if (answering.under_way()) answering.wait();  // who asks again has had its answer
      answering = answers.start_send(member, std::move(*answer));
    }
  };
  listeners_[at] = communicator_.world().start_side_actor(rank, body);
}

std::optional<std::size_t> Responder::place(int rank) const {
  for (std::size_t at = 0; at < members_.size(); ++at)
    if (communicator_.world_rank(members_[at]) == rank) return at;
  return {};
}

void Responder::on_crash(int rank) {
  if (const auto at = place(rank))
    if (const sg4::ActorPtr listener = sg4::Actor::by_pid(static_cast<aid_t>(listeners_[*at]))) listener->kill();
}

void Responder::on_rejoin(int rank) {
  if (const auto at = place(rank)) listen(*at);
}

}  // namespace simgrad::cluster
