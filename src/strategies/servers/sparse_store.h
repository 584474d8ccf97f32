/// The servers of a sparse parameter server as a worker sees them.
#pragma once

#include <deque>
#include <optional>
#include <vector>

#include "cluster/ranks/communicator.h"
#include "cluster/ranks/pending.h"
#include "strategies/servers/key_cache.h"
#include "strategies/servers/sparse_parameter_server.h"
#include "training/sparse/sparse_learning.h"

namespace simgrad::strategies {

/// All servers together, as a worker sees them: batch after batch.
class SparseStore {
 public:
  SparseStore(Worker& worker, const SparseParameterServer& options);

  /// Asks for the first batch's keys, without a push.
  void request();
  /// Blocks until every server has answered.  Returns the present batch's rows, then all dense parameters on servers.
  Tensor pull();
  /// This rank's part of its gradient.  Virtual time: flops / speed.
  Tensor gradient(const Tensor& at, const Tensor& replica);
  /// Starts to send every server its part of g, with the request for the batch after this one, if there is one.
  void push(const Tensor& g);
  /// Whether a batch is asked for. The last one that a number of steps allows is followed by none.
  bool expects() const { return !answers_.empty(); }
  /// Blocks until they have it.
  void wait();
  /// The replica's part of g.
  Tensor replica_part(const Tensor& g) const;

 private:
  void send(const Tensor& g);
  void plan_next();
  Tensor together(const std::vector<Tensor>& answers) const;
  void note_versions(const std::vector<std::int64_t>& answered);
  void update_kept(const Tensor& g);

  Worker& worker_;
  const SparseParameterServer& options_;
  training::SparseLearning& learning_;
  KeyCache cache_;
  Pull next_;     ///< the batch that is asked for
  Pull present_;  ///< the batch that has come
  std::deque<std::vector<std::int64_t>>
      answered_;                        ///< the servers' versions, of the last steps that kept rows may be from
  std::vector<std::int64_t> versions_;  ///< by server: that of the oldest row in use
  bool keeps_own_updates_;
  Tensor kept_;  ///< the present batch's table
  std::vector<cluster::Pending> answers_, sends_;
};

/// x in the format of its message, as the receiver computes with it.  Virtual time: a flop a number where it is
/// rounded.
Tensor as_sent(const cluster::Communicator& comm, const Tensor& x, values::Format format);
Tensor as_received(const cluster::Communicator& comm, const Tensor& x, values::Format format);

}  // namespace simgrad::strategies
