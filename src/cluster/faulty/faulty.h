/// Faulty workers (Byzantine ones): ranks whose gradients are others than those that they have computed.
///
/// Source: P. Blanchard, E. El Mhamdi, R. Guerraoui, J. Stainer, "Machine Learning with Adversaries: Byzantine Tolerant
/// Gradient Descent", NIPS 2017 (Gaussian noise); L. Li, W. Xu, T. Chen, G. B. Giannakis, Q. Ling, "RSA:
/// Byzantine-Robust Stochastic Aggregation Methods for Distributed Learning from Heterogeneous Datasets", AAAI 2019
/// (flipped signs).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/describe.h"
#include "base/registry.h"

namespace simgrad::cluster {

class FaultyWorkers : public base::Described {
 public:
  std::optional<double> share;  ///< of the workers, which the seed draws; default 0.2
  std::vector<double> workers;  ///< instead: the ranks themselves; empty: none are named

  void describe(base::Describer& d) override;
  /// Whether there are any.
  virtual bool there() const { return true; }
  /// The multiple of its gradient that a faulty worker hands over; 0 where it hands over noise alone.
  virtual double factor() const { return 1.0; }
  /// The standard deviation of the noise, as it is for a gradient of the mean loss over the worker's own rows.
  virtual double noise() const { return 0.0; }

  /// Whether a rank of P workers is faulty. Its steps do not matter: it is so from the beginning to the end.
  bool concerns(int rank, int P, std::uint64_t seed) const;
  /// The faulty ones among P workers, ascending.
  std::vector<int> ranks(int P, std::uint64_t seed) const;
  /// A sentence that names them, by at most twenty ranks.  kind: of the fault.
  std::string note(std::string_view kind, int P, std::uint64_t seed) const;
  /// The reason why `workers` are not among ranks 0 .. P-1, or empty.
  std::string refusal(std::int64_t P) const;
};

struct NoFaultyWorkers final : FaultyWorkers {
  static constexpr base::About about{
      .kind = "none", .summary = "every worker hands over the gradient that it has computed", .cost = "", .source = ""};

  void describe(base::Describer&) override {}
  bool there() const override { return false; }
};

struct SignFlip final : FaultyWorkers {
  static constexpr base::About about{
      .kind = "sign_flip",
      .summary = "a faulty worker hands over -factor times its gradient",
      .cost = "no time",
      .source = "L. Li et al., RSA: Byzantine-Robust Stochastic Aggregation Methods, 2019"};
  double times = 1.0;

  void describe(base::Describer& d) override;
  double factor() const override { return -times; }
};

struct ScaledGradients final : FaultyWorkers {
  static constexpr base::About about{.kind = "scale",
                                     .summary = "a faulty worker hands over factor times its gradient",
                                     .cost = "no time",
                                     .source = ""};
  double times = 10.0;

  void describe(base::Describer& d) override;
  double factor() const override { return times; }
};

struct RandomGradients final : FaultyWorkers {
  static constexpr base::About about{
      .kind = "random",
      .summary = "a faulty worker hands over normal draws of mean 0 in place of its gradient, new ones in each step",
      .cost = "no time",
      .source = "P. Blanchard et al., Machine Learning with Adversaries, 2017"};
  double sigma = 1.0;

  void describe(base::Describer& d) override;
  double factor() const override { return 0.0; }
  double noise() const override { return sigma; }
};

/// none, sign_flip, scale, random
const base::Registry<FaultyWorkers>& faulty_workers();

}  // namespace simgrad::cluster
