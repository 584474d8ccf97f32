/// A parameter server's shards, as a worker sees them.
#pragma once

#include <cstdint>
#include <vector>

#include "cluster/ranks/communicator.h"
#include "strategies/strategy.h"
#include "training/compressors/encoder.h"
#include "training/worker.h"

namespace simgrad::strategies {

/// The parameters that a worker has pulled, and each shard's version.
struct Pulled {
  Tensor w;
  std::vector<std::int64_t> versions;
};

/// All servers together, as a worker sees them. An answer to a push is the parameters, so there are no requests but
/// those of a worker that has come back.
class ParameterStore {
 public:
  /// gradients, parameters: the codes that are sent instead of them. Both must outlive it.
  ParameterStore(Worker& worker, const training::Compressor& gradients, const training::Compressor& parameters);
  /// Blocks until every server has sent its shard.
  Pulled pull();
  /// Blocks until every server has its part of g; the answers may come in meanwhile.
  void push(const Tensor& g, const Pulled& computed_at);

 private:
  void expect_answers();

  Worker& worker_;
  training::Encoder gradients_;
  training::Encoder parameters_;
  std::vector<cluster::Pending> answers_;
};

/// Sends g's shards to all servers at once, each encoded by itself, with the version of the shard it was computed at.
void push_shards(Worker& worker, training::Encoder& gradients, const Tensor& g,
                 const std::vector<std::int64_t>& versions);

/// Asks every server for its parameters, where the worker has come back; at the beginning servers send them unasked.
void request_parameters_again(Worker& worker);

}  // namespace simgrad::strategies
