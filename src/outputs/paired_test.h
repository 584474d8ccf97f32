/// The paired t test, and Holm's correction of its p-values for many comparisons.
#pragma once

#include <span>
#include <vector>

namespace simgrad::outputs {

/// Returns P(|T| <= t) for Student's T with this number of degrees of freedom (at least 1), as a finite sum.
/// t: at least 0.
/// Source: M. Abramowitz, I. Stegun, Handbook of Mathematical Functions, 1964, 26.7.3 and 26.7.4.
double student_probability(double t, int degrees_of_freedom);

/// Returns the two-sided p-value of the hypothesis that the mean of the differences is 0, to 1e-15. Equal differences
/// have 0, or 1 if all of them are 0. NaN with fewer than two, and where one is not finite.
/// Source: Student, The Probable Error of a Mean, Biometrika 6, 1908.
double paired_t_test(std::span<const double> differences);

/// Returns the p-values that Holm's method makes of those of n comparisons: the k-th smallest (from 0) times n - k, at
/// least the one before it and at most 1. To reject all comparisons below a level then wrongly rejects any with at most
/// that probability. A NaN stays NaN and counts as no comparison.
/// Source: S. Holm, A Simple Sequentially Rejective Multiple Test Procedure, Scandinavian Journal of Statistics 6,
/// 1979.
std::vector<double> holm(std::span<const double> p_values);

}  // namespace simgrad::outputs
