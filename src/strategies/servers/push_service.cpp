#include "strategies/servers/push_service.h"

#include <utility>

#include "strategies/notes.h"
#include "training/worker.h"

namespace simgrad::strategies {

using cluster::Packet;
using cluster::Pending;

Answers::Answers(const Server& server, const training::Compressor& parameters)
    : server_(server), parameters_(parameters, server), under_way_(static_cast<std::size_t>(server.workers())) {}

void Answers::send(int worker, const State& state) {
  Pending& last = under_way_[static_cast<std::size_t>(worker)];
  if (last.under_way())
    last.wait_unless_lost();  // mostly over long since: a push comes after the answer to the one before
  last = server_.comm().start_send_unless_lost(worker, Packet(code(state), Version{state.step}));
}

void Answers::send_all(const State& state) {
  for (int worker = 0; worker < server_.workers(); ++worker) send(worker, state);
}

PushService::PushService(const Server& server, const training::Compressor& gradients,
                         const training::Compressor& parameters, cluster::Inbox::OnLoss losses)
    : state(server.start()),
      server_(server),
      gradients_(gradients, server),
      answers_(server, parameters),
      pushes_(server.comm(), 0, server.workers(), losses) {
  answers_.send_all(state);
}

bool PushService::continues() {
  if (server_.continues(state)) return true;
  while (server_.keeps_going())  // the training ends it
    if (const auto push = pushes_.next(); !push.lost) answers_.send(push.source, state);
  return false;
}

Push PushService::next() {
  for (;;) {
    auto [worker, packet, lost] = pushes_.next();
    if (packet.tensor) {
      const Version* const version = packet.find_note<Version>();
      return {worker, std::move(packet.tensor), version ? version->step : 0};
    }
    if (lost) {
      if (listener_) listener_->on_lost(worker);
      continue;
    }
    if (listener_) listener_->on_rejoin(worker);
    answer(worker);
  }
}

void PushService::answer(int worker) {
  if (answered_) answered_(worker);
  answers_.send(worker, state);
}

Tensor PushService::decoded(const Push& push) const {
  return gradients_.decoded(server_.comm(), push.code, server_.shards().first(server_.shard()));
}

Tensor PushService::sum(std::vector<Tensor> parts) const {
  const double a_push = gradients_.add_flops(parts.front().size(), server_.shards().first(server_.shard()));
  server_.charge(a_push * static_cast<double>(parts.size()));
  return gradients_.compressor().concluded(values::sum(std::move(parts)));
}

}  // namespace simgrad::strategies
