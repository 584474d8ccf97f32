/// Local SGD: every rank takes H steps on its own replica, then the replicas are averaged.
///
/// Source: S. U. Stich, "Local SGD Converges Fast and Communicates Little", ICLR 2019, Algorithm 1; once, at the end:
/// M. Zinkevich, M. Weimer, L. Li, A. Smola, "Parallelized Stochastic Gradient Descent", NIPS 2010; together first,
/// alone later: T. Lin, S. U. Stich, K. K. Patel, M. Jaggi, "Don't Use Large Mini-Batches, Use Local SGD", ICLR 2020
/// (post-local SGD); slow momentum: J. Wang, V. Tantia, N. Ballas, M. Rabbat, "SlowMo: Improving
/// Communication-Efficient Distributed SGD with Slow Momentum", ICLR 2020, Algorithm 1. Cost per round of H steps: H
/// (t_c + t_update) + T_allreduce(P, M) + M gamma/8 for the mean, + 7 d / speed with slow momentum. H = 1 is
/// synchronous SGD.
#pragma once

#include "collectives/allreduce.h"
#include "strategies/compression.h"
#include "strategies/replicas/compressed_sum.h"

namespace simgrad::strategies {

/// The fate of the optimizer's vectors (momentum, say) when the replicas are averaged.
enum class MemoryAtAverage { keep, average, reset };

struct LocalSgd : Strategy {
  static constexpr base::About about{
      .kind = "local_sgd",
      .summary = "every rank takes some steps on its own replica, then the replicas are averaged by an allreduce",
      .cost = "t_c + t_update + T_allreduce/H a step",
      .source = "S. U. Stich, Local SGD Converges Fast and Communicates Little, 2019"};

  std::optional<std::int64_t> local_steps = 8;  ///< H; none: all of them
  std::int64_t synchronous_steps = 0;
  double slow_momentum = 0.0;
  double slow_rate = 1.0;
  MemoryAtAverage optimizer_memory = MemoryAtAverage::keep;
  base::Slot<collectives::Allreduce> algorithm{collectives::allreduces(), "auto"};
  Compression compression = no_compression();
  CodesWay codes = CodesWay::gather;
  std::optional<double> bucket_bytes;

  void describe(base::Describer& d) override;
  Traits traits(int P) const override {
    return {.replicas_differ = true,
            .many_to_many = algorithm->many_to_many() || scatters_codes(*compression, codes),
            .rounds = P > 1 ? std::optional(rounds()) : std::nullopt};
  }
  std::optional<Refusal> refusal(const Circumstances& circumstances) const override;
  void operator()(Worker& worker) const override;

 private:
  /// The places in State::own of all replicas at the beginning of the round, and of the slow momentum.
  static constexpr std::size_t begun_at = 0;
  static constexpr std::size_t momentum = 1;

  bool slow() const { return slow_momentum > 0.0 || slow_rate != 1.0; }
  training::Rounds rounds() const { return {.steps = local_steps, .synchronous_steps = synchronous_steps}; }
  void average(Worker& worker, State& state, CompressedSum& moves) const;
  /// Ends an average: the optimizer's vectors, slow momentum.
  void conclude_average(Worker& worker, State& state) const;
  /// The step before an average: each bucket is updated and averaged as soon as the backward pass is through with it.
  class AveragingStep;
  void move_slowly(Worker& worker, State& state) const;
};

}  // namespace simgrad::strategies
