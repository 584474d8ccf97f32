#include "strategies/servers/dense_replica.h"

#include <numeric>

#include "collectives/ring.h"
#include "strategies/servers/sparse_store.h"
#include "training/worker.h"

namespace simgrad::strategies {

using training::SparseLearning;

State replica_state(const SparseLearning& learning, const State& start) {
  if (learning.replicated() == 0) return {};
  // At step 0 it is the whole model's; later the first server's, which ends with the replica.
  const auto part = [&](const Tensor& x) {
    return start.step == 0 ? learning.replica_of(x)
                           : values::slice(x, x.size() - learning.replicated(), learning.replicated());
  };
  State state{.w = part(start.w), .step = 0};
  for (const Tensor& each : start.optimizer) state.optimizer.push_back(part(each));
  return state;
}

DenseReplica::DenseReplica(Worker& worker, const SparseParameterServer& options)
    : worker_(worker), options_(options), learning_(worker.sparse(options.learning_options())) {
  if (learning_.replicated() == 0) return;
  const State start = worker.start();
  state_ = replica_state(learning_, start);
  state_.step = worker.rounds(start.step);
  std::vector<int> workers(static_cast<std::size_t>(worker.workers()));
  std::iota(workers.begin(), workers.end(), 0);
  among_.push_back(worker.comm().subgroup(workers));
}

Tensor DenseReplica::sum(const Tensor& part) const {
  const int P = worker_.workers();
  if (P == 1) return part;
  const cluster::Communicator& comm = among_.front();
  const Tensor own = as_sent(comm, part, options_.values);
  // Message by message: pushes to the servers are under way meanwhile.
  const Tensor all =
      collectives::Ring().schedule(collectives::Extent(own), P)->by_messages(comm, own, values::Combination::add);
  return as_received(comm, all, options_.values);
}

void DenseReplica::update(const Tensor& part) {
  if (!part) return;
  worker_.update_alone(state_, sum(part));
  if (worker_.rank() == 0) learning_.shared_replica = state_;
}

}  // namespace simgrad::strategies
