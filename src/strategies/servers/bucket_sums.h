/// Sums of gradients in buckets of layers by the services of BytePS, beside the workers' passes.
///
/// Every service sums its share of each bucket, and answers as soon as all workers have pushed it. Workers push, and
/// services answer, `credits` buckets at a time, of those that are ready the first layers first. The next forward pass
/// waits for a bucket's sum when it comes to the bucket's layers, and updates them. Cost of a step: with c_i the moment
/// when the sum of bucket i has come and u_i its update, the forward pass through bucket i begins at max(end of that
/// through bucket i - 1, c_i) + u_i. Source: Y. Peng et al., "A Generic Communication Scheduler for Distributed DNN
/// Training Acceleration" (ByteScheduler), SOSP 2019.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <vector>

#include "strategies/buckets/bucket_stream.h"
#include "strategies/buckets/buckets.h"
#include "strategies/buckets/state_pieces.h"
#include "strategies/servers/summation_shares.h"
#include "strategies/strategy.h"
#include "training/compressors/encoder.h"
#include "training/passes.h"
#include "training/worker.h"

namespace simgrad::strategies {

/// Written beside the messages of a bucket's gradient, and of its sum.
struct SumNote {
  std::int32_t bucket = 0;
  std::int32_t message = 0;  ///< its number among the bucket's
};

/// The messages that carry each bucket between a worker and the services.
class BucketMessages {
 public:
  struct Message {
    int service = 0;
    SummedPiece piece;
  };
  /// workers, services: their numbers.
  BucketMessages(const UnitBuckets& buckets, int workers, int services);

  const std::vector<Message>& operator[](std::size_t bucket) const { return of_bucket_[bucket]; }
  std::size_t buckets() const { return of_bucket_.size(); }
  /// The number of a service's messages of a bucket; and of all buckets.
  std::size_t of_service(int service, std::size_t bucket) const {
    return counts_[bucket][static_cast<std::size_t>(service)];
  }
  std::size_t of_service(int service) const { return totals_[static_cast<std::size_t>(service)]; }

 private:
  std::vector<std::vector<Message>> of_bucket_;   ///< in the order of the services
  std::vector<std::vector<std::size_t>> counts_;  ///< by bucket, by service
  std::vector<std::size_t> totals_;               ///< by service
};

/// A replica that trains with such sums.
class SummedBuckets final : public training::UnitVisitor {
 public:
  struct Options {
    std::int64_t credits = 1;
    bool at_once = false;  ///< the next step waits for all sums, and updates all parameters
  };
  /// gradients, sums: the codes that are sent instead of them.  All must outlive it.
  SummedBuckets(Worker& worker, const UnitBuckets& buckets, const Options& options, training::Encoder& gradients,
                const training::Encoder& sums);

  /// Trains until the training is over.
  void train();

  void enter(std::size_t unit) override;
  void leave(std::size_t /*unit*/) override {}
  Tensor parameters(std::size_t unit) const override;
  void make_gradient(std::size_t unit) override;
  void complete(std::size_t unit, const Tensor& g) override;

 private:
  struct TrainingIsOver {};
  void expect_sums();
  void push(std::size_t bucket, const Tensor& g);
  void take_sum(std::size_t service);
  /// Blocks until the bucket's sum has come, and updates its parameters. After the last bucket the state is reported.
  /// Errors: TrainingIsOver.
  void conclude(std::size_t bucket);
  void update(std::size_t bucket, const Tensor& sum);
  void report();

  Worker& worker_;
  const UnitBuckets& buckets_;
  BucketMessages messages_;
  Options options_;
  training::Encoder& gradients_;
  const training::Encoder& sums_;
  State state_;
  std::optional<StatePieces> pieces_;                  ///< by bucket; none: at once
  std::vector<std::deque<cluster::Pending>> answers_;  ///< by service, in the order of their coming
  std::vector<std::vector<Tensor>> parts_;             ///< of sums, by bucket, by message
  std::vector<Tensor> waiting_;                        ///< sums that are applied at once, by bucket
  std::vector<bool> under_way_;                        ///< by bucket
  std::size_t left_ = 0;                               ///< buckets under way
  std::size_t visits_ = 0;                             ///< of the passes to units, since the step began
  double gradient_bytes_ = 0.0;                        ///< in memory
  BucketStream pushes_;
};

/// The program of a service. It runs until the training ends, while it waits for a push.
void sum_buckets(Server& service, const UnitBuckets& buckets, std::int64_t credits, training::Encoder& gradients,
                 training::Encoder& sums);

}  // namespace simgrad::strategies
