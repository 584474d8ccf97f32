#include "training/checkpoints/snapshots.h"

#include <utility>

namespace simgrad::training {

bool Snapshots::keep(int rank, const State& state, int reporters) {
  States& kept = by_step_[state.step];
  kept.insert_or_assign(rank, state);
  if (!std::cmp_greater_equal(kept.size(), reporters)) return false;
  by_step_.erase(by_step_.begin(), by_step_.find(state.step));
  complete_ = state.step;
  forgotten_ = false;
  return true;
}

void Snapshots::settle() {
  if (!complete_) return by_step_.clear();
  by_step_.erase(by_step_.upper_bound(*complete_), by_step_.end());
}

void Snapshots::forget(int rank) {
  for (auto& [step, states] : by_step_)
    if (states.erase(rank) > 0 && step == complete_) {
      forgotten_ = true;
      last_forgotten_ = rank;
    }
}

void Snapshots::clear() { *this = {}; }

}  // namespace simgrad::training
