/// A replica's averaging with its neighbours, where each sends codes.
///
/// Gradients: the average of what is decoded. Parameters, by a code that keeps them: x_i + sum_j W_ij (Q(x_j) -
/// Q(x_i)), which leaves the mean where it is. By any other code, the differences of parameters to a copy of each
/// replica that all its neighbours hold: y_j <- y_j + C(x_j - y_j), then x_i + gamma sum_j W_ij (y_j - y_i). Source: A.
/// Koloskova, S. U. Stich, M. Jaggi, "Decentralized Stochastic Optimization and Gossip Algorithms with Compressed
/// Communication", ICML 2019 (CHOCO-SGD, Algorithm 2). The copies begin as the parameters of step 0, and anew with each
/// generation.
/// Cost: t_encode + alpha + degree m beta + degree t_decode + (2 degree + 1) k, + 2 d for parameters; with copies
/// (degree + 1) k + (2 degree + 4) d. m bytes a code, k flops to add one: d unless it is sparse.
#pragma once

#include <memory>
#include <vector>

#include "strategies/gossip/neighbourhood.h"
#include "training/compressors/encoder.h"

namespace simgrad::strategies {

class CodedExchange {
 public:
  /// The array that is averaged, and how it is encoded.
  enum class Payload { gradients, parameters, differences };

  /// consensus_step: gamma, for differences.  Worker and compressor must outlive it.
  CodedExchange(Worker& worker, std::shared_ptr<const MixingTurns> W, const training::Compressor& compressor,
                Payload payload, double consensus_step = 1.0);

  /// The state to begin with: see Neighbourhood.
  State start() const { return neighbours_.start(); }

  /// An exchange that goes on while its rank computes.
  struct Sent {
    Tensor x;
    Tensor code;
    Neighbourhood::Exchange exchange;
  };
  Sent start(const Tensor& x, std::int64_t step);
  /// Returns x after averaging.  Virtual time: until all codes have come, decoding, the additions.
  Tensor finish(Sent sent);
  Tensor combine(const Tensor& x, std::int64_t step) { return finish(start(x, step)); }
  /// The average of a stretch of the vector, from `first` on, by an actor beside the rank. Not of differences.
  Tensor combine_beside(const cluster::Communicator& comm, const Tensor& x, std::int64_t first, std::int64_t step);

 private:
  /// Encodes a vector of several times d numbers in pieces of d.
  Tensor code_of(const Tensor& x);
  Tensor towards_copies(Sent sent);
  /// The average of x with what the neighbours have sent.
  Tensor mixed(const cluster::Communicator& comm, Sent sent, std::int64_t first);
  bool alone() const { return row_.neighbours.empty() && row_.targets.empty(); }

  Worker& worker_;
  std::shared_ptr<const MixingTurns> W_;
  const MixingRow& row_;  ///< this rank's in the first turn, which is every turn's where differences travel
  Neighbourhood neighbours_;
  training::Encoder encoder_;
  Payload payload_;
  double consensus_step_;
  Tensor own_copy_;             ///< y_i
  std::vector<Tensor> copies_;  ///< y_j, by neighbour
};

}  // namespace simgrad::strategies
