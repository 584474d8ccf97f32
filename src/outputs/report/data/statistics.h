/// Statistics over seeds, in closed form.
#pragma once

#include <limits>
#include <span>

namespace simgrad::outputs::report {

inline constexpr double nan = std::numeric_limits<double>::quiet_NaN();

/// The t with P(|T| <= t) = 0.95 for Student's T with so many degrees of freedom (at least 1).
/// The distribution is a finite sum for whole degrees of freedom; t is found by bisection.
/// Source: M. Abramowitz, I. Stegun, Handbook of Mathematical Functions, 1964, 26.7.3 and 26.7.4.
double student_t95(int degrees_of_freedom);

/// Of the mean: [low, high] holds the expectation in 95 of 100 experiments, if the numbers are normal and independent.
struct Interval {
  double mean = 0.0;
  double low = 0.0;
  double high = 0.0;
};

/// mean -+ t s / sqrt(n).  The numbers: at least one; with one, low and high are NaN.  `t`: student_t95(n - 1).
/// NaN throughout where one of the numbers is not finite.
Interval interval(std::span<const double> numbers, double t);
/// The same, with the t looked up.
Interval interval(std::span<const double> numbers);

/// The serial share s in 1 / speed-up = s + (1 - s) / workers, by least squares on 1 / speed-up, within [0, 1].
/// NaN unless there are two sizes beyond one worker, or one beyond it and one worker itself.
/// Source: G. Amdahl, Validity of the Single Processor Approach to Achieving Large Scale Computing Capabilities,
/// AFIPS 1967.
double amdahl_serial_share(std::span<const double> workers, std::span<const double> speedups);
double amdahl_speedup(double serial_share, double workers);

}  // namespace simgrad::outputs::report
