#include "training/pace.h"

#include <cmath>

namespace simgrad::training {

double multiple_of_gradient(base::Stream& stream, double spread, bool first) {
  const double variance = std::log1p(spread * spread);  // of the logarithm
  const double multiple = std::exp(std::sqrt(variance) * stream.normal() - variance / 2.0);
  return first ? multiple * (0.5 + stream.uniform()) : multiple;
}

}  // namespace simgrad::training
