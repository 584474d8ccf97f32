/// Stragglers of a step: the time of a gradient is drawn anew for every rank and step.
///
/// A step that waits for the slowest of n takes the largest of n draws. The mean of the largest is D + mean H_n for the
/// shifted exponential, with H_n = 1 + 1/2 + ... + 1/n.
#pragma once

#include "cluster/stragglers/stragglers.h"

namespace simgrad::cluster {

struct NoStragglers final : Stragglers {
  static constexpr base::About about{
      .kind = "none", .summary = "every gradient takes its nominal time", .cost = "flops / speed", .source = ""};

  void describe(base::Describer&) override {}
};

struct ConstantStragglers final : Stragglers {
  static constexpr base::About about{.kind = "constant",
                                     .summary = "some ranks' gradients always take longer",
                                     .cost = "slowdown x nominal time",
                                     .source = ""};
  double slowdown = 2.0;

  void describe(base::Describer& d) override;
  bool draws() const override { return true; }
  Slowdown draw(base::Stream&) const override { return {.factor = slowdown}; }
};

struct LogNormal final : Stragglers {
  static constexpr base::About about{
      .kind = "log_normal",
      .summary = "a gradient takes a log-normal multiple, of mean 1, of its nominal time",
      .cost = "exp(sigma Z - sigma^2 / 2) x nominal time, Z standard normal: mean 1, variance exp(sigma^2) - 1",
      .source = ""};
  double sigma = 0.5;

  void describe(base::Describer& d) override;
  bool draws() const override { return true; }
  Slowdown draw(base::Stream& stream) const override;
};

struct ShiftedExponential final : Stragglers {
  static constexpr base::About about{
      .kind = "shifted_exponential",
      .summary = "a gradient takes its nominal time and an exponential one on top",
      .cost = "nominal time D + Exp(mean); the slowest of n: D + mean H_n, the k-th of n: D + mean (H_n - H_(n-k))",
      .source =
          "K. Lee, M. Lam, R. Pedarsani, D. Papailiopoulos, K. Ramchandran, \"Speeding Up Distributed Machine Learning "
          "Using Codes\", IEEE Transactions on Information Theory 64, 2018"};
  double mean_s = 0.1;

  void describe(base::Describer& d) override;
  bool draws() const override { return true; }
  Slowdown draw(base::Stream& stream) const override;
};

struct Pareto final : Stragglers {
  static constexpr base::About about{
      .kind = "pareto",
      .summary = "a gradient takes a multiple of at least 1 with a heavy tail: P(multiple > x) = x^-shape",
      .cost = "U^(-1/shape) x nominal time; mean shape / (shape - 1), infinite for shape <= 1",
      .source =
          "J. Dean, L. A. Barroso, \"The Tail at Scale\", Communications of the ACM 56, 2013 (tails); the "
          "distribution is V. Pareto's"};
  double shape = 2.5;

  void describe(base::Describer& d) override;
  bool draws() const override { return true; }
  Slowdown draw(base::Stream& stream) const override;
};

struct Bimodal final : Stragglers {
  static constexpr base::About about{
      .kind = "bimodal",
      .summary = "now and then a gradient pauses: garbage collection, a process that is started again",
      .cost = "nominal time, with probability p and the pause on top; a step of n waits for a pause with 1 - (1-p)^n",
      .source = ""};
  double probability = 0.01;
  double pause_s = 1.0;

  void describe(base::Describer& d) override;
  bool draws() const override { return true; }
  Slowdown draw(base::Stream& stream) const override;
};

struct MegaScale final : Stragglers {
  static constexpr base::About about{
      .kind = "megascale",
      .summary =
          "large synchronous runs: few gradients are computed by a slow host; `launch` adds launches that drift apart",
      .cost =
          "nominal time D, with probability `share` slowdown D, and Exp(launch) on top; a step of n ranks waits for a "
          "slow one with 1 - (1 - share)^n",
      .source =
          "Z. Jiang et al., \"MegaScale: Scaling Large Language Model Training to More Than 10,000 GPUs\", NSDI 2024 "
          "(0.5 % of the hosts were slower, by 10 %; launches and collections of garbage are named without a figure)"};
  double share = 0.005;
  double slowdown = 1.1;
  double launch_s = 0.0;

  void describe(base::Describer& d) override;
  bool draws() const override { return true; }
  Slowdown draw(base::Stream& stream) const override;
};

}  // namespace simgrad::cluster
