/// Statistics over seeds, in closed form.
#pragma once

#include <limits>
#include <span>

namespace simgrad::outputs {

inline constexpr double nan = std::numeric_limits<double>::quiet_NaN();

/// Returns t with P(|T| <= t) = confidence, for Student's T with this number of degrees of freedom (at least 1).
/// The distribution is a finite sum for whole degrees of freedom; t is found by bisection. A one-sided bound at
/// confidence c has the t of 2 c - 1.  confidence: between 0 and 1, both excluded.
/// Source: M. Abramowitz, I. Stegun, Handbook of Mathematical Functions, 1964, 26.7.3 and 26.7.4.
double student_t(int degrees_of_freedom, double confidence);
/// Returns student_t at 95 %.
double student_t95(int degrees_of_freedom);

/// Returns the probability of at least that many wins in as many fair trials: the one-sided p-value of the sign test.
/// Source: W. J. Conover, Practical Nonparametric Statistics, 3rd ed., 1999, 3.4.
double sign_test(int wins, int trials);

/// A mean with its 95 % confidence interval [low, high], for numbers that are normal and independent.
struct Interval {
  double mean = 0.0;
  double low = 0.0;
  double high = 0.0;
};

/// Returns mean -+ t s / sqrt(n). With one number low and high are NaN; all three are NaN if a number is not finite.
/// numbers: at least one.  t: student_t95(n - 1).
Interval interval(std::span<const double> numbers, double t);
/// Returns the interval with t = student_t95(n - 1).
Interval interval(std::span<const double> numbers);

/// Returns the mean of the numerators over the mean of the denominators, of pairs that belong together (a seed's). The
/// interval is by the delta method: the residuals numerator - ratio x denominator are independent, with mean 0.
/// Both: as many, at least one. With one pair low and high are NaN; all three are NaN where the ratio is not finite.
/// Source: W. Cochran, Sampling Techniques, 3rd ed., 1977, 6.4.
Interval ratio_of_means(std::span<const double> numerators, std::span<const double> denominators);

/// Returns the same ratio where no numerator is below 0 or above its denominator: a share. The interval is that of the
/// share's logit, ln(p / (1 - p)), by the delta method, so that it lies within 0..1.
/// Source: L. D. Brown, T. T. Cai, A. DasGupta, "Interval Estimation for a Binomial Proportion", Statistical Science
/// 16, 2001 (logit interval).
Interval share_of_means(std::span<const double> numerators, std::span<const double> denominators);

/// Returns the serial share s in 1 / speed-up = s + (1 - s) / workers, by least squares on 1 / speed-up, within [0, 1].
/// NaN unless there are at least two different numbers of workers.
/// Source: G. Amdahl, Validity of the Single Processor Approach to Achieving Large Scale Computing Capabilities,
/// AFIPS 1967.
double amdahl_serial_share(std::span<const double> workers, std::span<const double> speedups);
double amdahl_speedup(double serial_share, double workers);

}  // namespace simgrad::outputs
