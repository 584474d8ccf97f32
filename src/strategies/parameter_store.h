/// The two sides of a parameter server: its shards as a worker sees them, its workers as a server sees them.
#pragma once

#include <deque>
#include <functional>
#include <vector>

#include "cluster/communicator.h"
#include "cluster/inbox.h"
#include "strategies/strategy.h"

namespace simgrad::strategies {

/// What a worker has pulled: the parameters, and each shard's version.
struct Pulled {
  Tensor w;
  std::vector<std::int64_t> versions;
};

/// All servers together, as a worker sees them. An answer to a push is the parameters, so there are no requests.
class ParameterStore {
 public:
  explicit ParameterStore(Worker& worker);
  /// Blocks until every server has sent its shard.
  Pulled pull();
  /// Blocks until every server has its part of g; the answers may come in meanwhile.
  void push(const Tensor& g, const Pulled& computed_at);

 private:
  void expect_answers();

  Worker& worker_;
  std::vector<cluster::Pending> answers_;
};

/// Sends g's shards to all servers at once, each with the version of the shard it was computed at.
void push_shards(Worker& worker, const Tensor& g, const std::vector<std::int64_t>& versions);

/// A server's answers to its workers: one under way to each. Those to a worker that is lost are dropped.
class Answers {
 public:
  explicit Answers(const Server& server);
  void send(int worker, const State& state);
  void send_all(const State& state);

 private:
  const Server& server_;
  std::deque<cluster::Pending> under_way_;  ///< by worker
};

/// A server at work: it has sent everybody the parameters to start with, and their pushes come in.
struct Service {
  explicit Service(const Server& server, cluster::Inbox::Losses losses = cluster::Inbox::Losses::untold);

  /// The next push of a gradient. Who has come back pushes nothing, and is answered: a pull.
  /// pulls(worker): called before it is.
  cluster::Inbox::Arrival next(const std::function<void(int)>& pulls);
  /// In place, servers may be through one after the other: whoever is goes on answering.
  void answer_the_rest();

  State state;
  Answers answers;
  cluster::Inbox pushes;
  bool in_place;
};

}  // namespace simgrad::strategies
