#include "capacity/computing.h"

#include <algorithm>
#include <cmath>

namespace simgrad::capacity {

double Computing::checkpoints() const {
  // A last interval that is whole but for rounding has no checkpoint behind it.
  return std::max(0.0, std::ceil(work_s / interval_s * (1.0 - 1e-12)) - 1.0);
}

double Computing::duration_s() const {
  const double stalls = std::max(checkpoints() - 1.0, 0.0);
  return work_s + checkpoints() * checkpoint_s + (stalls > 0.0 ? stalls * stall_s() : 0.0);
}

/// The end of the checkpoint of that number, from 1 on.
double Computing::end_s(double number) const {
  return interval_s + checkpoint_s + (number > 1.0 ? (number - 1.0) * (interval_s + stall_s() + checkpoint_s) : 0.0);
}

/// Checkpoints that have ended after so long.
double Computing::ended(double elapsed_s) const {
  if (elapsed_s < end_s(1.0)) return 0.0;
  return std::min(1.0 + std::floor((elapsed_s - end_s(1.0)) / (interval_s + stall_s() + checkpoint_s)), checkpoints());
}

Computing::Progress Computing::after(double elapsed_s) const {
  const double ended = this->ended(elapsed_s), safe = this->ended(elapsed_s - write_s);
  // Without checkpoints the interval is infinite, and so would be its products with 0.
  const double before_s = ended > 0.0 ? ended * interval_s : 0.0;
  const double rest_s = elapsed_s - (ended > 0.0 ? end_s(ended) : 0.0);
  const double worked_s = std::min({rest_s, interval_s, work_s - before_s});
  Progress progress{.saved_s = safe > 0.0 ? safe * interval_s : 0.0};
  progress.unsaved_s = before_s + worked_s - progress.saved_s;
  progress.checkpoints_s = ended > 0.0 ? end_s(ended) - before_s : 0.0;
  if (ended < checkpoints()) progress.checkpoints_s += rest_s - worked_s;
  return progress;
}

}  // namespace simgrad::capacity
