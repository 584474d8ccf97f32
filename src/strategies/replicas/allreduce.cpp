#include "strategies/replicas/allreduce.h"

#include <algorithm>
#include <vector>

#include "cluster/ranks/side_stream.h"
#include "strategies/circumstances.h"
#include "strategies/replicas/compressed_sum.h"
#include "training/learning/learning.h"
#include "training/worker.h"

namespace simgrad::strategies {

using cluster::Communicator;
using cluster::SideStream;

namespace {

/// Layers whose gradients travel together. They follow each other in the vector.
struct Bucket {
  std::int64_t first = 0;
  std::int64_t count = 0;

  void add(const models::Layer& layer) {
    first = count > 0 ? std::min(first, layer.first) : layer.first;
    count += layer.count;
  }
  double bytes(double of_number) const { return of_number * static_cast<double>(count); }
};

}  // namespace

void Allreduce::describe(base::Describer& d) {
  d.component("algorithm", algorithm, "how the sum is made");
  d.quantity(
      "bucket_size", bucket_bytes, base::Unit::bytes,
      "gradients are summed in buckets of at least so many bytes, as the backward pass gets them, beside the rest of "
      "it; left out: all at once, after it",
      base::Bounds::above_zero());
  describe_compression(d, compression);
  refuse_unused_algorithm(d, algorithm.kind(), *compression);
}

std::optional<Refusal> Allreduce::refusal(const Circumstances& circumstances) const {
  const std::string why = algorithm->refusal(circumstances.cluster);
  return why.empty() ? compression_refusal(compression, circumstances) : std::optional(Refusal{"algorithm", why});
}

void Allreduce::operator()(Worker& worker) const {
  if (bucket_bytes) return in_buckets(worker);
  CompressedSum sum(*compression, *algorithm, worker);
  State state = worker.start();
  while (worker.continues(state)) {
    const Tensor g = sum(worker.comm(), worker.gradient(state.w));
    worker.update(state, g);
  }
}

void Allreduce::in_buckets(Worker& worker) const {
  CompressedSum bucket_sum(*compression, *algorithm, worker);
  SideStream beside(worker.comm());
  const double number_bytes = training::number_bytes(worker.learning().precision()).gradient;
  State state = worker.start();
  if (worker.rank() == 0 && state.step == 0 && worker.learning().layers().size() == 1)
    worker.note("bucket_size: the model has one layer, so that its gradient is one bucket, and nothing overlaps");
  while (worker.continues(state)) {
    Bucket bucket;
    const auto sum = [&](const Tensor& g) {
      const Tensor part = values::slice(g, bucket.first, bucket.count);
      beside.start([&bucket_sum, part, first = bucket.first](const Communicator& comm) {
        return bucket_sum(comm, part, first);
      });
      bucket = {};
    };
    const Tensor g = worker.gradient(state.w, [&](const Tensor& parts, const models::Layer& layer) {
      bucket.add(layer);
      if (bucket.bytes(number_bytes) >= *bucket_bytes) sum(parts);
    });
    if (bucket.count > 0) sum(g);
    std::vector<Tensor> summed = beside.wait_for_all();  // last layers first
    std::reverse(summed.begin(), summed.end());
    worker.update(state, values::concatenate(summed));
  }
}

}  // namespace simgrad::strategies
