// Stages with unlike numbers of replicas, and their training and its times by PipeDream's own recursions.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <memory>
#include <numeric>
#include <string>
#include <vector>

#include "strategies/equal_layers.h"
#include "strategies/hosts_of_devices.h"
#include "strategies/mesh_trial.h"

namespace simgrad::tests::stage_replicas {

using Numbers = std::vector<double>;

inline int sum(const Numbers& replicas) {
  return static_cast<int>(std::accumulate(replicas.begin(), replicas.end(), 0.0));
}

inline std::int64_t lcm(const Numbers& replicas) {
  std::int64_t all = 1;
  for (const double ranks : replicas) all = std::lcm(all, static_cast<std::int64_t>(ranks));
  return all;
}

/// Puts a trial on stages of so many ranks.
inline MeshTrial on_stages(MeshTrial trial, const Numbers& replicas, const Numbers& units = {}) {
  trial.parallel = {};
  trial.parallel.pipeline = static_cast<std::int64_t>(replicas.size());
  trial.parallel.schedule.choose("pipedream");
  trial.parallel.stage_replicas = replicas;
  trial.parallel.stages = units;
  trial.workers = sum(replicas);
  trial.strategy = around_a_ring<strategies::Allreduce>();
  return trial;
}

/// Puts a trial on stages of as many ranks each, as `data` says it.
inline MeshTrial on_data(MeshTrial trial, int data) {
  trial.parallel.stage_replicas.clear();
  trial.parallel.data = data;
  return trial;
}

/// The gradient of the mean loss over micro-batch m of a step's equal parts, in the order of its rows.
inline Numbers gradient_of(const MeshTrial& trial, std::int64_t m, std::int64_t parts, const Numbers& w) {
  const training::Batches batches({.rows = trial.rows, .batch = trial.batch, .seed = 1});
  const training::RowSet all = batches.rows({.step = m / parts, .part = 0, .parts = 1});
  const std::int64_t count = trial.batch / parts, first = m % parts * count;
  std::vector<std::int64_t> rows;
  for (std::int64_t k = first; k < first + count; ++k)
    rows.push_back(all.indices.empty() ? all.first + k : all.indices[static_cast<std::size_t>(k)]);
  const models::Samples samples{.features = trial.data.features.data(),
                                .targets = trial.data.targets.data(),
                                .columns = trial.data.columns,
                                .first = 0,
                                .count = count,
                                .indices = rows.data()};
  Numbers g(w.size());
  trial.model->gradient(trial.problem, samples, w, 1.0 / static_cast<double>(count), 1.0, g);
  return g;
}

/// An optimizer's update of some numbers, written out.
struct ByHand {
  bool adam = false;
  Numbers m, v;
  int updates = 0;

