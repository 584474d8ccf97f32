/// Least squares on the logarithms of positive unknowns, for a model that is a program.
///
/// Sources: D. Marquardt, "An Algorithm for Least-Squares Estimation of Nonlinear Parameters", 1963; P. J. Huber,
/// "Robust Estimation of a Location Parameter", 1964 (the loss of large residuals).
#pragma once

#include <cstddef>
#include <functional>
#include <limits>
#include <optional>
#include <span>
#include <vector>

namespace simgrad::experiment {

/// A row and the unknowns under which its time is asked for.
struct Question {
  std::size_t row = 0;
  std::vector<double> unknowns;
};

/// Answers all questions together, so that they may be simulated beside each other. No answer: the model refuses these
/// unknowns.
using Model = std::function<std::vector<std::optional<double>>(const std::vector<Question>& questions)>;

struct Fit {
  std::vector<double> unknowns;
  std::vector<double> predicted;  ///< by row
  /// By row: by a fit to the rows of the other folds; nothing if the model refuses that fit. Empty without folds.
  std::vector<std::optional<double>> out_of_sample;
  std::size_t questions = 0;  ///< that were asked
};

/// The unknowns that minimise the sum of (log predicted - log measured)^2, from a start on: Gauss-Newton steps on the
/// unknowns' logarithms, damped where they do not help. Row r is in fold r mod `folds`; 0: no folds. Each fold's fit
/// begins with the fit to all rows and keeps its derivatives. tolerance: a logarithm beyond it counts by its size in
/// place of its square, so that rows that no unknown explains decide less (Huber's loss). Errors: base::ScenarioError
/// if the model refuses the start, or if the unknowns do not change any prediction.
Fit fit_least_squares(std::span<const double> measured, std::vector<double> start, std::size_t folds,
                      const Model& model, double tolerance = std::numeric_limits<double>::infinity());

}  // namespace simgrad::experiment
