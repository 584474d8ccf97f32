/// Servers of sparse parameters: when the rows change, and when workers are answered.
#include <vector>

#include "strategies/servers/clocks.h"
#include "strategies/servers/sparse_service.h"
#include "training/worker.h"

namespace simgrad::strategies {

using cluster::Inbox;

/// Every step: all push, one update by the sum, all are answered.
void SparseParameterServer::serve_bsp(Server& server) const {
  const auto P = static_cast<std::size_t>(server.workers());
  SparseService service(*this, server, Inbox::OnLoss::silent);
  std::vector<SparsePush> pushes;  // by worker; none before the first step
  while (service.continues()) {
    for (std::size_t worker = 0; worker < pushes.size(); ++worker) service.answer(static_cast<int>(worker));
    pushes.assign(P, {});
    for (std::size_t arrived = 0; arrived < P; ++arrived) {
      SparsePush push = service.next();
      pushes[static_cast<std::size_t>(push.worker)] = std::move(push);
    }
    if (consistency == Consistency::ssp)
      for (const SparsePush& each : pushes)
        server.count_staleness(each.worker, service.step() - each.keys->version);  // a cache's
    service.apply(pushes, 1.0);
  }
}

/// Every push is applied as it comes and answered; under ssp when the worker is not too far ahead of the slowest at
/// work.
void SparseParameterServer::serve_stale(Server& server) const {
  const bool bounded = consistency == Consistency::ssp;
  const double factor = part == Part::mean ? server.workers() : 1.0;
  SparseService service(*this, server, bounded ? Inbox::OnLoss::reported : Inbox::OnLoss::silent);
  StalenessBound workers(server.workers(), bounded ? bound() : StalenessBound::none,
                         [&](int worker) { service.answer(worker); });
  service.notify(workers);
  while (service.continues()) {
    const SparsePush push = service.next();
    const std::int64_t applied = service.step();
    service.apply({push}, factor);
    server.count(push.worker, applied - push.keys->version);
    workers.pushed(push.worker);
  }
}

}  // namespace simgrad::strategies
