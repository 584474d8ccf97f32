#include "capacity/computing.h"

#include <algorithm>
#include <cmath>

namespace simgrad::capacity {

double Computing::checkpoints() const {
  // A last interval that is whole but for rounding has no checkpoint behind it.
  return std::max(0.0, std::ceil(work_s / interval_s * (1.0 - 1e-12)) - 1.0);
}

Computing::Progress Computing::after(double elapsed_s) const {
  const double cycles = std::min(std::floor(elapsed_s / (interval_s + checkpoint_s)), checkpoints());
  // Without checkpoints the interval is infinite, and so would be their product.
  Progress progress{.saved_s = cycles > 0.0 ? cycles * interval_s : 0.0, .checkpoints_s = cycles * checkpoint_s};
  const double rest_s = elapsed_s - progress.saved_s - progress.checkpoints_s;
  progress.unsaved_s = std::min({rest_s, interval_s, work_s - progress.saved_s});
  if (cycles < checkpoints()) progress.checkpoints_s += rest_s - progress.unsaved_s;
  return progress;
}

}  // namespace simgrad::capacity
