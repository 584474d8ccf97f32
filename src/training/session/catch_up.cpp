#include "training/session/catch_up.h"

#include <utility>
#include <vector>

#include "cluster/ranks/communicator.h"
#include "training/session/generation.h"

namespace simgrad::training {

void catch_up(const cluster::Communicator& comm, const Generation& generation) {
  std::vector<int> holders, joiners;  // places in the communicator
  for (int place = 0; place < generation.workers(); ++place)
    (generation.was_kept(comm.world_rank(place)) ? holders : joiners).push_back(place);
  std::vector<cluster::Pending> sends;
  for (std::size_t i = 0; i < joiners.size(); ++i) {
    const int from = holders[i % holders.size()];
    if (joiners[i] == comm.rank()) comm.receive(from);
    if (from != comm.rank()) continue;
    const State state = generation.start_state(comm.world_rank(from));
    cluster::Packet packet(state.w);
    for (const auto* vectors : {&state.optimizer, &state.own})
      for (const values::Tensor& each : *vectors) packet.extra_bytes += each.size_bytes();
    sends.push_back(comm.start_send(joiners[i], std::move(packet)));
  }
  for (cluster::Pending& send : sends) send.wait();
}

}  // namespace simgrad::training
