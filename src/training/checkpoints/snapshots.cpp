#include "training/checkpoints/snapshots.h"

#include <utility>

namespace simgrad::training {

bool Snapshots::keep(int rank, const State& state, int reporters) {
  States& kept = by_step_[state.step];
  kept.insert_or_assign(rank, state);
  if (!std::cmp_greater_equal(kept.size(), reporters)) return false;
  by_step_.erase(by_step_.begin(), by_step_.find(state.step));
  for (auto* ranks : {&copy_only_, &copyless_}) ranks->erase(ranks->begin(), ranks->lower_bound(state.step));
  complete_ = state.step;
  forgotten_ = false;
  return true;
}

void Snapshots::settle() {
  const auto behind = [this](auto& by_step) {
    by_step.erase(complete_ ? by_step.upper_bound(*complete_) : by_step.begin(), by_step.end());
  };
  behind(by_step_);
  behind(copy_only_);
  behind(copyless_);
}

void Snapshots::drop(std::int64_t step, int rank) {
  if (by_step_.at(step).erase(rank) == 0 || step != complete_) return;
  forgotten_ = true;
  last_forgotten_ = rank;
}

void Snapshots::forget(int rank) {
  for (auto& [step, states] : by_step_) {
    const bool copied = !holders_.empty() && states.contains(rank) && !copyless_[step].contains(rank);
    if (copied)
      copy_only_[step].insert(rank);
    else
      drop(step, rank);
    for (std::size_t other = 0; other < holders_.size(); ++other) {
      if (holders_[other] != rank || !states.contains(static_cast<int>(other))) continue;
      copyless_[step].insert(static_cast<int>(other));
      if (copy_only_[step].erase(static_cast<int>(other)) > 0) drop(step, static_cast<int>(other));
    }
  }
}

void Snapshots::regain(int rank) {
  if (!complete_) return;
  copy_only_[*complete_].erase(rank);
  std::erase_if(copyless_[*complete_], [&](int other) { return holders_[static_cast<std::size_t>(other)] == rank; });
}

int Snapshots::memory_of(int rank) const {
  const auto at = copy_only_.find(complete_.value_or(-1));
  return at != copy_only_.end() && at->second.contains(rank) ? holders_[static_cast<std::size_t>(rank)] : rank;
}

void Snapshots::clear() {
  Snapshots empty;
  empty.holders_ = std::move(holders_);
  *this = std::move(empty);
}

}  // namespace simgrad::training
