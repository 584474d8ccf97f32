#include "strategies/servers/clients.h"

#include <algorithm>
#include <numeric>
#include <set>

#include "training/learning/learning.h"
#include "training/worker.h"

namespace simgrad::strategies {

using cluster::Inbox;

void ReturnedModels::add(int worker, Tensor x, std::int64_t rows) {
  models_.emplace_back(worker, std::move(x));
  rows_.push_back(static_cast<double>(rows));
}

void ReturnedModels::show() const {
  server_.drop_replicas();
  for (const auto& [worker, x] : models_) server_.show_replica(worker, x);
}

std::vector<Tensor> ReturnedModels::in_order() const {
  auto models = models_;
  std::ranges::sort(models, {}, [](const auto& entry) { return entry.first; });
  std::vector<Tensor> all;
  for (auto& [worker, x] : models) all.push_back(std::move(x));
  return all;
}

Tensor ReturnedModels::mean() {
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
  server_.charge(2.0 * static_cast<double>(terms.size()) * code_.add_flops(terms.front().size()),
                 record::Work::average);
  return values::weighted_sum(terms, weights);
}

Clients::Clients(const Server& server, const training::Compressor& moves, const training::Compressor& models)
    : server_(server),
      moves_(moves, server),
      models_(server, models),
      inbox_(server.comm(), 0, server.workers(), Inbox::OnLoss::reported),
      present_(static_cast<std::size_t>(server.workers())) {
  std::iota(present_.begin(), present_.end(), 0);
}

ReturnedModels Clients::train(const State& state, const Choose& chosen, const Returned& on_return) {
  ReturnedModels returned(server_, moves_);
  while (returned.empty()) {
    const std::vector<int> round = chosen(present_);
    for (const int worker : round) models_.send(worker, state);
    wait_for(round, returned, on_return);
  }
  return returned;
}

void Clients::wait_for(const std::vector<int>& round, ReturnedModels& returned, const Returned& on_return) {
  std::set<int> awaited(round.begin(), round.end());
  while (!awaited.empty() || present_.empty()) {
    auto [worker, packet, lost] = inbox_.next();
    const bool expected = awaited.erase(worker) > 0;
    if (packet.tensor) {
      if (!expected) continue;
      returned.add(worker, moves_.decoded(server_.comm(), packet.tensor), server_.shard_rows(worker));
      on_return(worker);
    } else if (lost) {
      std::erase(present_, worker);
    } else if (!std::ranges::binary_search(present_, worker)) {  // it has come back
      present_.insert(std::ranges::lower_bound(present_, worker), worker);
    }
  }
}

}  // namespace simgrad::strategies
