/// A parameter server's workers, as the server sees them: their pushes, and its answers.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <vector>

#include "cluster/ranks/communicator.h"
#include "cluster/ranks/inbox.h"
#include "strategies/compression.h"
#include "strategies/servers/worker_listener.h"
#include "training/compressors/encoder.h"
#include "training/worker.h"

namespace simgrad::strategies {

/// A server's answers to its workers: one under way to each. Those to a worker that is lost are dropped.
class Answers {
 public:
  /// parameters: the code that is sent instead of them; it must outlive the answers.
  Answers(const Server& server, const training::Compressor& parameters);
  void send(int worker, const State& state);
  /// The code that is sent of that state; made once.
  Tensor code(const State& state) { return parameters_.once(server_.comm(), state.w); }
  void send_all(const State& state);

 private:
  const Server& server_;
  training::Encoder parameters_;
  std::deque<cluster::Pending> under_way_;  ///< by worker
};

/// A worker's push, as it has come in.
struct Push {
  int worker = 0;
  Tensor code;
  std::int64_t version = 0;  ///< the version of the parameters at which its gradient was computed
};

/// A server that has sent all workers the parameters to start with, and receives their pushes. A worker that comes back
/// is answered at once.
class PushService {
 public:
  /// gradients, parameters: the codes that are sent instead of them. Both must outlive it.
  PushService(const Server& server, const training::Compressor& gradients, const training::Compressor& parameters,
              cluster::Inbox::OnLoss losses = cluster::Inbox::OnLoss::silent);

  State state;

  /// Called with each worker that is answered, before it is.
  void at_every_answer(std::function<void(int worker)> call) { answered_ = std::move(call); }
  /// Notifies the listener of losses, where the inbox reports them, and of returns. It must outlive the service.
  void notify(WorkerListener& listener) { listener_ = &listener; }

  const Server& server() const { return server_; }
  const training::Encoder& gradients() const { return gradients_; }
  /// Reports the state. Under recovery = "continue" servers may finish one after the other: then this one answers until
  /// all have finished.
  bool continues();
  /// Blocks until the next push.
  Push next();
  void answer(int worker);
  void answer_all() { answers_.send_all(state); }
  /// The parameters as workers decode them.
  Tensor answered_parameters() { return values::decoded(answers_.code(state)); }
  /// A push, decoded.  Virtual time: the decoding.
  Tensor decoded(const Push& push) const;
  /// The sum of decoded pushes.  Virtual time: the additions.
  Tensor sum(std::vector<Tensor> parts) const;

 private:
  const Server& server_;
  training::Encoder gradients_;
  Answers answers_;
  cluster::Inbox pushes_;
  std::function<void(int)> answered_;
  WorkerListener* listener_ = nullptr;
};

}  // namespace simgrad::strategies
