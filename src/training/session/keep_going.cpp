#include "training/session/keep_going.h"

#include <utility>

#include "training/session/generation.h"

namespace simgrad::training {

void KeepGoing::begin(const Generation& generation) {
  generation_ = &generation;
  arrivals_.clear();
}

std::int64_t KeepGoing::arrive(int rank, const State& state) {
  const std::size_t place = generation_->place(rank);
  replicas_.report(rank, state.step);
  Arrivals& arrivals = arrivals_[state.step];
  arrivals.replicas.resize(static_cast<std::size_t>(generation_->workers()));
  arrivals.replicas[place] = state.w;
  // A worker that joins has not computed the gradient that led to its first state.
  if (state.step > replicas_.since(rank))
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
    std::erase_if(arrivals.replicas, [](const values::Tensor& replica) { return !replica; });
    if (!hooks_.observe({step, std::move(arrivals.replicas), samples_})) return;
  }
}

}  // namespace simgrad::training
