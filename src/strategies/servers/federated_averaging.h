/// Federated averaging: round after round a server hands its model to some of the workers, each trains it on its own
/// rows for some steps, and the server goes on from the mean of what they return, weighted by their rows.
///
/// Source: B. McMahan, E. Moore, D. Ramage, S. Hampson, B. Aguera y Arcas, "Communication-Efficient Learning of Deep
/// Networks from Decentralized Data", AISTATS 2017, Algorithm 1; the proximal term: T. Li, A. K. Sahu, M. Zaheer, M.
/// Sanjabi, A. Talwalkar, V. Smith, "Federated Optimization in Heterogeneous Networks" (FedProx), MLSys 2020.
/// Cost per round, m workers taking part, all arriving together: H (t_c + t_update) + 2 alpha + 2 m M beta + 2 m d /
/// speed, + 3 H d / speed with the proximal term.
#pragma once

#include "strategies/reductions/reduction.h"

namespace simgrad::strategies {

struct FederatedAveraging : Strategy {
  static constexpr base::About about{
      .kind = "federated_averaging",
      .summary =
          "a server hands its model to some workers, who train it on their rows; their mean by rows is the next "
          "one; a step is a round",
      .cost =
          "H (t_c + t_update) + 2 alpha + 2 m M beta + 2 m d / speed a round of H local steps at m = fraction_train P "
          "workers",
      .source = "B. McMahan et al., Communication-Efficient Learning of Deep Networks from Decentralized Data, 2017"};

  double fraction_train = 1.0;
  std::optional<std::int64_t> local_steps;
  std::optional<double> local_epochs;
  double proximal = 0.0;
  Reduce reduce = mean_by_rows();
  Compression compression = no_compression();
  Compression parameter_compression = no_compression();

  void describe(base::Describer& d) override;
  Traits traits(int P) const override;
  std::optional<Refusal> refusal(const Circumstances& circumstances) const override;
  std::vector<std::string> warnings(std::int64_t P, std::uint64_t seed) const override;
  void operator()(Worker& worker) const override;
  void operator()(Server& server) const override;

 private:
  /// The number of workers that train in a round (m).
  std::int64_t trained(std::int64_t P) const;
  /// H of a worker.
  std::int64_t steps_of(const training::Participant& self, int worker) const;
  /// The workers that train in a round: a function of the seed and the round. Ascending.
  std::vector<int> chosen(const Server& server, std::int64_t round, const std::vector<int>& present) const;
};

}  // namespace simgrad::strategies
