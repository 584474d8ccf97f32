#include "collectives/flat.h"

#include <vector>

#include "cluster/recording/work_scope.h"

namespace simgrad::collectives {

using cluster::Communicator;
using cluster::Packet;
using cluster::Pending;
using values::Tensor;

Packet flat_broadcast(const Communicator& comm, int root, Packet packet) {
  if (comm.rank() != root) return comm.receive(root);
  std::vector<Pending> sends;
  for (int member = 0; member < comm.size(); ++member)
    if (member != root) sends.push_back(comm.start_send(member, packet));
  for (Pending& send : sends) send.wait();
  return packet;
}

FlatReduce::FlatReduce(const Communicator& comm, int root) : comm_(comm) {
  for (int member = 0; member < comm.size(); ++member)
    if (member != root) receives_.push_back(comm.start_receive(member));
}

std::vector<Tensor> FlatReduce::terms() {
  std::vector<Tensor> parts;
  for (Pending& receive : receives_) parts.push_back(receive.wait().tensor);
  return parts;
}

Tensor FlatReduce::sum(std::optional<double> flops_each) {
  std::vector<Tensor> parts = terms();
  comm_.charge_reduction(flops_each.value_or(static_cast<double>(parts.front().size())) *
                         static_cast<double>(parts.size()));
  return values::sum(std::move(parts));
}

Tensor FlatReduce::combine(values::Combination how, Tensor own, std::optional<double> flops_each) {
  const double terms = static_cast<double>(receives_.size());
  for (Pending& receive : receives_) own = values::combine(how, own, receive.wait().tensor);
  comm_.charge_reduction(flops_each.value_or(static_cast<double>(own.size())) * terms);
  return own;
}

Packet FlatBroadcast::operator()(const Communicator& comm, int root, Packet packet, std::int64_t) const {
  const cluster::WorkScope work_scope(comm, record::Work::broadcast);
  return flat_broadcast(comm, root, std::move(packet));
}

}  // namespace simgrad::collectives
