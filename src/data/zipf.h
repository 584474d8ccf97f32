/// Ranks by Zipf's law: P(r) is proportional to r^-s for r = 1 .. n.
///
/// Rejection-inversion: a draw from a continuous hat, inverted in closed form, is rounded, and rarely rejected; nothing
/// is tabulated, however many ranks there are. Source: W. Hoermann, G. Derflinger, Rejection-Inversion to Generate
/// Variates from Monotone Discrete Distributions, ACM Transactions on Modeling and Computer Simulation 6, 1996.
#pragma once

#include <cstdint>

#include "base/random.h"

namespace simgrad::data {

class Zipf {
 public:
  /// exponent: s >= 0, and 0 is evenly.  ranks: n >= 1.
  Zipf(double exponent, std::int64_t ranks);
  /// 1 .. n; draws from the stream until one is accepted.
  std::int64_t operator()(base::Stream& stream) const;

 private:
  double area(double x) const;  ///< the integral of t^-s from 1 to x
  double inverse_area(double y) const;
  double height(double x) const;  ///< x^-s

  double s_;
  std::int64_t n_;
  double area_first_;  ///< of the hat from 1.5 down, with the whole of rank 1
  double area_last_;
  double surely_;  ///< so close below its rounding a draw is accepted without a look
};

}  // namespace simgrad::data
