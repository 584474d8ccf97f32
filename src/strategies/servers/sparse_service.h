/// A server of sparse parameters: its rows are read and updated where they are.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <vector>

#include "cluster/ranks/inbox.h"
#include "strategies/servers/sparse_parameter_server.h"
#include "strategies/servers/worker_listener.h"
#include "training/sparse/sparse_learning.h"
#include "training/sparse/sparse_table.h"

namespace simgrad::strategies {

/// The note beside a worker's message: keys by the numbers of their rows at the server.
struct KeyNote {
  training::TableRows pushed;  ///< the rows whose gradients the array holds; null without a push
  training::TableRows wanted;  ///< the rows to answer with
  std::int64_t version = 0;    ///< the version of the oldest row at which the gradient was computed
};

/// A worker's gradient of some rows, as it has come in.
struct SparsePush {
  int worker = 0;
  Tensor g;
  std::shared_ptr<const KeyNote> keys;
};

class SparseService {
 public:
  SparseService(const SparseParameterServer& options, const Server& server, cluster::Inbox::OnLoss losses);

  std::int64_t step() const { return step_; }
  /// Notifies the listener of losses, where the inbox reports them, and of returns. It must outlive the service.
  void notify(WorkerListener& listener) { listener_ = &listener; }

  /// Reports the table. Under recovery = "continue" servers may finish one after the other: then this one answers until
  /// all have finished.
  bool continues();
  /// Blocks until the next push. A request alone, as at the beginning, is answered at once.
  SparsePush next();
  /// Sends the rows that the worker has last asked for.
  void answer(int worker);
  /// One update by these pushes.  Virtual time: decoding of rounded numbers, the additions of several pushes, and the
  /// optimizer's flops.
  void apply(const std::vector<SparsePush>& pushes, double factor);

 private:
  cluster::Inbox::Arrival received();

  const SparseParameterServer& options_;
  const Server& server_;
  training::SparseLearning& learning_;
  cluster::Inbox pushes_;
  std::deque<cluster::Pending> under_way_;   ///< answers, by worker
  std::vector<training::TableRows> wanted_;  ///< by worker
  std::shared_ptr<training::SparseTable> table_;
  std::shared_ptr<const training::Store> store_;
  std::int64_t step_ = 0;
  WorkerListener* listener_ = nullptr;
};

}  // namespace simgrad::strategies
