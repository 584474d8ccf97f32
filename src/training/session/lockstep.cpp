#include "training/session/lockstep.h"

#include <utility>

#include "training/session/generation.h"

namespace simgrad::training {

void Lockstep::begin(const Generation& generation) {
  generation_ = &generation;
  arrivals_.clear();
}

std::int64_t Lockstep::go_back(std::int64_t step, std::int64_t samples) {
  if (batch_) lost_samples_ = samples - step * *batch_;
  return samples;
}

std::int64_t Lockstep::arrive(int rank, const State& state) {
  const int reporters = generation_->reporters();
  const std::size_t place = generation_->place(rank);
  hooks_.remember(rank, state, reporters);
  Arrivals& arrivals = arrivals_[state.step];
  arrivals.replicas.resize(static_cast<std::size_t>(reporters));
  arrivals.replicas[place] = state.w;
  if (place == 0) {  // the first place's report decides the step's samples
    arrivals.samples = tally_.samples();
    rules_.count(state.step, arrivals.samples);
  }
  if (++arrivals.reports == reporters) {
    Observed observed{state.step, std::move(arrivals.replicas), arrivals.samples};
    arrivals_.erase(state.step);
    hooks_.observe(std::move(observed));
  }
  return state.step;
}

/// Ranks that run ahead have computed more samples than the steps that are complete, servers may be ahead of each
/// other, and cores of one host go on at the moment of the end: so in lockstep the step tells.
std::int64_t Lockstep::samples_at(const Observed& state) const {
  return batch_ ? lost_samples_ + state.step * *batch_ : state.samples;
}

}  // namespace simgrad::training
