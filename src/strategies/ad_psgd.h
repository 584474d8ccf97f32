/// AD-PSGD: every rank updates its replica at its own pace and averages it with one neighbour's at a time.
///
/// Source: X. Lian, W. Zhang, C. Zhang, J. Liu, "Asynchronous Decentralized Parallel Stochastic Gradient Descent", ICML 2018,
/// Algorithm 1. While a rank computes a gradient at its x, it asks a random neighbour for an average: the other takes half of
/// the difference off at once and sends its own x back; when that is in, the asker adds its half, then its step.
///
/// Who asks: as in the paper, on a graph of two colours one of them asks (active) and the other answers (passive); the larger
/// asks. On other graphs, odd rings say, two neighbours of one colour have the lower rank ask. So no two ask each other at one
/// time, which would swap and not average them. Answers are given by actors beside the ranks, which never wait for them, so
/// that no pattern of questions ends in a deadlock; and both sides add what they agreed on, so that the mean is kept whatever
/// comes in between.
/// Cost per update: max(t_c, 2 (alpha + M beta) + 3 d / speed) + 2 d / speed + t_update; who asks nobody: t_c + t_update.
#pragma once

#include "strategies/on_graph.h"

namespace simgrad::strategies {

struct AdPsgd : OnGraph {
  static constexpr base::About about{
      .kind = "ad_psgd",
      .summary = "asynchronous gossip: ranks update at their own pace and average with one random neighbour at a time",
      .cost = "max(t_c, 2 (alpha + M beta) + 3 d / speed) + 2 d / speed + t_update an update, P of them a step",
      .source = "X. Lian, W. Zhang, C. Zhang, J. Liu, Asynchronous Decentralized Parallel SGD, 2018"};

  void describe(base::Describer& d) override;
  bool synchronous() const override { return false; }
  std::int64_t gradients_an_update() const override { return 0; }
  bool own_pace() const override { return true; }
  std::vector<cluster::Recovery> recoveries() const override { return allowed(true); }
  std::optional<Unfit> unfit(const Fit& fit) const override;
  void operator()(Worker& worker) const override;
};

/// Whom each rank asks, of a graph whose edges lead both ways: every edge is asked along from one of its ends.
Adjacency askers(const Adjacency& edges);

}  // namespace simgrad::strategies
