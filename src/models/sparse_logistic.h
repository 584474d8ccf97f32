/// Logistic regression on sparse rows: s = the sum of w_k x_k over the row's entries.
/// Source: H. B. McMahan et al., Ad Click Prediction: a View from the Trenches, 2013.
/// Cost: 4 flops an entry.
#pragma once

#include "models/sparse_model.h"

namespace simgrad::models {

class SparseLogistic final : public SparseModel {
 public:
  static constexpr base::About about{
      .kind = "sparse_logistic",
      .summary = "Two classes on sparse rows: logistic regression that touches a row's own features alone.",
      .cost = "4 flops an entry that is not zero",
      .source = "H. B. McMahan et al., Ad Click Prediction: a View from the Trenches, 2013"};

  std::int64_t width() const override { return 1; }
  std::int64_t dense_parameters(const Problem&) const override { return 0; }
  void add_gradient(const Problem& problem, const Samples& rows, Parameters at, double scale,
                    Gradient gradient) const override;

 protected:
  void compute_scores(const Problem& problem, const Samples& rows, Parameters at, std::span<double> s) const override;
  /// Counts a multiplication and an addition for the score, and two for the gradient. Left out: the residual, a few
  /// flops a row.
  RowFlops row_flops(const Problem&) const override { return {.an_entry_forward = 2.0, .an_entry_backward = 2.0}; }
};

}  // namespace simgrad::models
