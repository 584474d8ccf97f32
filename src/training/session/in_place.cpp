/// Trainings in which nobody stops when a worker is lost.
#include <algorithm>
#include <utility>

#include "training/session/training.h"

namespace simgrad::training {

bool Training::rejoins(int rank) const { return alongside_.at(static_cast<std::size_t>(rank)).rejoins; }

bool Training::takes_part(int rank, std::int64_t step) const {
  return world_.alive(rank) && alongside_.at(static_cast<std::size_t>(rank)).since <= step;
}

void Training::join(int rank, std::int64_t step, int from) {
  Alongside& self = alongside_.at(static_cast<std::size_t>(rank));
  self.since = step;
  self.joins_from = from;
}

std::vector<int> Training::joiners(int from, std::int64_t step) {
  std::vector<int> all;
  for (int rank = 0; rank < world_.workers(); ++rank) {
    Alongside& each = alongside_[static_cast<std::size_t>(rank)];
    if (each.joins_from != from || each.since > step) continue;
    each.joins_from.reset();
    if (world_.alive(rank)) all.push_back(rank);
  }
  return all;
}

bool Training::goes_on_without(int rank) const {
  if (!keeps_going()) return false;
  for (int each = world_.workers(); each < world_.size(); ++each)
    if (world_.same_host(each, rank)) return false;
  if (holder() != Holder::workers) return true;
  for (int each = 0; each < world_.workers(); ++each)
    if (active(each) && !world_.same_host(each, rank)) return true;
  return false;
}

void Training::lose(int rank) {
  Alongside& lost = alongside_.at(static_cast<std::size_t>(rank));
  lost.active = false;
  lost.joins_from.reset();
  if (program_.own_pace) return lose_at_own_pace(rank);
  observe_complete_steps();
}

void Training::bring_back(int rank) {
  Alongside& back = alongside_.at(static_cast<std::size_t>(rank));
  back.rejoins = true;
  back.since = std::numeric_limits<std::int64_t>::max();  // until it has found somebody to join
  const auto at = std::ranges::lower_bound(*members_, rank);
  start_rank(rank, static_cast<int>(at - members_->begin()));
}

bool Training::arrive_in_place(int rank, const State& state) {
  Alongside& self = alongside_[static_cast<std::size_t>(rank)];
  self.active = true;
  self.passed = state.step;
  Arrivals& arrivals = arrivals_[state.step];
  arrivals.replicas.resize(static_cast<std::size_t>(living_workers_));
  arrivals.replicas[place(rank)] = state.w;
  // Of the gradient that led to the state; who joins has computed none.
  if (state.step > self.since)
    arrivals.samples += learning_.batches().count(static_cast<int>(place(rank)), living_workers_);
  observe_complete_steps();
  return !world_.ended() && !last_step(state.step);
}

/// A step is complete when every replica that is at work has passed it.
void Training::observe_complete_steps() {
  if (holder() != Holder::workers) return;
  const auto passed = [this](std::int64_t step) {
    return std::ranges::all_of(alongside_, [&](const Alongside& each) { return !each.active || each.passed >= step; });
  };
  while (!world_.ended() && !arrivals_.empty() && passed(arrivals_.begin()->first)) {
    auto [step, arrivals] = std::move(*arrivals_.begin());
    arrivals_.erase(arrivals_.begin());
    alongside_samples_ += arrivals.samples;
    std::erase_if(arrivals.replicas, [](const values::Tensor& replica) { return !replica; });
    observe({step, std::move(arrivals.replicas), alongside_samples_});
  }
}

}  // namespace simgrad::training
