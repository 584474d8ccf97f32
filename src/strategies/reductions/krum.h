/// Krum: the gradient, or the mean of some, that is nearest to its neighbours.
///
/// A gradient's score is the sum of its squared distances to the P - f - 2 gradients that are nearest to it. The one
/// with the lowest score is taken; multi-krum takes the mean of the m lowest ones. Of equal scores the lower rank's is
/// the lower.
///
/// Source: P. Blanchard, E. El Mhamdi, R. Guerraoui, J. Stainer, "Machine Learning with Adversaries: Byzantine Tolerant
/// Gradient Descent", NIPS 2017, sections 4 and 7 (multi-krum).
/// Cost for P gradients of n numbers: 3 n P (P - 1) / 2 for the distances, P (P - 1) log2 P for the scores, m n for a
/// mean of m > 1.
#pragma once

#include "strategies/reductions/reduction.h"

namespace simgrad::strategies {

struct Krum final : Reduction {
  static constexpr base::About about{
      .kind = "krum",
      .summary =
          "the gradient with the least sum of squared distances to its P - krum_faulty - 2 nearest ones, or the mean "
          "of several such: krum_faulty of the workers may send anything",
      .cost =
          "3 n P (P - 1) / 2 + P (P - 1) log2 P + P n flops for n numbers of P workers; the server holds P gradients",
      .source = "P. Blanchard et al., Machine Learning with Adversaries: Byzantine Tolerant Gradient Descent, 2017"};

  std::optional<std::int64_t> faulty;  ///< f
  std::int64_t selected = 1;           ///< m

  void describe(base::Describer& d) override;
  bool holds_all() const override { return true; }
  bool needs_whole() const override { return true; }
  double flops(std::int64_t gradients, std::int64_t n) const override;
  values::Kernel kernel() const override;
  std::vector<std::uint64_t> key() const override;
  std::string refusal(std::int64_t gradients) const override;
};

/// The places of the m gradients with the lowest scores, the lowest first.
std::vector<std::size_t> nearest_to_neighbours(std::span<const std::span<const double>> gradients,
                                               std::optional<std::int64_t> faulty, std::int64_t m);

}  // namespace simgrad::strategies
