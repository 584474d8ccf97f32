#include "strategies/servers/parameter_store.h"

namespace simgrad::strategies {

using cluster::Packet;
using cluster::Pending;

ParameterStore::ParameterStore(Worker& worker, const training::Compressor& gradients,
                               const training::Compressor& parameters)
    : worker_(worker), gradients_(gradients, worker), parameters_(parameters, worker) {
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
    parts.push_back(parameters_.decoded(worker_.comm(), packet.tensor));
    pulled.versions.push_back(packet.version);
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
    sends.push_back(worker.comm().start_send(worker.server() + static_cast<int>(j), Packet(parts[j], versions[j])));
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
  last = server_.comm().start_send_unless_lost(worker, Packet(code(state), state.step));
}

void Answers::send_all(const State& state) {
  for (int worker = 0; worker < server_.workers(); ++worker) send(worker, state);
}

Service::Service(const Server& its_server, const training::Compressor& its_gradients,
                 const training::Compressor& its_parameters, cluster::Inbox::Losses losses)
    : server(its_server),
      gradients(its_gradients, server),
      state(server.start()),
      answers(server, its_parameters),
      pushes(server.comm(), 0, server.workers(), losses),
      keeps_going(server.training().keeps_going()) {
  answers.send_all(state);
}

cluster::Inbox::Arrival Service::next(const std::function<void(int)>& pulls) {
  for (;;) {
    auto push = pushes.next();
    if (push.packet.tensor) push.packet.tensor = decoded(push.packet.tensor);
    if (push.lost || push.packet.tensor) return push;
    pulls(push.source);
    answers.send(push.source, state);
  }
}

Tensor Service::decoded(const Tensor& push) const {
  return gradients.decoded(server.comm(), push, first_parameter(server.shards(), server.shard()));
}

Tensor Service::sum(std::vector<Tensor> parts) const {
  const double a_push = gradients.add_flops(parts.front().size(), first_parameter(server.shards(), server.shard()));
  server.comm().charge_reduction(a_push * static_cast<double>(parts.size()));
  return gradients.compressor().concluded(values::sum(std::move(parts)));
}

void Service::answer_the_rest() {
  while (keeps_going)  // the training ends it
    if (const auto push = pushes.next(); !push.lost) answers.send(push.source, state);
}

}  // namespace simgrad::strategies
