#include "strategies/servers/easgd.h"

#include <fmt/format.h>

#include <string>

#include "strategies/servers/model_link.h"
#include "strategies/servers/push_service.h"
#include "training/worker.h"

namespace simgrad::strategies {

using base::Bounds;

namespace {

std::string gradients(std::int64_t period) {
  return fmt::format("period = {} gradient{}", period, period == 1 ? "" : "s");
}

}  // namespace

void Easgd::describe(base::Describer& d) {
  d.integer("period", period, "tau: the number of local steps between two exchanges with the centre",
            Bounds::at_least(1));
  d.number("moving_rate", moving_rate, "beta: how far P exchanges move the centre to the replicas; alpha = beta / P",
           Bounds{.least = 0.0, .most = 1.0, .positive = true});
  d.flag("synchronous", together, "whether the centre answers when all replicas have come, and moves by all at once");
  describe_parameter_compression(d, "parameter_compression", parameter_compression,
                                 "how parameters are compressed before replicas and centre send them");
  describe_hosts_first(d);
}

Traits Easgd::traits(int) const {
  return {.pace = Pace::server_updates,
          .asynchronous = !together,
          .holder = Holder::servers,
          .servers = 1,
          .recoveries = together ? training::recoveries_by_generation() : training::every_recovery(),
          .replicas_beside_servers = true,
          .step_is = together ? fmt::format("one exchange of all workers with the centre, after {}", gradients(period))
                              : fmt::format("one exchange of one worker with the centre, after {} of that worker",
                                            gradients(period))};
}

void Easgd::operator()(Worker& worker) const {
  if (worker.all_workers() == 1 && worker.begins_the_run())
    worker.note(
        "easgd with one worker is not the sequential algorithm: replica and centre pull at each other, and the "
        "centre is evaluated");
  ModelLink centre(worker, *parameter_compression);
  const Model first = centre.receive();
  State x = worker.start_alone(first.w, first.version * period / (together ? 1 : worker.workers()));
  for (;;) {  // the training ends it, while it waits for the centre
    for (std::int64_t t = 0; t < period; ++t) {
      worker.update_alone(x, worker.own_gradient(x.w));
      worker.show_replica(x.w);
    }
    const auto [sent, received] = centre.exchange(x.w);
    worker.charge(3.0 * static_cast<double>(x.w.size()), record::Work::average);
    x.w = values::add_scaled(x.w, -elasticity(worker.workers()), values::decoded(sent) - received);
    worker.show_replica(x.w);
  }
}

void Easgd::operator()(Server& server) const {
  if (together) return serve_together(server);
  const double alpha = elasticity(server.workers());
  PushService replicas(server, *parameter_compression, *parameter_compression);
  State& centre = replicas.state;
  while (replicas.continues()) {
    const Push push = replicas.next();
    const Tensor x = replicas.decoded(push);
    replicas.answer(push.worker);  // both sides move by the difference to the centre as it was
    server.charge(3.0 * static_cast<double>(centre.w.size()), record::Work::average);
    centre.w = values::add_scaled(centre.w, alpha, x - replicas.answered_parameters());
    for (std::int64_t t = 0; t < period; ++t) server.count(push.worker);
    ++centre.step;
  }
}

void Easgd::serve_together(Server& server) const {
  const int P = server.workers();
  PushService replicas(server, *parameter_compression, *parameter_compression);
  State& centre = replicas.state;
  while (replicas.continues()) {
    const Tensor sent = replicas.answered_parameters();
    std::vector<Tensor> differences(static_cast<std::size_t>(P));
    for (int arrived = 0; arrived < P; ++arrived) {
      const Push push = replicas.next();
      differences[static_cast<std::size_t>(push.worker)] = replicas.decoded(push) - sent;
      for (std::int64_t t = 0; t < period; ++t) server.count(push.worker);
    }
    replicas.answer_all();
    server.charge(3.0 * P * static_cast<double>(centre.w.size()), record::Work::average);
    centre.w = values::add_scaled(centre.w, elasticity(P), values::sum(std::move(differences)));
    ++centre.step;
  }
}

}  // namespace simgrad::strategies
