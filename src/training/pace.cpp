#include "training/pace.h"

#include <algorithm>
#include <cmath>

namespace simgrad::training {

double multiple_of_gradient(base::Stream& stream, double spread, bool first) {
  const double variance = std::log1p(spread * spread);  // of the logarithm
  const double multiple = std::exp(std::sqrt(variance) * stream.normal() - variance / 2.0);
  return first ? multiple * (0.5 + stream.uniform()) : multiple;
}

double spread_of_gradient(double spread, double elapsed_s, double computed_s) {
  if (!(computed_s > 0.0)) return spread;
  const double between = (elapsed_s - computed_s) / computed_s;  // of the gradients' time
  return std::max(spread, std::min(1.0, spread * between));
}

}  // namespace simgrad::training
