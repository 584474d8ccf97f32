#include "training/learning/loss_scales.h"

#include <fmt/format.h>

namespace simgrad::training {

int LossScales::exponent(int rank) const {
  const auto found = scales_.find(key(rank));
  return found == scales_.end() ? Scale().exponent : found->second.exponent;
}

bool LossScales::applies(int rank, bool finite) {
  constexpr int growth_interval = 2000, exponent_most = 24;
  Scale& scale = scales_[key(rank)];
  if (!finite) {
    ++skipped_;
    --scale.exponent;
    scale.clean = 0;
  } else if (++scale.clean == growth_interval) {
    if (scale.exponent < exponent_most) ++scale.exponent;
    scale.clean = 0;
  }
  return finite;
}

std::string LossScales::note() const {
  if (skipped_ == 0) return {};
  return fmt::format(
      "float16: {} update{} whose gradient had overflowed {} left out; the loss scale is 2^{} at the end", skipped_,
      skipped_ == 1 ? "" : "s", skipped_ == 1 ? "was" : "were", scales_.begin()->second.exponent);
}

}  // namespace simgrad::training
