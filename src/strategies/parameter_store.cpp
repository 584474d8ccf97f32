#include "strategies/parameter_store.h"

namespace simgrad::strategies {

using cluster::Packet;
using cluster::Pending;

ParameterStore::ParameterStore(Worker& worker) : worker_(worker) {
  expect_answers();
  if (!worker.rejoins()) return;
  for (int j = 0; j < worker.servers(); ++j) worker.comm().send(worker.server() + j, Packet());  // a pull
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
    parts.push_back(std::move(packet.tensor));
    pulled.versions.push_back(packet.version);
  }
  pulled.w = worker_.shards().whole(parts);
  return pulled;
}

void ParameterStore::push(const Tensor& g, const Pulled& computed_at) {
  expect_answers();
  push_shards(worker_, g, computed_at.versions);
}

void push_shards(Worker& worker, const Tensor& g, const std::vector<std::int64_t>& versions) {
  const std::vector<Tensor> parts = worker.shards().split(g);
  std::vector<Pending> sends;
  for (std::size_t j = 0; j < parts.size(); ++j)
    sends.push_back(worker.comm().start_send(worker.server() + static_cast<int>(j), Packet(parts[j], versions[j])));
  for (Pending& send : sends) send.wait();
}

Answers::Answers(const Server& server) : server_(server), under_way_(static_cast<std::size_t>(server.workers())) {}

void Answers::send(int worker, const State& state) {
  Pending& last = under_way_[static_cast<std::size_t>(worker)];
  if (last.under_way()) last.wait_unless_lost();  // mostly over long since: a push comes after the answer to the one before
  last = server_.comm().start_send_unless_lost(worker, Packet(state.w, state.step));
}

void Answers::send_all(const State& state) {
  for (int worker = 0; worker < server_.workers(); ++worker) send(worker, state);
}

Service::Service(const Server& server, cluster::Inbox::Losses losses)
    : state(server.start()),
      answers(server),
      pushes(server.comm(), 0, server.workers(), losses),
      in_place(server.training().in_place()) {
  answers.send_all(state);
}

cluster::Inbox::Arrival Service::next(const std::function<void(int)>& pulls) {
  for (;;) {
    auto push = pushes.next();
    if (push.lost || push.packet.tensor) return push;
    pulls(push.source);
    answers.send(push.source, state);
  }
}

void Service::answer_the_rest() {
  while (in_place)  // the training ends it
    if (const auto push = pushes.next(); !push.lost) answers.send(push.source, state);
}

}  // namespace simgrad::strategies
