#include "cluster/ranks/responder.h"

#include <utility>

#include "cluster/fabric/cluster.h"
#include "cluster/ranks/actor_state.h"
#include "cluster/ranks/ranks.h"
#include "cluster/ranks/world.h"
#include "cluster/recording/timeline_recording.h"

namespace simgrad::cluster {

Responder::Responder(const Communicator& communicator, std::vector<int> members, Respond respond,
                     const Absorption& absorption)
    : communicator_(communicator),
      questions_(communicator.on_own_channels()),
      respond_(std::make_shared<const Respond>(std::move(respond))) {
  const World& world = communicator.world();
  if (absorption.take && world.cluster().flows() &&
      !world.ranks().shares_cores(communicator.world_rank(communicator.rank())))
    absorber_.emplace(questions_, members, absorption);
  else
    receivers_.emplace(communicator, std::move(members), [this](int member) { return body(member); });
}

Pending Responder::start_send(int target, Packet packet) const {
  return questions_.start_send_unless_lost(target, std::move(packet));
}

PeerActors::Body Responder::body(int member) const {
  const auto actor = std::make_shared<ActorState>();  // those who wait for an answer look at it
  communicator_.world().recording().add_side_actor(communicator_.world_rank(communicator_.rank()), actor);
  return [respond = respond_, actor, answers = communicator_.for_side_actor(actor.get()),
          questions = questions_.for_side_actor(actor.get()), member] {
    Pending answering;
    for (;;) {
      Packet question = questions.receive(member);
      std::optional<Packet> answer = (*respond)(answers, member, std::move(question));
      if (!answer) continue;
      if (answering.under_way()) answering.wait();  // a member that asks again has had its answer
      answering = answers.start_send(member, std::move(*answer));
    }
  };
}

}  // namespace simgrad::cluster
