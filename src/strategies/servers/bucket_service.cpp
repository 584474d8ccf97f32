#include "strategies/servers/bucket_service.h"

#include <utility>

#include "strategies/buckets/state_pieces.h"
#include "training/learning/learning.h"

namespace simgrad::strategies {

std::vector<std::int64_t> lengths_of_stretches(const Server& server, std::size_t buckets) {
  std::vector<std::int64_t> lengths;
  for (std::size_t b = 0; b < buckets; ++b) lengths.push_back(server.shards().stretch(server.shard(), b).count);
  return lengths;
}

void work_in_buckets(Worker& worker, const UnitBuckets& buckets, const BucketTravel& travel,
                     const training::Compressor& gradients, const training::Compressor& parameters,
                     bool batch_of_version) {
  if (worker.rank() == 0 && worker.learning().units().size() == 1 && buckets.count() == 1) note_single_bucket(worker);
  BucketedStore store(worker, buckets, BucketHolders::servers(worker), travel, gradients, parameters);
  for (;;) {
    const std::int64_t version = store.begin();
    if (batch_of_version)
      worker.gradient_of_step(store, version);
    else
      worker.gradient(store, training::MicroBatch());
    store.end();
  }
}

namespace {

/// The gradients of one bucket, from all workers, in one step.
class BucketSum {
 public:
  explicit BucketSum(int workers) : codes_(static_cast<std::size_t>(workers)) {}

  void add(int worker, Tensor code) {
    codes_[static_cast<std::size_t>(worker)] = std::move(code);
    ++arrived_;
  }
  bool complete() const { return arrived_ == codes_.size(); }
  /// Reduced, by default added in the order of the workers.  first: the first parameter.  Virtual time: that of the
  /// reduction and the decoding.
  Tensor take(const Server& server, const Reduce& reduce, const training::Encoder& code, std::int64_t first) {
    const std::int64_t n = codes_.front().size(), P = server.workers();
    if (reduce->adds()) server.charge(static_cast<double>(P) * code.add_flops(n, first));
    std::vector<Tensor> codes = std::exchange(codes_, std::vector<Tensor>(codes_.size()));
    const Tensor sum = reduce->adds() ? values::decoded(values::sum(std::move(codes)))
                                      : reduced(server, reduce, std::move(codes), rows_of_workers(server));
    arrived_ = 0;
    code.charge_decoding(server.comm(), n, P, first);
    return code.compressor().concluded(sum);
  }

 private:
  std::vector<Tensor> codes_;  ///< by worker
  std::size_t arrived_ = 0;
};

}  // namespace

void serve_in_buckets(Server& server, const BucketService& bucket_service) {
  PushService service(server, bucket_service.gradients, bucket_service.parameters, cluster::Inbox::OnLoss::silent,
                      bucket_service.bucketing);
  std::vector<BucketSum> sums(bucket_service.bucketing.buckets, BucketSum(server.workers()));
  StatePieces pieces(service.state, lengths_of_stretches(server, sums.size()));
  const bool by_bucket = bucket_service.bucketing.of_answers();
  for (bool answered = true; service.continues(); answered = by_bucket) {
    if (!answered) service.answer_all();
    hold(server, bucket_service.reduce,
         server.workers() * service.state.w.size());  // pushes of any buckets may be there
    for (std::size_t left = sums.size(); left > 0;) {
      BucketPush push = service.next_bucket();
      BucketSum& sum = sums[push.bucket];
      sum.add(push.worker, std::move(push.code));
      if (!sum.complete()) continue;
      State& piece = pieces[push.bucket];
      const Tensor g = sum.take(server, bucket_service.reduce, service.gradients(),
                                server.shards().stretch(server.shard(), push.bucket).first);
      server.update(piece, bucket_service.weight == 1.0 ? g : bucket_service.weight * g);
      if (by_bucket) service.answer_bucket(push.bucket, piece.w, piece.step);
      --left;
    }
    service.state = pieces.joined();
    if (bucket_service.after_step) bucket_service.after_step();
  }
}

}  // namespace simgrad::strategies
