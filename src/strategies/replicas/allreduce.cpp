#include "strategies/replicas/allreduce.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "cluster/ranks/side_stream.h"
#include "collectives/lengths.h"
#include "strategies/buckets/buckets.h"
#include "strategies/circumstances.h"
#include "strategies/micro_batches.h"
#include "strategies/replicas/gradient_groups.h"
#include "training/learning/learning.h"
#include "training/worker.h"

namespace simgrad::strategies {

using cluster::Communicator;
using cluster::SideStream;
using training::MicroBatch;

void Allreduce::describe(base::Describer& d) {
  d.component("algorithm", algorithm, "how the sum is made");
  describe_bucket_size(
      d, bucket_bytes,
      "smallest bucket, in bytes on the wire; buckets of gradients are summed while the backward pass continues; "
      "\"none\": one sum after it");
  describe_compression(d, compression);
  describe_codes_way(d, codes, *compression);
  describe_micro_batches(d, micro_batches, no_sync);
  describe_hosts_first(d, algorithm.kind());
  refuse_unused_algorithm(d, algorithm.kind(), *compression);
}

Traits Allreduce::traits(int) const {
  return {.many_to_many = algorithm->many_to_many() || scatters_codes(*compression, codes),
          .sums = compression->exact() ? Traits::Sums::sharers : Traits::Sums::replicas,
          .meets = compression->exact() ? algorithm->meets() : cluster::Meets::freely,
          .rings = algorithm->rings_at_once(),
          .micro_batches = micro_batches,
          .main_gradients = training::MainGradients::on_demand};
}

std::optional<Refusal> Allreduce::refusal(const Circumstances& circumstances) const {
  if (auto too_many = micro_batches_refusal(micro_batches, circumstances)) return too_many;
  const std::string why = algorithm->refusal(circumstances.cluster);
  return why.empty() ? compression_refusal(compression, circumstances) : std::optional(Refusal{"algorithm", why});
}

record::MemoryParts Allreduce::memory(const training::MemoryTerms& terms) const {
  return training::replica_memory(terms, {.micro_batches = micro_batches,
                                          .accumulates = micro_batches > 1,
                                          .bucket_numbers = bucket_bytes ? terms.parameters() : 0.0,
                                          .main_gradients = training::MainGradients::on_demand});
}

/// Whether a bucket is complete before the backward pass is over: by others, or layers of nothing, before the last one.
bool Allreduce::overlaps(const Worker& worker) const {
  const std::vector<models::Layer>& layers = worker.learning().layers();
  const double number_bytes = bytes_on_wire(worker.number_bytes(), *compression);
  return bucket_bytes && (layers.front().count == 0 || buckets_of(layers, bucket_bytes, number_bytes).size() > 1);
}

/// Buckets are copies, so that a gradient may be added to while it is sent.
void Allreduce::hold_buckets(Worker& worker, const State& state) const {
  if (!bucket_bytes) return;
  worker.memory().hold(record::MemoryPart::buckets, worker.bucket_bytes(state.w.size()));
  if (worker.rank() == 0 && state.step == 0 && worker.learning().layers().size() == 1 &&
      *bucket_bytes != default_bucket_bytes)
    note_single_bucket(worker);
}

void Allreduce::operator()(Worker& worker) const {
  if (overlaps(worker)) return in_buckets(worker);
  CompressedSum sum(*compression, *algorithm, worker, codes);
  const GradientGroups groups(worker);
  State state = worker.start();
  hold_buckets(worker, state);
  while (worker.continues(state)) {
    Tensor g, not_summed;
    for (const MicroBatch micro : micro_batches_of(micro_batches)) {
      accumulate_own(worker, not_summed, worker.gradient(state.w, micro));
      if (no_sync && !micro.last()) continue;
      const Tensor parts = std::exchange(not_summed, {});
      accumulate(worker, g,
                 groups.summed(parts, [&](const Communicator& comm, const Tensor& x) { return sum(comm, x); }));
    }
    worker.update(state, g);
  }
}

void Allreduce::in_buckets(Worker& worker) const {
  CompressedSum bucket_sum(*compression, *algorithm, worker, codes);
  const GradientGroups groups(worker);
  SideStream beside(groups.sharers());
  const bool one_collective = bucket_sum.is_one_collective(groups.sharers());
  const double number_bytes = bytes_on_wire(worker.number_bytes(), *compression);
  std::vector<GradientGroups::Find> among;
  for (std::size_t group = 0; group < groups.count(); ++group) among.push_back(groups.among(group));
  collectives::Stretches of_buckets;
  State state = worker.start();
  hold_buckets(worker, state);
  while (worker.continues(state)) {
    Tensor g, not_summed;
    for (const MicroBatch micro : micro_batches_of(micro_batches)) {
      if (no_sync && !micro.last()) {
        accumulate_own(worker, not_summed, worker.gradient(state.w, micro));
        continue;
      }
      std::vector<GroupBucket> filling(groups.count()), summed;
      const auto sum = [&](const Tensor& parts, std::size_t group) {
        const GroupBucket& bucket = summed.emplace_back(std::exchange(filling[group], {}));
        Tensor part;
        if (not_summed)
          part = numbers_of(bucket, [&](const Stretch& of) { return values::slice(not_summed, of.first, of.count); });
        accumulate_own(worker, part, numbers_of(bucket, [&](const Stretch& of) { return of_buckets.take(parts, of); }));
        if (one_collective)
          beside.start_collective(
              [this, part, in = among[group]](const Communicator& comm) { return (*algorithm)(in(comm), part); });
        else
          beside.start([&bucket_sum, part, in = among[group], first = bucket.stretches().back().first](
                           const Communicator& comm) { return bucket_sum(in(comm), part, first); });
      };
      // Each rank takes its own time to add earlier micro-batches.
      const auto ready_in = one_collective && !not_summed ? Worker::ReadyIn::any_actor : Worker::ReadyIn::own_actor;
      const Tensor all = worker.gradient(
          state.w,
          [&](const Tensor& parts, const models::Layer& layer) {
            const std::size_t layer_group = groups.of(layer);
            filling[layer_group].add(layer);
            if (number_bytes * static_cast<double>(filling[layer_group].count()) >= *bucket_bytes)
              sum(parts, layer_group);
            // Layers without parameters may stand in front of those of the last buckets.
            for (std::size_t group = 0; group < filling.size() && layer.first == 0; ++group)
              if (filling[group].count() > 0) sum(parts, group);
          },
          micro, ready_in);
      for (std::size_t group = 0; group < filling.size(); ++group)
        if (filling[group].count() > 0) sum(all, group);
      const std::vector<Tensor> sums = beside.wait_for_all();
      // A stage without parameters has nothing to sum.
      accumulate(worker, g, sums.empty() ? all : put_together(summed, sums));
    }
    worker.update(state, g);
  }
}

}  // namespace simgrad::strategies
