/// Factorization machine: s = w_0 + sum w_i x_i + the sum over pairs of <v_i, v_j> x_i x_j, with k factors a feature,
/// and the logistic loss.
///
/// The pairs are 1/2 sum_f ((sum v_if x_i)^2 - sum (v_if x_i)^2), which takes O(k) an entry. A key's numbers are w_i,
/// then v_i1 .. v_ik; w_0 is the one dense parameter. Source: S. Rendle, Factorization Machines, ICDM 2010, lemma 3.1
/// and equation 4. Cost: 4 + 8 k flops an entry, 2 k + 4 a row.
#pragma once

#include "models/sparse_model.h"

namespace simgrad::models {

class FactorizationMachine final : public SparseModel {
 public:
  static constexpr base::About about{.kind = "factorization_machine",
                                     .summary =
                                         "Two classes on sparse rows: a weight for each feature, and k factors whose "
                                         "products weight the pairs of features.",
                                     .cost = "4 + 8 k flops an entry that is not zero (k factors), 2 k + 4 a row",
                                     .source = "S. Rendle, Factorization Machines, 2010"};

  std::int64_t factors = 8;

  void describe(base::Describer& d) override;
  bool constant_feature() const override { return false; }
  std::int64_t width() const override { return 1 + factors; }
  std::int64_t dense_parameters(const Problem&) const override { return 1; }
  /// Draws factors from N(0, 0.01), a standard deviation of 0.1; the other parameters are 0.
  void initial_values(const Problem& problem, std::uint64_t seed, std::span<double> w) const override;
  void add_gradient(const Problem& problem, const Samples& rows, Parameters at, double scale,
                    Gradient gradient) const override;

 protected:
  void compute_scores(const Problem& problem, const Samples& rows, Parameters at, std::span<double> s) const override;
  /// Forwards, an entry: w x and its sum; for each factor v x, its sum, its square and the squares' sum. A row: a
  /// square and a sum for each factor, the difference, the half, the linear part's sum. Backwards, an entry: r x and
  /// its sum; for each factor v x, the difference from the sum, r x times that, and its sum. A row: the sum of w_0.
  /// Left out: the residual.
  RowFlops row_flops(const Problem&) const override {
    const auto k = static_cast<double>(factors);
    return {.an_entry_forward = 2.0 + 4.0 * k,
            .an_entry_backward = 2.0 + 4.0 * k,
            .a_row_forward = 2.0 * k + 3.0,
            .a_row_backward = 1.0};
  }
};

}  // namespace simgrad::models
