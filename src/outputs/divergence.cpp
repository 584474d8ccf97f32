#include "outputs/divergence.h"

#include <algorithm>
#include <cmath>

namespace simgrad::outputs {

std::size_t sensible_evaluations(const std::vector<record::Evaluation>& curve) {
  const auto lost = [](const record::Evaluation& each) { return !each.loss || !std::isfinite(*each.loss); };
  if (std::ranges::all_of(curve, [](const auto& each) { return !each.loss.has_value(); })) return curve.size();
  auto end = std::ranges::find_if(curve, lost);
  if (end == curve.begin()) return 0;
  const double first = *curve.front().loss;
  const double most = first > 0.0 ? diverged_above * first : sensible_most;
  // The losses at the end that are all too large; a peak from which the loss comes down is none of them.
  while (end != curve.begin() && *(end - 1)->loss > most) --end;
  return static_cast<std::size_t>(end - curve.begin());
}

}  // namespace simgrad::outputs