  explicit ByHand(bool is_adam, std::size_t numbers) : adam(is_adam), m(numbers), v(numbers) {}
  void operator()(Numbers& w, std::size_t first, const Numbers& g, double rate) {
    ++updates;
    for (std::size_t j = 0; j < g.size(); ++j) {
      m[j] = 0.9 * m[j] + 0.1 * g[j];
      v[j] = 0.999 * v[j] + 0.001 * g[j] * g[j];
      const double m_hat = m[j] / (1 - std::pow(0.9, updates)), v_hat = v[j] / (1 - std::pow(0.999, updates));
      w[first + j] -= rate * (adam ? m_hat / (std::sqrt(v_hat) + 1e-8) : g[j]);
    }
  }
};

/// PipeDream's training by the paper and its runtime: a stage with r replicas, of R ranks from there on, has
/// ceil(R / r) micro-batches a replica under way, so that micro-batch m sees the weights of so many rounds before m's
/// own, less one; a round of r micro-batches ends in an update with the mean of their gradients, at the rate times r
/// over the first stage's replicas. Returns the parameters after each step.
inline std::vector<Numbers> by_recursion(const MeshTrial& trial, const Numbers& replicas,
                                         const std::vector<std::size_t>& firsts, const Numbers& start) {
  const std::size_t stages = replicas.size();
  const std::int64_t parts = lcm(replicas);
  const bool adam = trial.training.optimizer.kind() == "adam";
  std::vector<std::vector<Numbers>> versions(stages, {start});  // of all numbers, of which the stage's count
  std::vector<ByHand> update;
  std::vector<Numbers> sums(stages);
  for (std::size_t s = 0; s < stages; ++s) {
    update.emplace_back(adam, firsts[s + 1] - firsts[s]);
    sums[s].assign(firsts[s + 1] - firsts[s], 0.0);
  }
  std::vector<Numbers> after{start};
  for (std::int64_t m = 0; m < trial.steps * parts; ++m) {
    Numbers seen = start;
    for (std::size_t s = 0; s < stages; ++s) {
      const auto r = static_cast<std::int64_t>(replicas[s]);
      std::int64_t R = 0;
      for (std::size_t t = s; t < stages; ++t) R += static_cast<std::int64_t>(replicas[t]);
      const std::int64_t version = std::max<std::int64_t>(0, m / r - ((R + r - 1) / r - 1));
      const Numbers& w = versions[s][static_cast<std::size_t>(version)];
      std::copy(w.begin() + static_cast<long>(firsts[s]), w.begin() + static_cast<long>(firsts[s + 1]),
                seen.begin() + static_cast<long>(firsts[s]));
    }
    const Numbers g = gradient_of(trial, m, parts, seen);
    for (std::size_t s = 0; s < stages; ++s) {
      for (std::size_t j = firsts[s]; j < firsts[s + 1]; ++j) sums[s][j - firsts[s]] += g[j] / replicas[s];
      if ((m + 1) % static_cast<std::int64_t>(replicas[s]) != 0) continue;
      Numbers next = versions[s].back();
      update[s](next, firsts[s], sums[s], trial.training.learning_rate * replicas[s] / replicas[0]);
      versions[s].push_back(next);
      std::fill(sums[s].begin(), sums[s].end(), 0.0);
    }
    if ((m + 1) % parts != 0) continue;
    Numbers whole = start;
    for (std::size_t s = 0; s < stages; ++s)
      for (std::size_t j = firsts[s]; j < firsts[s + 1]; ++j) whole[j] = versions[s].back()[j];
    after.push_back(whole);
  }
  return after;
}

/// Where the parameters of each stage begin, of so many layers each.
inline std::vector<std::size_t> firsts_of(const MeshTrial& trial, const Numbers& units) {
  const std::vector<models::Layer> layers = trial.model->layers(trial.problem);
  std::vector<std::size_t> firsts{0};
  double until = 0.0;
  for (const double count : units) {
    until += count;
    const models::Layer& last = layers[static_cast<std::size_t>(until) - 1];
    firsts.push_back(static_cast<std::size_t>(last.first + last.count));
  }
  return firsts;
}

inline void put_network(cluster::Options& options, const std::string& network) {
  if (network == "tcp" || network == "tcp on hosts of devices") options.network_model = cluster::NetworkModel::tcp;
  if (network == "hosts of devices" || network == "tcp on hosts of devices") put_devices(options, 2);
}

inline MeshTrial timed(const std::vector<double>& units, const Numbers& replicas, std::int64_t steps,
                       double hop_s = 1e-6) {
  auto model = std::make_shared<EqualLayers>();
  model->count = static_cast<std::int64_t>(std::accumulate(units.begin(), units.end(), 0.0));
  MeshTrial trial{.model = model, .problem = *model->own_problem(), .strategy = {}};
  trial.rows = trial.batch = lcm(replicas);
  trial.training.numbers = false;
  trial.steps = steps;
  trial.cluster.charge_reductions = false;
  trial.cluster.host_spec.latency_s = hop_s;
  return on_stages(trial, replicas, units);
}

/// The end of a training by the orders of its ranks: each does forward passes until it has ceil(R / r) under way, or
/// none is left, and then a backward pass, behind which the r replicas of a stage sum their gradients in 2 (r - 1)
/// exchanges. A layer takes 1 s forward and 2 s back, and any message hop_s.
inline double end_of_passes(const Numbers& units, const Numbers& replicas, std::int64_t steps, double hop_s) {
  const std::size_t stages = replicas.size();
  const std::int64_t count = steps * lcm(replicas);
  std::vector<Numbers> forward(stages, Numbers(static_cast<std::size_t>(count), -1.0)), back = forward;
  struct Rank {
    std::size_t stage;
    std::int64_t replica, r, most, forwards = 0, backs = 0;
    double at_s = 0.0;
  };
  std::vector<Rank> ranks;
  for (std::size_t s = 0; s < stages; ++s) {
    const auto r = static_cast<std::int64_t>(replicas[s]);
    std::int64_t R = 0;
    for (std::size_t t = s; t < stages; ++t) R += static_cast<std::int64_t>(replicas[t]);
    for (std::int64_t k = 0; k < r; ++k) ranks.push_back({s, k, r, (R + r - 1) / r});
  }
  // The end of the round before; -1: not known yet.
  const auto round_s = [&](const Rank& of) {
    double end = 0.0;
    for (std::int64_t k = 0; k < of.r && of.backs > 0; ++k) {
      const double back_s = back[of.stage][static_cast<std::size_t>((of.backs - 1) * of.r + k)];
      if (back_s < 0.0) return -1.0;
      end = std::max(end, back_s);
    }
    if (of.backs > 0) end += 2.0 * static_cast<double>(of.r - 1) * hop_s;
    return end;
  };
  for (bool moves = true; moves;) {
    moves = false;
    for (Rank& rank : ranks) {
      const double from_s = round_s(rank);
      const std::int64_t next = rank.forwards * rank.r + rank.replica, m = rank.backs * rank.r + rank.replica;
      if (from_s < 0.0 || m >= count) continue;
      const bool goes_forward = rank.forwards < rank.backs + rank.most && next < count;
      const auto at = static_cast<std::size_t>(goes_forward ? next : m);
      double ready_s = std::max(from_s, rank.at_s), made_s = 0.0;
      if (goes_forward && rank.stage > 0) made_s = forward[rank.stage - 1][at];
      if (!goes_forward && rank.stage + 1 < stages) made_s = back[rank.stage + 1][at];
      if (made_s < 0.0) continue;
      if (made_s > 0.0) ready_s = std::max(ready_s, made_s + hop_s);
      rank.at_s = ready_s + (goes_forward ? 1.0 : 2.0) * units[rank.stage];
      (goes_forward ? forward : back)[rank.stage][at] = rank.at_s;
      ++(goes_forward ? rank.forwards : rank.backs);
      moves = true;
    }
  }
  double end_s = 0.0;
  for (std::size_t s = 0; s < stages; ++s)
    for (const double back_s : back[s]) end_s = std::max(end_s, back_s + 2.0 * (replicas[s] - 1.0) * hop_s);
  return end_s;
}

}  // namespace simgrad::tests::stage_replicas
