/// The workers of federated averaging, as its server sees them.
#pragma once

#include <functional>
#include <utility>
#include <vector>

#include "strategies/servers/push_service.h"

namespace simgrad::strategies {

/// The models (or moves) that a round's workers have returned.
class ReturnedModels {
 public:
  /// Both must outlive it.
  ReturnedModels(const Server& server, const training::Encoder& code) : server_(server), code_(code) {}

  /// rows: those that the worker owns.
  void add(int worker, Tensor x, std::int64_t rows);
  bool empty() const { return models_.empty(); }
  /// Shows them to the training as the workers' replicas.
  void show() const;
  /// The models, in the order of the workers.
  std::vector<Tensor> in_order() const;
  /// The models' mean by rows, added in the order of the workers.  Virtual time: 2 d flops a model, 2 k a sparse code.
  Tensor mean();

 private:
  const Server& server_;
  const training::Encoder& code_;
  std::vector<std::pair<int, Tensor>> models_;
  std::vector<double> rows_;
};

class Clients {
 public:
  /// moves, models: the codes that are sent instead of them.  All must outlive it.
  Clients(const Server& server, const training::Compressor& moves, const training::Compressor& models);

  /// The model as the workers decode it.  Virtual time: encoding.
  Tensor model(const State& state) { return values::decoded(models_.code(state)); }
  /// Whether workers return models rather than codes of their moves.
  bool exact_moves() const { return moves_.compressor().exact(); }
  using Choose = std::function<std::vector<int>(const std::vector<int>& present)>;
  using Returned = std::function<void(int worker)>;
  /// Sends the model to the workers chosen among those present, and blocks until each has returned its model or is
  /// lost. If all are lost, it chooses again.  on_return: called for every model that comes back.
  ReturnedModels train(const State& state, const Choose& chosen, const Returned& on_return);

 private:
  void wait_for(const std::vector<int>& round, ReturnedModels& returned, const Returned& on_return);

  const Server& server_;
  training::Encoder moves_;
  Answers models_;
  cluster::Inbox inbox_;
  std::vector<int> present_;  ///< ascending
};

}  // namespace simgrad::strategies
