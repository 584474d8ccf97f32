#include "cluster/ranks/peer_actors.h"

#include <utility>

#include "cluster/ranks/ranks.h"
#include "cluster/ranks/world.h"

namespace simgrad::cluster {

PeerActors::PeerActors(const Communicator& communicator, std::vector<int> members, std::function<Body(int member)> make,
                       std::function<void(int member)> detected)
    : communicator_(communicator),
      members_(std::move(members)),
      make_(std::move(make)),
      detected_(std::move(detected)),
      actors_(members_.size(), -1),
      subscription_(communicator.world().membership().subscribe(*this)) {
  const bool keeps_going = communicator.world().membership().keeps_going();
  for (std::size_t at = 0; at < members_.size(); ++at) {
    if (!keeps_going || communicator.alive(members_[at]))
      start(at);
    else if (detected_)
      detected_(members_[at]);
  }
}

void PeerActors::start(std::size_t place) {
  const int rank = communicator_.world_rank(communicator_.rank());
  actors_[place] = communicator_.world().ranks().start_side_actor(rank, make_(members_[place]));
}

std::optional<std::size_t> PeerActors::place(int rank) const {
  for (std::size_t at = 0; at < members_.size(); ++at)
    if (communicator_.world_rank(members_[at]) == rank) return at;
  return {};
}

void PeerActors::on_crash(int rank) {
  if (const auto at = place(rank)) Ranks::kill(actors_[*at]);
}

void PeerActors::on_detected(int rank) {
  if (const auto at = place(rank); at && detected_) detected_(members_[*at]);
}

void PeerActors::on_rejoin(int rank) {
  if (const auto at = place(rank)) start(*at);
}

}  // namespace simgrad::cluster
