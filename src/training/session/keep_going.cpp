#include "training/session/keep_going.h"

#include <algorithm>
#include <utility>

#include "training/session/generation.h"

namespace simgrad::training {

void KeepGoing::begin(const Generation& generation) {
  generation_ = &generation;
  arrivals_.clear();
}

std::int64_t KeepGoing::go_back(std::int64_t step, std::int64_t /*samples*/) {
  seen_.resize(static_cast<std::size_t>(step) + 1);
  return samples_;
}

std::int64_t KeepGoing::arrive(int rank, const State& state) {
  const std::size_t place = generation_->place(rank);
  replicas_.report(rank, state.step);
  Arrivals& arrivals = arrivals_[state.step];
  arrivals.replicas.resize(static_cast<std::size_t>(generation_->workers()));
  arrivals.replicas[place] = state.w;
  // A worker that joins, or goes on from a checkpoint, has not computed the gradient that led to its first state.
  if (state.step > std::max(replicas_.since(rank), generation_->start_step()))
    arrivals.samples += batches_.count(static_cast<int>(place), generation_->workers());
  observe_complete_steps();
  return state.step;
}

void KeepGoing::lose(int /*rank*/) { observe_complete_steps(); }

void KeepGoing::observe_complete_steps() {
  while (!arrivals_.empty() && replicas_.all_reported(arrivals_.begin()->first)) {
    auto [step, arrivals] = std::move(*arrivals_.begin());
    arrivals_.erase(arrivals_.begin());
    samples_ += arrivals.samples;
    // A generation that goes back reports the state that it goes back to once more.
    if (std::cmp_less(seen_.size(), step + 1))
      seen_.resize(static_cast<std::size_t>(step) + 1, seen_.back() + arrivals.samples);
    rules_.count(step, seen_[static_cast<std::size_t>(step)]);
    std::erase_if(arrivals.replicas, [](const values::Tensor& replica) { return !replica; });
    if (!hooks_.observe({step, std::move(arrivals.replicas), samples_})) return;
  }
}

}  // namespace simgrad::training
