/// Averages of two replicas at a time, while both ranks compute.
///
/// A rank sends its x to a neighbour, which moves to the middle at once and answers with its x from before. When the
/// answer has come, the asker moves by its half. Two ranks whose requests cross take both requests as one average: each
/// sees this from the number of requests that it has received. A rank whose answer overtakes the crossing request asks
/// other neighbours, or none, until that request has come. Both sides move by half of one difference, which keeps the
/// mean whatever comes in between. Where codes are sent, it is the difference of what both decode.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "strategies/gossip/async_replica.h"
#include "training/compressors/compressor.h"

namespace simgrad::strategies {

class AveragingReplica;

class PairAverages {
 public:
  /// neighbours: the members to average with; edges lead both ways.  Both must outlive it.
  PairAverages(Worker& worker, const std::vector<int>& neighbours, const training::Compressor& compressor);

  State& state();
  bool continues() const { return peers_.continues(); }

  /// An average that is under way; without a peer there is none.
  struct UnderWay {
    std::optional<int> peer;
    Tensor sent;
    cluster::Pending asking, answering;
  };
  /// Asks a neighbour at work, drawn at random.  Virtual time: encoding.
  UnderWay start();
  /// Moves by half of the difference to the neighbour's answer.  Virtual time: until it has come, decoding, 2 d flops.
  void finish(UnderWay average);

 private:
  /// One of these that is at work; nothing if none is.
  std::optional<int> drawn(const std::vector<int>& members, std::int64_t step) const;

  Worker& worker_;
  const std::vector<int>& neighbours_;
  std::shared_ptr<AveragingReplica> replica_;
  AsyncPeers peers_;
};

}  // namespace simgrad::strategies
