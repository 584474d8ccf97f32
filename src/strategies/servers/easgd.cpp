#include "strategies/servers/easgd.h"

#include "cluster/ranks/inbox.h"
#include "strategies/servers/parameter_store.h"

namespace simgrad::strategies {

using base::Bounds;
using cluster::Inbox;
using cluster::Packet;

void Easgd::describe(base::Describer& d) {
  d.integer("period", period, "local steps between two exchanges with the centre (tau)", Bounds::at_least(1));
  d.number("moving_rate", moving_rate, "beta: how far P exchanges move the centre to the replicas; alpha = beta / P",
           Bounds{.least = 0.0, .most = 1.0, .positive = true});
  d.flag("synchronous", together, "whether the centre answers when all replicas have come, and moves by all at once");
  describe_parameter_compression(d, "parameter_compression", parameter_compression,
                                 "what replicas and centre send instead of parameters");
}

void Easgd::operator()(Worker& worker) const {
  if (worker.rejoins()) worker.comm().send(worker.server(), Packet());  // asks for the centre
  training::Encoder code(*parameter_compression, worker);
  const Packet first = worker.comm().receive(worker.server());
  State x = worker.start_alone(code.decoded(worker.comm(), first.tensor),
                               first.version * period / (together ? 1 : worker.workers()));
  for (;;) {  // the training ends it, while it waits for the centre
    for (std::int64_t t = 0; t < period; ++t) worker.update_alone(x, worker.workers() * worker.gradient(x.w));
    cluster::Pending answer = worker.comm().start_receive(worker.server());
    const Tensor sent = code(worker.comm(), x.w);
    worker.comm().send(worker.server(), Packet(sent));
    const Tensor centre = code.decoded(worker.comm(), answer.wait().tensor);
    worker.comm().charge_reduction(3.0 * static_cast<double>(x.w.size()), record::Work::average);
    x.w = values::add_scaled(x.w, -elasticity(worker.workers()), values::decoded(sent) - centre);
  }
}

void Easgd::operator()(Server& server) const {
  if (together) return serve_together(server);
  const double alpha = elasticity(server.workers());
  State centre = server.start();
  const training::Encoder code(*parameter_compression, server);
  Answers answers(server, *parameter_compression);
  Inbox replicas(server.comm(), 0, server.workers());
  answers.send_all(centre);
  while (server.continues(centre)) {
    auto arrival = replicas.next();
    for (; !arrival.packet.tensor; arrival = replicas.next()) answers.send(arrival.source, centre);  // it has come back
    const int worker = arrival.source;
    const Tensor x = code.decoded(server.comm(), arrival.packet.tensor);
    answers.send(worker, centre);  // both sides move by the difference to the centre as it was
    server.comm().charge_reduction(3.0 * static_cast<double>(centre.w.size()), record::Work::average);
    centre.w = values::add_scaled(centre.w, alpha, x - values::decoded(answers.code(centre)));
    for (std::int64_t t = 0; t < period; ++t) server.count(worker);
    ++centre.step;
  }
}

void Easgd::serve_together(Server& server) const {
  const int P = server.workers();
  State centre = server.start();
  const training::Encoder code(*parameter_compression, server);
  Answers answers(server, *parameter_compression);
  Inbox replicas(server.comm(), 0, P);
  answers.send_all(centre);
  while (server.continues(centre)) {
    const Tensor sent = values::decoded(answers.code(centre));
    std::vector<Tensor> differences(static_cast<std::size_t>(P));
    for (int came = 0; came < P; ++came) {
      auto [worker, x, lost] = replicas.next();
      differences[static_cast<std::size_t>(worker)] = code.decoded(server.comm(), x.tensor) - sent;
      for (std::int64_t t = 0; t < period; ++t) server.count(worker);
    }
    answers.send_all(centre);
    server.comm().charge_reduction(3.0 * P * static_cast<double>(centre.w.size()), record::Work::average);
    centre.w = values::add_scaled(centre.w, elasticity(P), values::sum(std::move(differences)));
    ++centre.step;
  }
}

}  // namespace simgrad::strategies
