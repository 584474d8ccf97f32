#include "strategies/servers/federated_averaging.h"

#include <algorithm>
#include <cmath>

#include "base/random.h"
#include "strategies/circumstances.h"
#include "strategies/servers/clients.h"
#include "strategies/servers/model_link.h"
#include "training/learning/learning.h"
#include "training/worker.h"

namespace simgrad::strategies {

using base::Bounds;

namespace {

constexpr std::int64_t default_steps = 5;

/// The code of a replica's move from where it began.  Virtual time: a flop a number, and encoding.
Tensor coded_move(const Worker& worker, training::Encoder& code, const Tensor& to, const Tensor& from) {
  worker.charge(static_cast<double>(to.size()));
  return code(worker.comm(), to - from);
}

}  // namespace

void FederatedAveraging::describe(base::Describer& d) {
  d.number("fraction_train", fraction_train, "C: the share of the workers that train in a round, at least one worker",
           Bounds{.least = 0.0, .most = 1.0});
  d.integer("local_steps", local_steps, "H: the number of local steps of a worker in a round; default: 5",
            Bounds::at_least(1));
  d.number("local_epochs", local_epochs, "E: how often a worker goes over its rows in a round, in place of local_steps",
           Bounds{.least = 0.0, .positive = true});
  d.number("proximal", proximal,
           "mu: a worker's loss has the additional term mu/2 |w - w_round|^2, which holds it near the round's model "
           "(FedProx)",
           Bounds::at_least(0));
  describe_move_compression(d, compression);
  describe_reduce(d, reduce, compression,
                  "how the models that workers return (with compression: their moves) become the next one; only the "
                  "mean weights them, by the rows that the workers own");
  if (!reduce->lies_within())
    d.refuse("reduce", "reduce = \"sum\" adds gradients, but workers return models, whose sum is none; take the mean");
  describe_parameter_compression(d, "parameter_compression", parameter_compression,
                                 "how models are compressed before the server sends them");
  describe_hosts_first(d);
  if (local_steps && local_epochs)
    d.refuse("local_epochs",
             "local_steps and local_epochs both say how long a worker trains in a round; leave one of them out");
}

std::optional<Refusal> FederatedAveraging::refusal(const Circumstances& circumstances) const {
  if (auto refusal = reduce_refusal(reduce, trained(circumstances.workers))) return refusal;
  return compression_refusal(compression, circumstances);
}

std::vector<std::string> FederatedAveraging::warnings(std::int64_t P, std::uint64_t /*seed*/) const {
  return reduce_warnings(reduce, trained(P));
}

std::int64_t FederatedAveraging::trained(std::int64_t P) const {
  return std::llround(std::max(1.0, std::round(fraction_train * static_cast<double>(P))));
}

Traits FederatedAveraging::traits(int P) const {
  return {.pace = Pace::server_updates,
          .gradients_an_update = 0,
          .holder = Holder::servers,
          .servers = 1,
          .gradients_held = gradients_held(reduce, trained(P)),
          .recoveries = training::every_recovery(),
          .replicas_beside_servers = true,
          .step_is = "one round, in which the server averages the models of the workers that train in it"};
}

std::int64_t FederatedAveraging::steps_of(const training::Participant& self, int worker) const {
  if (!local_epochs) return local_steps.value_or(default_steps);
  const double rows = static_cast<double>(self.shard_rows(worker)) * *local_epochs;
  const double a_step = static_cast<double>(std::max<std::int64_t>(1, self.rows(worker)));
  return std::max<std::int64_t>(1, static_cast<std::int64_t>(std::ceil(rows / a_step)));
}

std::vector<int> FederatedAveraging::chosen(const Server& server, std::int64_t round,
                                            const std::vector<int>& present) const {
  const auto P = static_cast<std::uint64_t>(server.workers());
  const base::Permutation draw(
      {.seed = server.seed(), .purpose = base::Purpose::clients, .step = static_cast<std::uint64_t>(round)}, P);
  const auto wanted = static_cast<std::size_t>(trained(server.workers()));
  std::vector<int> all;
  for (std::uint64_t i = 0; i < P && all.size() < wanted; ++i)
    if (const int worker = static_cast<int>(draw(i)); std::ranges::binary_search(present, worker))
      all.push_back(worker);
  std::ranges::sort(all);
  return all;
}

void FederatedAveraging::operator()(Worker& worker) const {
  const std::int64_t H = steps_of(worker, worker.rank());
  // The mean over its own rows, whatever their share of the batch: the server weights models by rows.
  const double of_own_rows = static_cast<double>(worker.batch()) / static_cast<double>(worker.rows());
  ModelLink server(worker, *parameter_compression);
  training::Encoder move_code(*compression, worker);
  for (;;) {  // the training ends it, while it waits for a model
    const Model round = server.receive();
    State x = worker.start_alone(round.w, round.version * H);
    for (std::int64_t h = 0; h < H; ++h) {
      Tensor g = of_own_rows * worker.gradient(x.w);
      if (proximal > 0.0) {
        worker.charge(3.0 * static_cast<double>(x.w.size()));
        g = values::add_scaled(g, proximal, x.w - round.w);
      }
      worker.update_alone(x, g);
    }
    server.send(move_code.compressor().exact() ? x.w : coded_move(worker, move_code, x.w, round.w));
  }
}

void FederatedAveraging::operator()(Server& server) const {
  State state = server.start();
  Clients clients(server, *compression, *parameter_compression);
  while (server.continues(state)) {
    const Tensor model = clients.model(state);
    ReturnedModels returned = clients.train(
        state, [&](const std::vector<int>& present) { return chosen(server, state.step, present); },
        [&](int worker) {
          for (std::int64_t h = 0; h < steps_of(server, worker); ++h) server.count(worker);
        });
    returned.show();
    state.w = reduce->adds() ? returned.mean() : reduced(server, reduce, returned.in_order());
    server.memory().set(record::MemoryPart::gradients, 0.0);
    if (!clients.exact_moves()) {
      server.charge(static_cast<double>(state.w.size()), record::Work::update);
      state.w += model;  // the mean of the moves from there
    }
    ++state.step;
  }
}

}  // namespace simgrad::strategies
