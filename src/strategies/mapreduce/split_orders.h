/// The master of MapReduce's splits, and the other reducers, as a worker sees them.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "cluster/ranks/inbox.h"
#include "strategies/mapreduce/split_notes.h"
#include "strategies/strategy.h"
#include "training/compressors/encoder.h"

namespace simgrad::strategies {

class SplitOrders {
 public:
  /// parameters: the code that is sent instead of them; it must outlive this.  speculative: whether a worker without a
  /// split may be given a slow one's, as it may be given a lost one's. A worker that has come back asks for a split.
  SplitOrders(Worker& worker, const training::Compressor& parameters, bool speculative);

  /// Blocks until every reducer has sent its stretch of the next round's parameters; orders of the last round are void.
  Tensor parameters();
  std::int64_t step() const { return step_; }
  /// The split to map next; nothing if there is none left in this round.  Virtual time: until the order has come.
  std::optional<int> next_split();
  /// Maps for that long, unless the next round begins meanwhile: then another worker was faster. Returns whether it
  /// finished.
  bool compute(double flops) { return received_ == 0 && inbox_.compute(flops); }
  /// As compute(), of reading the rows of one of so many splits, and of writing to the worker's disk.
  bool read(int split, int all);
  bool use_disk(std::int64_t bytes);
  /// Reports the split as mapped. Returns whether its result is wanted; then the last result has arrived.
  bool accepts(int split);
  /// Starts to send each reducer its slice of the split's result.
  void send(int split, std::vector<cluster::Packet> slices);

 private:
  /// Blocks until an order has come; nothing if the next round has begun.
  std::optional<SplitOrder> order();
  /// Takes one message: an order, or a reducer's parameters.
  std::optional<SplitOrder> receive();

  Worker& worker_;
  training::Encoder code_;
  bool waits_;  ///< a worker without a split may be given one later in the round
  cluster::Inbox inbox_;
  std::vector<Tensor> slices_;
  int received_ = 0;  ///< stretches of the next round
  std::int64_t step_ = -1;
  bool joins_;                       ///< it has come back, and not begun a round
  std::optional<SplitOrder> order_;  ///< the last one; none once the round is over
  std::vector<cluster::Pending> results_;
};

}  // namespace simgrad::strategies
