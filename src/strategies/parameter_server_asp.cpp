/// Servers that apply gradients as they come, stale as they are.
#include <algorithm>
#include <vector>

#include "strategies/late_gradients.h"
#include "strategies/parameter_server.h"
#include "strategies/parameter_store.h"

namespace simgrad::strategies {

/// asp: a push is applied (of K-batch-async: every K pushes) and answered with the parameters as they are then.
void ParameterServer::serve_asp(Server& server) const {
  const std::size_t K = static_cast<std::size_t>(k_batch.value_or(1));
  Service service(server);
  State& state = service.state;
  LateGradients late(*this, server, state);
  while (server.continues(state)) {
    std::vector<LateGradient> parts;
    while (parts.size() < K) {
      auto [worker, push] = service.pushes.next();
      parts.push_back(late.corrected(push.tensor, worker, state, state.step - push.version));
      if (parts.size() == K) late.apply(parts, state);
      late.pulls(worker, state);
      service.answers.send(worker, state);
    }
  }
}

/// ssp: the same, but a worker that is more than the bound ahead of the slowest waits for its answer. Staleness counts
/// the clocks by which the slowest was behind when a gradient's parameters were pulled.
void ParameterServer::serve_ssp(Server& server) const {
  const auto P = static_cast<std::size_t>(server.workers());
  Service service(server);
  State& state = service.state;
  LateGradients late(*this, server, state);
  std::vector<std::int64_t> clock(P), staleness(P);
  std::vector<int> waiting;
  while (server.continues(state)) {
    auto [worker, push] = service.pushes.next();
    late.apply({late.corrected(push.tensor, worker, state, staleness[static_cast<std::size_t>(worker)])}, state);
    ++clock[static_cast<std::size_t>(worker)];
    waiting.push_back(worker);
    const std::int64_t slowest = *std::ranges::min_element(clock);
    std::erase_if(waiting, [&](int w) {
      const auto i = static_cast<std::size_t>(w);
      if (clock[i] - slowest > bound()) return false;
      staleness[i] = clock[i] - slowest;
      late.pulls(w, state);
      service.answers.send(w, state);
      return true;
    });
  }
}

}  // namespace simgrad::strategies
