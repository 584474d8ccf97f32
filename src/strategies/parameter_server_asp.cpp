/// Servers that apply gradients as they come, stale as they are.
#include <algorithm>
#include <vector>

#include "strategies/late_gradients.h"
#include "strategies/parameter_server.h"
#include "strategies/parameter_store.h"

namespace simgrad::strategies {

using cluster::Inbox;

/// asp: a push is applied (of K-batch-async: every K pushes) and answered with the parameters as they are then.
void ParameterServer::serve_asp(Server& server) const {
  const std::size_t K = static_cast<std::size_t>(k_batch.value_or(1));
  State state = server.start();
  Answers answers(server);
  LateGradients late(*this, server, state);
  Inbox pushes(server.comm(), 0, server.workers());
  answers.send_all(state);
  while (server.continues(state)) {
    std::vector<Tensor> parts;
    while (parts.size() < K) {
      auto [worker, push] = pushes.next();
      parts.push_back(late.corrected(push.tensor, worker, state, state.step - push.version));
      if (parts.size() == K) late.apply(parts, state);
      late.pulls(worker, state);
      answers.send(worker, state);
    }
  }
}

/// ssp: the same, but a worker that is more than the bound ahead of the slowest waits for its answer. Staleness counts
/// the clocks by which the slowest was behind when a gradient's parameters were pulled.
void ParameterServer::serve_ssp(Server& server) const {
  const auto P = static_cast<std::size_t>(server.workers());
  State state = server.start();
  Answers answers(server);
  LateGradients late(*this, server, state);
  Inbox pushes(server.comm(), 0, server.workers());
  answers.send_all(state);
  std::vector<std::int64_t> clock(P), staleness(P);
  std::vector<int> waiting;
  while (server.continues(state)) {
    auto [worker, push] = pushes.next();
    late.apply({late.corrected(push.tensor, worker, state, staleness[static_cast<std::size_t>(worker)])}, state);
    ++clock[static_cast<std::size_t>(worker)];
    waiting.push_back(worker);
    const std::int64_t slowest = *std::ranges::min_element(clock);
    std::erase_if(waiting, [&](int w) {
      const auto i = static_cast<std::size_t>(w);
      if (clock[i] - slowest > bound()) return false;
      staleness[i] = clock[i] - slowest;
      late.pulls(w, state);
      answers.send(w, state);
      return true;
    });
  }
}

}  // namespace simgrad::strategies
