#include "strategies/replicas/data_parallel.h"

#include <vector>

#include "collectives/flat.h"
#include "training/compressors/encoder.h"
#include "training/learning/learning.h"
#include "training/worker.h"

namespace simgrad::strategies {

using cluster::Packet;
using cluster::Pending;

void DataParallel::describe(base::Describer& d) {
  describe_compression(d, compression);
  describe_parameter_compression(d, "parameter_compression", parameter_compression,
                                 "how parameters are compressed before the master sends them");
  describe_bucket_options(
      d,
      "smallest bucket, in bytes on the wire; buckets of gradients are gathered while the backward pass continues, and "
      "parameters are sent out as the forward pass needs them; \"none\": everything at once");
  describe_hosts_first(d);
}

void DataParallel::operator()(Worker& worker) const {
  if (bucket_bytes) return worker.rank() == 0 ? lead_in_buckets(worker) : follow_in_buckets(worker);
  worker.rank() == 0 ? lead(worker) : follow(worker);
}

void DataParallel::lead(Worker& master) const {
  const std::int64_t row_bytes = master.learning().sent_row_bytes();
  training::Encoder gradient_code(*compression, master);
  training::Encoder parameter_code(*parameter_compression, master);
  State state = master.start();
  while (master.continues(state)) {
    collectives::FlatReduce gradients(master.comm(), 0);
    std::vector<Pending> dealt;
    const Tensor w = parameter_code.once(master.comm(), state.w);
    for (int device = 1; device < master.workers(); ++device) {
      Packet parameters_and_rows(w);
      parameters_and_rows.extra_bytes = row_bytes * master.rows(device);
      dealt.push_back(master.comm().start_send(device, std::move(parameters_and_rows)));
    }
    for (Pending& one : dealt) one.wait();
    // The master's own gradient is at the parameters that the others have, and as coarse as theirs.
    const Tensor own = values::decoded(gradient_code(master.comm(), master.gradient(values::decoded(w))));
    const Tensor g = gradients.combine(values::Combination::add, own, gradient_code.add_flops(own.size()));
    gradient_code.charge_decoding(master.comm(), g.size(), master.workers() - 1);
    master.update(state, gradient_code.compressor().concluded(g));
  }
}

void DataParallel::follow(Worker& device) const {
  training::Encoder gradient_code(*compression, device);
  const training::Encoder parameter_code(*parameter_compression, device);
  for (;;) {  // the training ends it, while it waits for the next batch
    const Tensor w = parameter_code.decoded(device.comm(), device.comm().receive(0).tensor);
    device.comm().send(0, gradient_code(device.comm(), device.gradient(w)));
  }
}

}  // namespace simgrad::strategies
