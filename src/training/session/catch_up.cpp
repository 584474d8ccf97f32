#include "training/session/catch_up.h"

#include <utility>

#include "cluster/ranks/communicator.h"
#include "training/session/generation.h"

namespace simgrad::training {

namespace {

cluster::Packet packet_of(const State& state) {
  cluster::Packet packet(state.w);
  for (const auto* vectors : {&state.optimizer, &state.own})
    for (const values::Tensor& each : *vectors) packet.extra_bytes += each.size_bytes();
  return packet;
}

}  // namespace

void catch_up(const cluster::Communicator& comm, const Generation& generation) {
  std::vector<int> holders, joiners;  // places in the communicator
  for (int place = 0; place < generation.workers(); ++place)
    (generation.was_kept(comm.world_rank(place)) ? holders : joiners).push_back(place);
  std::vector<cluster::Pending> sends;
  for (std::size_t i = 0; i < joiners.size(); ++i) {
    const int from = holders[i % holders.size()];
    if (joiners[i] == comm.rank()) comm.receive(from);
    if (from == comm.rank())
      sends.push_back(comm.start_send(joiners[i], packet_of(generation.start_state(comm.world_rank(from)))));
  }
  for (cluster::Pending& send : sends) send.wait();
}

void catch_up_on_mesh(const cluster::Communicator& everyone, const Generation& generation,
                      const std::vector<int>& copied) {
  std::vector<int> joiners;
  for (int rank = 0; rank < everyone.size(); ++rank)
    if (!generation.was_kept(rank)) joiners.push_back(rank);
  const auto give = [&](int from, int to, int whose) {
    if (to == everyone.rank()) everyone.receive(from);
    if (from == everyone.rank()) everyone.send(to, packet_of(generation.start_state(whose)));
  };
  for (const int rank : joiners) give(generation.giver(rank), rank, rank);
  if (copied.empty()) return;
  for (const int rank : joiners)
    give(copied[static_cast<std::size_t>(rank)], rank, copied[static_cast<std::size_t>(rank)]);
}

}  // namespace simgrad::training
