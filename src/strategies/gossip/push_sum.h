/// Push-sum's exchange: shares of a vector and of its weight, sent along edges that lead one way.
///
/// Source: D. Kempe, A. Dobra, J. Gehrke, "Gossip-Based Computation of Aggregate Information", FOCS 2003.
#pragma once

#include <optional>

#include "strategies/gossip/neighbourhood.h"
#include "strategies/gossip/push_turns.h"
#include "training/compressors/encoder.h"

namespace simgrad::strategies {

/// A vector and its weight. All ranks' masses together, with those under way, stay constant.
struct Mass {
  Tensor x;
  double omega = 1.0;

  Tensor z() const { return omega == 1.0 ? x : (1.0 / omega) * x; }
};

/// One rank's pushes. Shares of a step are equal, so that columns sum to 1, whatever the degrees.
class PushSum {
 public:
  /// overlap: a push travels while the next gradient is computed.  All must outlive it.
  PushSum(Worker& worker, const PushTurns& turns, const training::Compressor& compressor, bool overlap);

  /// The state to begin with, and its mass; a push that was under way is sent again.
  State start();
  Mass mass(const State& state) const;
  /// Keeps one share of the mass and returns another to send. The part that a code leaves out stays with the sender.
  /// Virtual time: encoding, and 3 d flops where codes are sent.
  Mass split(Mass& mass, std::int64_t step);
  /// Sends the share to each of the step's targets, and adds what comes in: in this step, or overlapped in the step
  /// before.  Virtual time: until that has come, decoding, 2 d flops and d more for each mass that is added.
  void exchange(Mass& mass, const Mass& share, std::int64_t step);
  /// The mass of a stretch of the vector, from `first` on, after this step's exchange by an actor beside the rank. All
  /// stretches of a step carry the same weight.
  Mass exchanged_beside(const cluster::Communicator& comm, Mass mass, std::int64_t first, std::int64_t step);
  /// The mass, and a share under way, as the next start() reads them.
  Joint joint(const Mass& mass, const Mass& share) const;
  /// Blocks until the last push has been received: others may still be a step behind.
  void finish();

 private:
  Mass split(const cluster::Communicator& comm, Mass& mass, std::int64_t first, std::int64_t step);
  Neighbourhood::Exchange send(const cluster::Communicator& comm, const Mass& share, std::int64_t step) const;
  /// Adds what has come.
  void add(const cluster::Communicator& comm, Mass& mass, const std::vector<cluster::Packet>& received,
           std::int64_t first) const;

  Worker& worker_;
  const PushTurns& turns_;
  bool overlap_;
  MixingRow row_;
  Neighbourhood neighbours_;
  training::Encoder encoder_;
  std::optional<Neighbourhood::Exchange> under_way_;
};

}  // namespace simgrad::strategies
