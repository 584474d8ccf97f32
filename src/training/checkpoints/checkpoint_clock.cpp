#include "training/checkpoints/checkpoint_clock.h"

#include <cmath>

namespace simgrad::training {

double young_interval_s(double mtbf_s, double cost_s) { return std::sqrt(2.0 * cost_s * mtbf_s); }

double daly_interval_s(double mtbf_s, double cost_s) {
  if (cost_s >= 2.0 * mtbf_s) return mtbf_s;
  const double ratio = cost_s / (2.0 * mtbf_s);
  return young_interval_s(mtbf_s, cost_s) * (1.0 + std::sqrt(ratio) / 3.0 + ratio / 9.0) - cost_s;
}

bool CheckpointClock::due(std::int64_t step, double now, double cost_s) {
  if (step > decided_) {
    decided_ = step;
    const bool by_steps = every_steps_ > 0 && step % every_steps_ == 0;
    // Steps end a little before or after a multiple of them, as roundings go.
    const bool by_time = every_s_ && now - last_s_ >= *every_s_ * (1.0 - 1e-9);
    if (by_steps || by_time) {
      chosen_.insert(step);
      last_s_ = now + cost_s;
      if (chosen_.size() > 1000) chosen_.erase(chosen_.begin());
    }
  }
  return chosen_.contains(step);
}

void CheckpointClock::restart(std::int64_t step, double now) {
  decided_ = step;
  last_s_ = now;
  chosen_.clear();
}

}  // namespace simgrad::training
