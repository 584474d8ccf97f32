/// The sums of a gradient's pieces over all workers, each worker's shard of them.
#pragma once

#include <algorithm>
#include <utility>
#include <vector>

#include "base/errors.h"
#include "cluster/ranks/side_stream.h"
#include "collectives/ring.h"
#include "strategies/micro_batches.h"
#include "strategies/sharded/pieces.h"
#include "training/learning/learning.h"
#include "training/worker.h"

namespace simgrad::strategies {

/// The sums of pieces over all workers, beside the backward pass, which completes the last piece first.
class PieceSums {
 public:
  /// at_once: a single piece is summed after the whole backward pass, which may end with layers without parameters.
  /// drops: whether the gradient of a piece is dropped once it is reduced; then two pieces at a time are in memory, and
  /// the backward pass waits for the sum of the piece before.
  PieceSums(Worker& worker, const Pieces& pieces, const collectives::Rings& rings, bool at_once, bool drops)
      : worker_(worker),
        pieces_(pieces),
        chunks_(pieces.chunks(worker.rank())),
        rings_(rings),
        at_once_(at_once),
        drops_(drops),
        beside_(worker.comm()) {
    worker.keep_gradients(!drops);
  }

  /// not_summed: gradients of earlier micro-batches to add; or none.
  void begin(const Tensor& not_summed) {
    not_summed_ = not_summed;
    next_ = pieces_.count();
    shard_ = 0;
    layers_left_ = std::ssize(worker_.learning().layers());
  }
  /// The backward pass has completed a layer of g.
  void ready(const Tensor& g, const models::Layer& layer) {
    --layers_left_;
    if (next_ == 0) return;  // layers without parameters, in front of all others
    hold(training::gradients_begun(worker_.learning().layers(), static_cast<std::size_t>(layers_left_)));
    const Stretch& piece = pieces_[next_ - 1];
    if (layer.first != piece.first || (at_once_ && layers_left_ > 0)) return;
    Tensor sum = not_summed_ ? values::slice(not_summed_, piece.first, piece.count) : Tensor();
    accumulate_own(worker_, sum, values::slice(g, piece.first, piece.count));
    if (drops_) end_last();
    last_ = beside_.start_collective(
        [sum, rings = rings_](const cluster::Communicator& comm) { return collectives::sum_shard(comm, sum, rings); });
    shard_ += chunks_[--next_].count;
    if (drops_)
      worker_.memory().raise(record::MemoryPart::gradients,
                             worker_.number_bytes().kept_gradient * static_cast<double>(shard_));
    reducing_ = piece.count;
  }
  /// Blocks until all sums are done. Returns this worker's shard of them.
  Tensor reduced() {
    base::check(next_ == 0, "the backward pass completes all pieces");
    std::vector<Tensor> chunks = beside_.wait_for_all();
    end_last();
    std::ranges::reverse(chunks);
    return values::concatenate(chunks);
  }

 private:
  void hold(std::int64_t numbers) const {
    if (drops_)
      worker_.memory().hold(record::MemoryPart::buckets,
                            worker_.number_bytes().gradient * static_cast<double>(numbers));
  }
  void end_last() {
    if (last_ >= 0) beside_.wait_until_over(last_);
    hold(-std::exchange(reducing_, 0));
    last_ = -1;
  }

  Worker& worker_;
  const Pieces& pieces_;
  std::vector<Stretch> chunks_;  ///< this worker's, by piece, in its shard
  collectives::Rings rings_;
  bool at_once_;
  bool drops_;
  cluster::SideStream beside_;
  Tensor not_summed_;
  std::int64_t layers_left_ = 0;  ///< of the backward pass
  std::size_t next_ = 0;          ///< pieces that are not complete
  std::int64_t shard_ = 0;        ///< numbers of this worker's shard that are being reduced, or are
  std::int64_t reducing_ = 0;     ///< numbers of the piece that is being reduced
  int last_ = -1;                 ///< the task of its sum
};

}  // namespace simgrad::strategies
