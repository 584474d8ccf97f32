#include "strategies/servers/parameter_store.h"

#include <utility>

#include "training/worker.h"

namespace simgrad::strategies {

using cluster::Packet;
using cluster::Pending;

ParameterStore::ParameterStore(Worker& worker, const training::Compressor& gradients,
                               const training::Compressor& parameters)
    : worker_(worker), gradients_(gradients, worker), parameters_(parameters, worker) {
  expect_answers();
  request_parameters_again(worker);
}

void request_parameters_again(Worker& worker) {
  if (!worker.rejoins()) return;
  for (int j = 0; j < worker.servers(); ++j) worker.comm().send(worker.server() + j, Packet());
}

void ParameterStore::expect_answers() {
  answers_.clear();
  for (int j = 0; j < worker_.servers(); ++j) answers_.push_back(worker_.comm().start_receive(worker_.server() + j));
}

Pulled ParameterStore::pull() {
  Pulled pulled;
  std::vector<Tensor> parts;
  for (Pending& answer : answers_) {
    Packet packet = answer.wait();
    parts.push_back(parameters_.decoded(worker_.comm(), packet.tensor));
    pulled.versions.push_back(packet.note<Version>().step);
  }
  pulled.w = worker_.shards().whole(parts);
  return pulled;
}

void ParameterStore::push(const Tensor& g, const Pulled& computed_at) {
  expect_answers();
  push_shards(worker_, gradients_, g, computed_at.versions);
}

void push_shards(Worker& worker, training::Encoder& gradients, const Tensor& g,
                 const std::vector<std::int64_t>& versions) {
  std::vector<Tensor> parts = worker.shards().split(g);
  std::int64_t first = 0;
  for (Tensor& part : parts) {
    const std::int64_t count = part.size();
    part = gradients(worker.comm(), part, first);
    first += count;
  }
  std::vector<Pending> sends;
  for (std::size_t j = 0; j < parts.size(); ++j)
    sends.push_back(
        worker.comm().start_send(worker.server() + static_cast<int>(j), Packet(parts[j], Version{versions[j]})));
  for (Pending& send : sends) send.wait();
}

std::int64_t first_parameter(const training::Shards& shards, int server) {
  std::int64_t first = 0;
  for (int before = 0; before < server; ++before) first += shards.count(before);
  return first;
}

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
  return gradients_.decoded(server_.comm(), push.code, first_parameter(server_.shards(), server_.shard()));
}

Tensor PushService::sum(std::vector<Tensor> parts) const {
  const double a_push = gradients_.add_flops(parts.front().size(), first_parameter(server_.shards(), server_.shard()));
  server_.charge(a_push * static_cast<double>(parts.size()));
  return gradients_.compressor().concluded(values::sum(std::move(parts)));
}

}  // namespace simgrad::strategies
