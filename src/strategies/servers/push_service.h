/// A parameter server's workers, as the server sees them: their pushes, and its answers.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <vector>

#include "cluster/ranks/communicator.h"
#include "cluster/ranks/inbox.h"
#include "strategies/buckets/bucket_stream.h"
#include "strategies/buckets/bucketed_store.h"
#include "strategies/compression.h"
#include "strategies/servers/worker_listener.h"
#include "training/compressors/encoder.h"
#include "training/worker.h"

namespace simgrad::strategies {

/// The buckets in which parameters and gradients travel; none: they are whole.
struct Bucketing {
  std::size_t buckets = 0;
  BucketTravel travel = {};

  explicit operator bool() const { return buckets > 0; }
  bool of_answers() const { return buckets > 0 && !travel.pulls_whole; }
};

/// A server's answers to its workers: one under way to each, or so many buckets. Those to a worker that is lost are
/// dropped.
class Answers {
 public:
  /// parameters: the code that is sent instead of them; it must outlive the answers.
  Answers(const Server& server, const training::Compressor& parameters, const Bucketing& bucketing = {});
  void send(int worker, const State& state);
  /// Sends all workers a bucket beside what the server does. Returns at once.  w: its parameters of that version.
  void send_bucket_to_all(std::size_t bucket, const Tensor& w, std::int64_t version);
  /// The code that is sent of that state; made once.
  Tensor code(const State& state) { return parameters_.once(server_.comm(), state.w); }
  void send_all(const State& state);

 private:
  void send_bucket(int worker, std::size_t bucket, const Tensor& w, std::int64_t version);

  const Server& server_;
  training::Encoder parameters_;
  Bucketing bucketing_;
  std::deque<cluster::Pending> under_way_;  ///< by worker
  std::deque<BucketStream> streams_;        ///< likewise, of buckets
};

/// A worker's push, as it has come in.
struct Push {
  int worker = 0;
  std::vector<Tensor> codes;  ///< one, or one of each bucket
  std::int64_t version = 0;   ///< the version of the parameters at which its gradient was computed
};

/// One bucket of a push.
struct BucketPush {
  int worker = 0;
  std::size_t bucket = 0;
  Tensor code;
};

/// A server that has sent all workers the parameters to start with, and receives their pushes. A worker that comes back
/// is answered at once.
class PushService {
 public:
  /// gradients, parameters: the codes that are sent instead of them. Both must outlive it.
  PushService(const Server& server, const training::Compressor& gradients, const training::Compressor& parameters,
              cluster::Inbox::OnLoss losses = cluster::Inbox::OnLoss::silent, const Bucketing& bucketing = {});

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
  /// Blocks until the next push has come, whole.
  Push next();
  /// Blocks until the next bucket has come.
  BucketPush next_bucket();
  void answer(int worker);
  void answer_all() { answers_.send_all(state); }
  /// Answers all workers with a bucket, beside what the server does.
  void answer_bucket(std::size_t bucket, const Tensor& w, std::int64_t version) {
    answers_.send_bucket_to_all(bucket, w, version);
  }
  /// The parameters as workers decode them.
  Tensor answered_parameters() { return values::decoded(answers_.code(state)); }
  /// A push, decoded.  Virtual time: the decoding.
  Tensor decoded(const Push& push) const;
  /// The sum of decoded pushes.  Virtual time: the additions.
  Tensor sum(std::vector<Tensor> parts) const;

 private:
  /// The next push of which all buckets have come.
  Push next_in_buckets();
  const Server& server_;
  training::Encoder gradients_;
  Bucketing bucketing_;
  Answers answers_;
  cluster::Inbox pushes_;
  std::vector<std::vector<Tensor>> arriving_;  ///< codes, by worker, by bucket
  std::function<void(int)> answered_;
  WorkerListener* listener_ = nullptr;
};

}  // namespace simgrad::strategies
