/// All-to-all and all-gather whose messages are all posted at once: every member sends to every other one and receives
/// from it at the same time. Messages are as long as the longest chunk, which shorter ones are padded to.
///
/// Source: R. Thakur, R. Rabenseifner, W. Gropp, "Optimization of Collective Communication Operations in MPICH", IJHPCA
/// 19, 2005, section 3 (all sends and receives posted, then waited for); so do the grouped sends of NCCL, by which H.
/// Tang et al., "1-bit Adam", ICML 2021, exchange codes. Their implementation pads vectors to P equal chunks.
/// Cost: alpha + (P-1) m beta each, where all members begin together and m is a chunk's bytes.
#pragma once

#include <span>
#include <vector>

#include "cluster/ranks/communicator.h"
#include "collectives/split.h"
#include "values/tensor.h"

namespace simgrad::collectives {

/// As all_to_all: x: P chunks as Split cuts them, chunk j for member j. Returns chunk r of every member's x on member
/// r, in the order of the members. All x are equally long.
values::Tensor flat_all_to_all(const cluster::Communicator& comm, const values::Tensor& x);

/// As all_gather: chunk: this member's, as Split cuts the whole. Returns all chunks, one behind the other.
values::Tensor flat_all_gather(const cluster::Communicator& comm, const values::Tensor& chunk, const Extent& whole);

/// One message to and one from each of these members, all posted at once.  sent(place): the tensor for the member at
/// that place. Returns what was received, by place.  Errors: cluster::PeerLost.
template <class Sent>
std::vector<values::Tensor> exchange_at_once(const cluster::Communicator& comm, std::span<const int> members,
                                             const Sent& sent) {
  std::vector<cluster::Pending> receives, sends;
  for (const int member : members) receives.push_back(comm.start_receive(member));
  for (std::size_t place = 0; place < members.size(); ++place)
    sends.push_back(comm.start_send(members[place], sent(place)));
  std::vector<values::Tensor> received;
  for (cluster::Pending& receive : receives) received.push_back(receive.wait().tensor);
  for (cluster::Pending& send : sends) send.wait();
  return received;
}

}  // namespace simgrad::collectives
