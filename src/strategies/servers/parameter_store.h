/// The two sides of a parameter server: its shards as a worker sees them, its workers as a server sees them.
#pragma once

#include <deque>
#include <functional>
#include <vector>

#include "cluster/ranks/communicator.h"
#include "cluster/ranks/inbox.h"
#include "strategies/compression.h"
#include "training/compressors/encoder.h"

namespace simgrad::strategies {

/// What a worker has pulled: the parameters, and each shard's version.
struct Pulled {
  Tensor w;
  std::vector<std::int64_t> versions;
};

/// All servers together, as a worker sees them. An answer to a push is the parameters, so there are no requests.
class ParameterStore {
 public:
  /// gradients, parameters: what is sent instead of them. Both must outlive it.
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

/// The first parameter of a server's shard, among all as they are dealt.
std::int64_t first_parameter(const training::Shards& shards, int server);

/// A server's answers to its workers: one under way to each. Those to a worker that is lost are dropped.
class Answers {
 public:
  /// parameters: what is sent instead of them; it must outlive the answers.
  Answers(const Server& server, const training::Compressor& parameters);
  void send(int worker, const State& state);
  /// What is sent of that state; made once.
  Tensor code(const State& state) { return parameters_.once(server_.comm(), state.w); }
  void send_all(const State& state);

 private:
  const Server& server_;
  training::Encoder parameters_;
  std::deque<cluster::Pending> under_way_;  ///< by worker
};

/// A server at work: it has sent everybody the parameters to start with, and their pushes come in.
struct Service {
  /// gradients, parameters: what is sent instead of them. Both must outlive it.
  Service(const Server& server, const training::Compressor& gradients, const training::Compressor& parameters,
          cluster::Inbox::Losses losses = cluster::Inbox::Losses::untold);

  /// The next push of a gradient, decoded. Who has come back pushes nothing, and is answered: a pull.
  /// pulls(worker): called before it is.
  cluster::Inbox::Arrival next(const std::function<void(int)>& pulls);
  /// In place, servers may be through one after the other: whoever is goes on answering.
  void answer_the_rest();
  /// A push that came in otherwise.
  Tensor decoded(const Tensor& push) const;
  /// Of pushes that have been decoded.  Virtual time: the additions.
  Tensor sum(std::vector<Tensor> parts) const;

  const Server& server;
  training::Encoder gradients;
  State state;
  Answers answers;
  cluster::Inbox pushes;
  bool keeps_going;
};

}  // namespace simgrad::strategies
