#include "strategies/parameter_server.h"

#include <array>
#include <deque>
#include <utility>

#include "cluster/inbox.h"
#include "collectives/flat.h"

namespace simgrad::strategies {

using base::Choice;
using cluster::Inbox;
using cluster::Packet;
using cluster::Pending;

namespace {

constexpr std::array consistencies{Choice{"bsp", "a step's gradients are all summed before the parameters change"},
                                   Choice{"asp", "every gradient is applied as it comes"}};
constexpr std::array parts{Choice{"sum", "as it is: the parts of P workers add up to one gradient"},
                           Choice{"mean", "times P, as a gradient of its own (Downpour's convention)"}};

}  // namespace

void ParameterServer::describe(base::Describer& d) {
  d.choice("consistency", consistency, consistencies, "when the parameters change");
  d.integer("servers", shards, "number of servers; more than one comes with a later release", base::Bounds::between(1, 1));
  d.choice("gradient", part, parts, "how a worker's part counts when it is applied alone (asp)");
  if (part == Part::mean && consistency == Consistency::bsp)
    d.refuse("gradient", "gradient = \"mean\" says how a part counts alone, but bsp applies the sum of all parts; leave "
                         "it out, or set consistency = \"asp\"");
}

void ParameterServer::operator()(Worker& worker) const {
  const int server = worker.server();
  Packet pulled = worker.comm().receive(server);  // the first pull
  for (;;) {                                      // the training ends it, while it waits for an answer
    const Tensor g = worker.gradient(pulled.tensor);
    worker.comm().send(server, Packet(g, pulled.version));
    pulled = worker.comm().receive(server);  // the answer to a push is the parameters
  }
}

void ParameterServer::operator()(Server& server) const {
  if (consistency == Consistency::bsp)
    serve_synchronously(server);
  else
    serve_as_they_come(server);
}

void ParameterServer::serve_synchronously(Server& server) const {
  const int root = server.comm().rank();
  State state = server.start();
  while (server.continues(state)) {
    collectives::FlatReduce pushes(server.comm(), root);
    collectives::flat_broadcast(server.comm(), root, Packet(state.w, state.step));
    server.update(state, pushes.sum());
  }
}

void ParameterServer::serve_as_they_come(Server& server) const {
  const int P = server.workers();
  State state = server.start();
  std::deque<Pending> answers(static_cast<std::size_t>(P));  // by worker: its next push comes after its answer
  Inbox pushes(server.comm(), 0, P);
  for (int worker = 0; worker < P; ++worker)
    answers[static_cast<std::size_t>(worker)] = server.comm().start_send(worker, Packet(state.w, state.step));
  while (server.continues(state)) {
    auto [worker, push] = pushes.next();
    server.apply_late(state, part == Part::mean ? P * push.tensor : push.tensor, worker, push.version);
    answers[static_cast<std::size_t>(worker)].wait();  // over long since: the push came after it
    answers[static_cast<std::size_t>(worker)] = server.comm().start_send(worker, Packet(state.w, state.step));
  }
}

}  // namespace simgrad::strategies
