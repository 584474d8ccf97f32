/// A master device that deals out parameters, and gathers gradients, in buckets of layers.
///
/// The master computes its own gradient as soon as it has begun to deal. With one credit, bucket i comes to the devices
/// at a_i = a_(i-1) + alpha + (P-1) M_i beta, rows with the first one, and its gradients to the master at
/// c_i = max(b_i, c_(i-1)) + alpha + (P-1) M_i beta, where b_i is the end of their backward pass through it. The step
/// ends after the last of them and the master's own gradient, the additions and the update.
#include <deque>
#include <utility>
#include <vector>

#include "strategies/buckets/bucketed_store.h"
#include "strategies/replicas/data_parallel.h"
#include "training/learning/learning.h"
#include "training/worker.h"

namespace simgrad::strategies {

using cluster::Communicator;
using cluster::Packet;
using cluster::Pending;

UnitBuckets DataParallel::buckets(const training::Learning& learning) const {
  return buckets_of_units(learning, *compression);
}

namespace {

/// The master's messages with its devices in one step.
class Dealing {
 public:
  Dealing(const Worker& master, const UnitBuckets& buckets, std::int64_t credits)
      : master_(master), buckets_(buckets), stream_(master.comm(), credits) {}

  /// Begins to receive all gradients.
  void expect() {
    gradients_.resize(static_cast<std::size_t>(master_.workers()));
    for (int device = 1; device < master_.workers(); ++device)
      for (std::size_t b = 0; b < buckets_.count(); ++b)
        gradients_[static_cast<std::size_t>(device)].push_back(master_.comm().start_receive(device));
  }
  /// Deals out a bucket's parameters beside what the master does, and the rows with the first one.
  void deal(std::size_t bucket, const Tensor& w, std::int64_t step) {
    const std::int64_t row_bytes = bucket == 0 ? master_.learning().sent_row_bytes() : 0;
    stream_.ready(bucket, [this, bucket, w, step, row_bytes](const Communicator& comm) {
      std::vector<Pending> messages;
      for (int device = 1; device < master_.workers(); ++device) {
        Packet packet(w, BucketNote{static_cast<std::int64_t>(bucket), step});
        packet.extra_bytes = row_bytes * master_.rows(device);
        messages.push_back(comm.start_send(device, std::move(packet)));
      }
      return messages;
    });
  }
  /// Blocks until all gradients have come. Returns their codes, by bucket, by device; the master's places are empty.
  std::vector<std::vector<Tensor>> gathered() {
    std::vector<std::vector<Tensor>> codes(buckets_.count(), std::vector<Tensor>(gradients_.size()));
    for (std::size_t device = 1; device < gradients_.size(); ++device)
      for (; !gradients_[device].empty(); gradients_[device].pop_front()) {
        Packet packet = gradients_[device].front().wait();
        codes[static_cast<std::size_t>(packet.note<BucketNote>().bucket)][device] = std::move(packet.tensor);
      }
    return codes;
  }

 private:
  const Worker& master_;
  const UnitBuckets& buckets_;
  BucketStream stream_;
  std::vector<std::deque<Pending>> gradients_;  ///< by device, in the order of their coming
};

}  // namespace

void DataParallel::lead_in_buckets(Worker& master) const {
  training::Encoder gradient_code(*compression, master);
  training::Encoder parameter_code(*parameter_compression, master);
  const UnitBuckets all = buckets(master.learning());
  if (master.learning().units().size() == 1 && all.count() == 1) note_single_bucket(master);
  Dealing devices(master, all, credits);
  State state = master.start();
  while (master.continues(state)) {
    devices.expect();
    std::vector<Tensor> dealt;
    for (std::size_t b = 0; b < all.count(); ++b) {
      const Tensor w = values::slice(state.w, all[b].first, all[b].count);
      dealt.push_back(parameter_code.once(master.comm(), w, all[b].first));
      devices.deal(b, dealt.back(), state.step);
    }
    const Tensor own = master.gradient(values::decoded(values::concatenate(dealt)));
    std::vector<Tensor> sums;
    double add_flops = 0.0;
    auto codes = devices.gathered();
    for (std::size_t b = 0; b < all.count(); ++b) {
      const auto [first, count] = all[b];
      codes[b].front() = gradient_code(master.comm(), values::slice(own, first, count), first);
      add_flops += static_cast<double>(master.workers() - 1) * gradient_code.add_flops(count, first);
      const Tensor sum = values::decoded(values::sum(std::move(codes[b])));
      gradient_code.charge_decoding(master.comm(), count, master.workers() - 1, first);
      sums.push_back(gradient_code.compressor().concluded(sum));
    }
    master.charge(add_flops);
    master.update(state, values::concatenate(sums));
  }
}

void DataParallel::follow_in_buckets(Worker& device) const {
  const UnitBuckets all = buckets(device.learning());
  const BucketHolders master{.first = 0, .count = 1, .stretch = [&](int, std::size_t bucket) { return all[bucket]; }};
  BucketedStore store(device, all, master, {.credits = credits}, *compression, *parameter_compression);
  for (;;) {  // the training ends it, while it waits for parameters
    store.begin();
    device.gradient(store, training::MicroBatch());
    store.end();
  }
}

}  // namespace simgrad::strategies
