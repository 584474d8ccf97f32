#include "strategies/servers/parameter_store.h"

#include <utility>

#include "strategies/notes.h"
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

}  // namespace simgrad::strategies
