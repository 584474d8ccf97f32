/// Ranks by Zipf's law: P(r) is proportional to r^-s for r = 1 .. n.
///
/// Rejection-inversion: a draw from a continuous hat function, inverted in closed form, is rounded and rarely rejected.
/// No table is needed for any number of ranks. Source: W. Hoermann, G. Derflinger, Rejection-Inversion to Generate
/// Variates from Monotone Discrete Distributions, ACM Transactions on Modeling and Computer Simulation 6, 1996.
#pragma once

#include <cstdint>

#include "base/random.h"

namespace simgrad::data {

class Zipf {
 public:
  /// exponent: s >= 0; 0 makes all ranks alike.  ranks: n >= 1.
  Zipf(double exponent, std::int64_t ranks);
  /// A rank 1 .. n; draws from the stream until a draw is accepted.
  std::int64_t operator()(base::Stream& stream) const;

 private:
  double area(double x) const;  ///< the integral of t^-s from 1 to x
  double inverse_area(double y) const;
  double height(double x) const;  ///< x^-s

  double s_;
  std::int64_t n_;
  double area_first_;  ///< the hat's below 1.5, with the whole of rank 1
  double area_last_;
  double surely_;  ///< a draw at most so far below its rounding is accepted without a test
};

}  // namespace simgrad::data
