#include "strategies/data_parallel.h"

#include <vector>

#include "collectives/flat.h"

namespace simgrad::strategies {

using cluster::Packet;
using cluster::Pending;

void DataParallel::operator()(Worker& worker) const {
  if (worker.comm().rank() == 0)
    lead(worker);
  else
    follow(worker);
}

void DataParallel::lead(Worker& master) const {
  const training::Learning& learning = master.training().learning();
  const std::int64_t row_bytes = learning.row_bytes() + 8;  // and its target
  State state = master.start();
  while (master.continues(state)) {
    collectives::FlatReduce gradients(master.comm(), 0);
    std::vector<Pending> dealt;
    for (int device = 1; device < master.workers(); ++device) {
      Packet parameters_and_rows(state.w);
      parameters_and_rows.more_bytes = row_bytes * learning.batches().count(device, master.workers());
      dealt.push_back(master.comm().start_send(device, std::move(parameters_and_rows)));
    }
    for (Pending& one : dealt) one.wait();
    const Tensor g = gradients.combine(values::Combination::add, master.gradient(state.w));
    master.update(state, g);
  }
}

void DataParallel::follow(Worker& device) const {
  for (;;) {  // the training ends it, while it waits for the next batch
    const Tensor w = device.comm().receive(0).tensor;
    device.comm().send(0, device.gradient(w));
  }
}

}  // namespace simgrad::strategies
