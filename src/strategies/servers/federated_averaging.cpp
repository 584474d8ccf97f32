#include "strategies/servers/federated_averaging.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>

#include "base/random.h"
#include "cluster/ranks/inbox.h"
#include "strategies/servers/parameter_store.h"

namespace simgrad::strategies {

using base::Bounds;
using cluster::Inbox;
using cluster::Packet;
using training::Training;

namespace {

constexpr std::int64_t default_steps = 5;

/// What is sent of how far a replica is from where it began.  Virtual time: a flop a number, and encoding.
Tensor coded_move(const cluster::Communicator& comm, training::Encoder& code, const Tensor& to, const Tensor& from) {
  comm.charge_reduction(static_cast<double>(to.size()));
  return code(comm, to - from);
}

double batch(const Training& training) { return static_cast<double>(training.learning().batches().batch()); }

}  // namespace

void FederatedAveraging::describe(base::Describer& d) {
  d.number("fraction_train", fraction_train, "the share of the workers that train in a round, one at least (C)",
           Bounds{.least = 0.0, .most = 1.0});
  d.integer("local_steps", local_steps, "H: steps of its own that a worker makes in a round; default 5",
            Bounds::at_least(1));
  d.number("local_epochs", local_epochs, "instead: how often in a round a worker goes over its rows (E)",
           Bounds{.least = 0.0, .positive = true});
  d.number("proximal", proximal,
           "mu: a worker's loss has mu/2 |w - w_round|^2 on top, which holds it near the round's model (FedProx)",
           Bounds::at_least(0));
  describe_move_compression(d, compression);
  describe_parameter_compression(d, "parameter_compression", parameter_compression,
                                 "what the server sends instead of models");
  if (local_steps && local_epochs)
    d.refuse("local_epochs",
             "local_steps and local_epochs both say how long a worker trains in a round; leave one of them out");
}

std::int64_t FederatedAveraging::steps_of(const Training& training, int worker) const {
  if (!local_epochs) return local_steps.value_or(default_steps);
  const training::Batches& batches = training.learning().batches();
  const int P = training.living_workers();
  const double rows = static_cast<double>(batches.rows_of(worker, P)) * *local_epochs;
  const double a_step = static_cast<double>(std::max<std::int64_t>(1, batches.count(worker, P)));
  return std::max<std::int64_t>(1, static_cast<std::int64_t>(std::ceil(rows / a_step)));
}

void FederatedAveraging::operator()(Worker& worker) const {
  const int own = worker.comm().rank();
  const std::int64_t H = steps_of(worker.training(), own);
  const auto rows = static_cast<double>(worker.training().learning().batches().count(own, worker.workers()));
  training::Encoder move_code(*compression, worker);
  const training::Encoder model_code(*parameter_compression, worker);
  if (worker.rejoins()) worker.comm().send(worker.server(), Packet());  // it can be chosen again
  for (;;) {  // the training ends it, while it waits for a model
    const Packet round = worker.comm().receive(worker.server());
    const Tensor model = model_code.decoded(worker.comm(), round.tensor);
    State x = worker.start_alone(model, round.version * H);
    for (std::int64_t h = 0; h < H; ++h) {
      // The mean over its own rows, whatever their share of the batch.
      Tensor g = batch(worker.training()) / rows * worker.gradient(x.w);
      if (proximal > 0.0) {
        worker.comm().charge_reduction(3.0 * static_cast<double>(x.w.size()));
        g = values::add_scaled(g, proximal, x.w - model);
      }
      worker.update_alone(x, g);
    }
    if (!move_code.compressor().exact()) x.w = coded_move(worker.comm(), move_code, x.w, model);
    worker.comm().send(worker.server(), Packet(x.w, round.version));
  }
}

std::vector<int> FederatedAveraging::chosen(const Server& server, std::int64_t round,
                                            const std::vector<int>& present) const {
  const auto P = static_cast<std::uint64_t>(server.workers());
  const base::Permutation draw({.seed = server.training().learning().seed(),
                                .purpose = base::Purpose::clients,
                                .step = static_cast<std::uint64_t>(round)},
                               P);
  const auto wanted = static_cast<std::size_t>(std::max(1.0, std::round(fraction_train * static_cast<double>(P))));
  std::vector<int> all;
  for (std::uint64_t i = 0; i < P && all.size() < wanted; ++i)
    if (const int worker = static_cast<int>(draw(i)); std::ranges::binary_search(present, worker))
      all.push_back(worker);
  std::ranges::sort(all);
  return all;
}

namespace {

/// What a round's workers return.
class Returned {
 public:
  void add(int worker, Tensor x, std::int64_t rows) {
    models_.emplace_back(worker, std::move(x));
    rows_.emplace_back(static_cast<double>(rows));
  }
  bool empty() const { return models_.empty(); }

  /// Their mean by rows, added in the order of the workers.  Virtual time: 2 d flops a model, 2 k a sparse code.
  Tensor mean(const Server& server, const training::Encoder& code) {
    std::vector<std::size_t> order(models_.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::ranges::sort(order, {}, [&](std::size_t i) { return models_[i].first; });
    const double all = std::accumulate(rows_.begin(), rows_.end(), 0.0);
    std::vector<Tensor> terms;
    std::vector<double> weights;
    for (const std::size_t i : order) {
      terms.push_back(std::move(models_[i].second));
      weights.push_back(rows_[i] / all);
    }
    server.comm().charge_reduction(2.0 * static_cast<double>(terms.size()) * code.add_flops(terms.front().size()),
                                   record::Work::average);
    return values::weighted_sum(terms, weights);
  }

 private:
  std::vector<std::pair<int, Tensor>> models_;
  std::vector<double> rows_;
};

}  // namespace

void FederatedAveraging::operator()(Server& server) const {
  const int P = server.workers();
  const training::Batches& batches = server.training().learning().batches();
  State state = server.start();
  const training::Encoder move_code(*compression, server);
  Answers models(server, *parameter_compression);
  Inbox inbox(server.comm(), 0, P, Inbox::Losses::told);
  std::vector<int> present(static_cast<std::size_t>(P));
  std::iota(present.begin(), present.end(), 0);
  while (server.continues(state)) {
    const Tensor model = values::decoded(models.code(state));
    Returned returned;
    while (returned.empty()) {  // all who were chosen may be lost
      const std::vector<int> round = chosen(server, state.step, present);
      std::set<int> awaited(round.begin(), round.end());
      for (const int worker : round) models.send(worker, state);
      while (!awaited.empty() || present.empty()) {
        auto [worker, packet, lost] = inbox.next();
        if (packet.tensor) {
          if (awaited.erase(worker) == 0) continue;
          returned.add(worker, move_code.decoded(server.comm(), packet.tensor), batches.rows_of(worker, P));
          for (std::int64_t h = 0; h < steps_of(server.training(), worker); ++h) server.count(worker);
          continue;
        }
        awaited.erase(worker);
        if (lost)
          std::erase(present, worker);
        else if (!std::ranges::binary_search(present, worker))
          present.insert(std::ranges::lower_bound(present, worker), worker);
      }
    }
    state.w = returned.mean(server, move_code);
    if (!move_code.compressor().exact()) {
      server.comm().charge_reduction(static_cast<double>(state.w.size()), record::Work::update);
      state.w += model;  // the mean of the moves from there
    }
    ++state.step;
  }
}

}  // namespace simgrad::strategies
