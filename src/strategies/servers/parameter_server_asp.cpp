/// Servers that apply gradients as they come, stale as they are.
#include <algorithm>
#include <vector>

#include "strategies/servers/clocks.h"
#include "strategies/servers/late_gradients.h"
#include "strategies/servers/parameter_server.h"
#include "strategies/servers/parameter_store.h"

namespace simgrad::strategies {

/// asp: a push is applied (of K-batch-async: every K pushes) and answered with the parameters as they are then.
void ParameterServer::serve_asp(Server& server) const {
  const std::size_t K = static_cast<std::size_t>(k_batch.value_or(1));
  Service service(server, *compression, *parameter_compression);
  State& state = service.state;
  LateGradients late(*this, service);
  const auto pulls = [&](int worker) { late.pulls(worker, state); };
  while (server.continues(state)) {
    std::vector<LateGradient> parts;
    while (parts.size() < K) {
      const auto [worker, push, lost] = service.next(pulls);
      parts.push_back(late.corrected(push.tensor, worker, state, state.step - push.version));
      if (parts.size() == K) late.apply(parts, state);
      late.pulls(worker, state);
      service.answers.send(worker, state);
    }
  }
  service.answer_the_rest();
}

/// ssp: the same, but a worker that is more than the bound ahead of the slowest waits for its answer. Staleness counts
/// the clocks by which the slowest was behind when a gradient's parameters were pulled. Nobody waits for who is lost.
void ParameterServer::serve_ssp(Server& server) const {
  Service service(server, *compression, *parameter_compression, cluster::Inbox::Losses::told);
  State& state = service.state;
  LateGradients late(*this, service);
  Clocks clocks(server.workers());
  std::vector<int> waiting;
  const auto pulls = [&](int worker) {
    clocks.come_back(worker);
    clocks.pulls(worker);
    late.pulls(worker, state);
  };
  const auto answer = [&] {
    std::erase_if(waiting, [&](int worker) {
      if (clocks.lead(worker) > bound()) return false;
      clocks.pulls(worker);
      late.pulls(worker, state);
      service.answers.send(worker, state);
      return true;
    });
  };
  while (server.continues(state)) {
    auto push = service.next(pulls);
    for (; push.lost; push = service.next(pulls)) {
      clocks.leave(push.source);
      std::erase(waiting, push.source);
      answer();
    }
    late.apply({late.corrected(push.packet.tensor, push.source, state, clocks.staleness(push.source))}, state);
    clocks.tick(push.source);
    waiting.push_back(push.source);
    answer();
  }
  service.answer_the_rest();
}

}  // namespace simgrad::strategies
