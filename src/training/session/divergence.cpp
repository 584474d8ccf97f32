#include "training/session/divergence.h"

#include <algorithm>
#include <cmath>

namespace simgrad::training {

bool Divergence::exceeds(double loss, double factor) {
  if (!(loss > factor * *first_)) return false;
  if (!reference_) {
    const double of_zeros = loss_of_zeros_().value_or(0.0);
    reference_ = std::isfinite(of_zeros) ? std::max(*first_, of_zeros) : *first_;
  }
  return *reference_ > 0.0 && loss > factor * *reference_;
}

bool Divergence::ends(std::int64_t step, double loss) {
  if (!first_) first_ = loss;
  const bool grows = loss > last_;
  if (!exceeds(loss, useless))
    beyond_use_since_.reset();
  else if (!beyond_use_since_)
    beyond_use_since_ = step;
  growing_ = !exceeds(loss, hopeless) ? 0 : grows ? growing_ + 1 : 1;
  last_ = loss;
  return growing_ >= evaluations;
}

}  // namespace simgrad::training
