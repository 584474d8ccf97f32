/// DiLoCo: every rank takes H steps on its own replica, then an outer optimizer steps along the ranks' mean change.
///
/// Source: A. Douillard, Q. Feng, A. A. Rusu, R. Chhaparia, Y. Donchev, A. Kuncoro, M. Ranzato, A. Szlam, J. Shen,
/// "DiLoCo: Distributed Low-Communication Training of Language Models", 2023 (arXiv:2311.08105), Algorithm 1. The inner
/// optimizer is the training's (AdamW in the paper), and every replica keeps its vectors from round to round. The outer
/// optimizer is Nesterov's momentum with PyTorch's signs. With theta the parameters at the round's start:
///   outer gradient  D = theta - mean of the replicas;   u <- mu u + D;   theta <- theta - rate (D + mu u)
/// All replicas begin the round at theta. So the mean of their outer gradients is theta minus the mean of the replicas,
/// and the allreduce carries the replicas, which are as long.
/// Cost per round of H steps: H (t_c + t_update) + T_allreduce(P, M) + M gamma/8 for the mean + 7 d / speed.
/// Rate 1 without momentum is local SGD; P = 1 is Lookahead with momentum.
#pragma once

#include "collectives/allreduce.h"
#include "strategies/strategy.h"

namespace simgrad::strategies {

struct DiLoCo : Strategy {
  static constexpr base::About about{
      .kind = "diloco",
      .summary =
          "every rank takes some steps on its own replica, then an outer Nesterov momentum steps along the mean "
          "of the replicas' changes",
      .cost = "t_c + t_update + (T_allreduce + 7 d/speed)/H a step",
      .source = "A. Douillard et al., DiLoCo: Distributed Low-Communication Training of Language Models, 2023"};

  std::int64_t local_steps = 8;  ///< H
  double outer_rate = 0.7;
  double outer_momentum = 0.9;  ///< mu
  base::Slot<collectives::Allreduce> algorithm{collectives::allreduces(), "auto"};

  void describe(base::Describer& d) override;
  Traits traits(int P) const override {
    return {.replicas_differ = true,
            .many_to_many = algorithm->many_to_many(),
            .rounds = P > 1 ? std::optional(rounds()) : std::nullopt};
  }
  std::optional<Refusal> refusal(const Circumstances& circumstances) const override;
  void operator()(Worker& worker) const override;

 private:
  training::Rounds rounds() const { return {.steps = local_steps}; }
  /// The places in State::own of all replicas at the beginning of the round, and of the outer momentum.
  static constexpr std::size_t theta = 0;
  static constexpr std::size_t momentum = 1;

  void outer_step(Worker& worker, State& state) const;
};

}  // namespace simgrad::strategies
