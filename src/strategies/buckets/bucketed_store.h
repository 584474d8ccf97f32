/// A parameter server's shards, as a worker sees them that pushes and pulls buckets of layers beside its passes.
///
/// A bucket's gradient leaves as soon as the backward pass has it, and its parameters are needed when the next forward
/// pass comes to its layers. Every server holds a stretch of each bucket.
/// Cost of a step: with b_i the end of the backward pass through bucket i (the last layers' is the first) and one
/// credit, pushes end at c_i = max(b_i, c_(i-1)) + alpha + max(1, P/s) M_i beta, and answers likewise; the forward pass
/// through the bucket's layers begins when its answer has come.
/// Source: H. Zhang et al., "Poseidon", USENIX ATC 2017; Y. Peng et al., "A Generic Communication Scheduler for
/// Distributed DNN Training Acceleration", SOSP 2019.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <vector>

#include "strategies/buckets/bucket_stream.h"
#include "strategies/buckets/buckets.h"
#include "training/compressors/encoder.h"
#include "training/passes.h"
#include "training/worker.h"

namespace simgrad::strategies {

/// Written beside a bucket's message.
struct BucketNote {
  std::int64_t bucket = 0;
  std::int64_t version = 0;  ///< of the parameters, or of those at which the gradient was computed
};

/// The ranks that hold the parameters, each a stretch of every bucket.
struct BucketHolders {
  int first = 0;  ///< member of the communicator
  int count = 1;
  /// A holder's stretch of a bucket, among all parameters.
  std::function<Stretch(int holder, std::size_t bucket)> stretch;

  /// The servers of a worker, whose parameters are dealt in pieces.
  static BucketHolders servers(const Worker& worker);
};

struct BucketTravel {
  std::int64_t credits = 1;  ///< buckets under way from a worker, and to it
  bool pulls_whole = false;  ///< answers are whole
};

class BucketedStore final : public training::UnitVisitor {
 public:
  /// gradients, parameters: the codes that are sent instead of them.  All must outlive it.
  BucketedStore(Worker& worker, const UnitBuckets& buckets, BucketHolders holders, const BucketTravel& travel,
                const training::Compressor& gradients, const training::Compressor& parameters);

  /// Blocks until the parameters of the first layers have come; their version.
  std::int64_t begin();
  /// Ends the step's passes, which have gone through this visitor.
  void end();

  void enter(std::size_t unit) override;
  void leave(std::size_t) override {}
  Tensor parameters(std::size_t unit) const override;
  void make_gradient(std::size_t unit) override;
  void complete(std::size_t unit, const Tensor& g) override;

 private:
  void expect_answers();
  void await(std::size_t bucket);
  void take_answer(std::size_t holder);
  void take_whole_answer(std::size_t holder, const cluster::Packet& packet);
  void push(std::size_t bucket, const Tensor& g);

  Worker& worker_;
  const UnitBuckets& buckets_;
  BucketHolders holders_;
  bool pulls_whole_;
  training::Encoder gradients_;
  const training::Encoder parameters_;
  std::vector<std::deque<cluster::Pending>> answers_;  ///< by holder, in the order of their coming
  std::vector<std::vector<Tensor>> parts_;             ///< of the parameters, by bucket, by holder
  std::vector<Tensor> pulled_;                         ///< by bucket, whole
  std::vector<std::int64_t> versions_;                 ///< by holder
  std::size_t visits_ = 0;                             ///< of the passes to units, since the step began
  double gradient_bytes_ = 0.0;                        ///< in memory
  BucketStream pushes_;
};

}  // namespace simgrad::strategies
