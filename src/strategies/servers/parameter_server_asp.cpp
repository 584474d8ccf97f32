/// Servers that apply gradients as they come, stale as they are.
#include <vector>

#include "strategies/servers/clocks.h"
#include "strategies/servers/late_gradients.h"
#include "strategies/servers/parameter_server.h"
#include "strategies/servers/push_service.h"
#include "training/worker.h"

namespace simgrad::strategies {

/// asp: every push is applied (K-batch-async: every K pushes) and answered with the parameters as they are then.
void ParameterServer::serve_asp(Server& server) const {
  const std::size_t K = static_cast<std::size_t>(k_batch.value_or(1));
  PushService service(server, *compression, *parameter_compression, cluster::Inbox::OnLoss::silent, bucketing(server));
  LateGradients late(*this, service);
  while (service.continues()) {
    std::vector<LateGradient> parts;
    while (parts.size() < K) {
      const Push push = service.next();
      parts.push_back(late.corrected(push, service.state.step - push.version));
      if (parts.size() == K) late.apply(parts);
      service.answer(push.worker);
    }
  }
}

/// ssp: the same, but a worker that is more than the bound ahead of the slowest waits for its answer. The bound is of
/// clocks, while staleness counts updates, as under asp.
void ParameterServer::serve_ssp(Server& server) const {
  PushService service(server, *compression, *parameter_compression, cluster::Inbox::OnLoss::reported,
                      bucketing(server));
  LateGradients late(*this, service);
  StalenessBound workers(server.workers(), bound(), [&](int worker) { service.answer(worker); });
  service.notify(workers);
  while (service.continues()) {
    const Push push = service.next();
    late.apply({late.corrected(push, service.state.step - push.version)});
    workers.pushed(push.worker);
  }
}

}  // namespace simgrad::strategies
