#include "training/session/async_replicas.h"

#include <utility>

#include "training/session/generation.h"

namespace simgrad::training {

void AsyncReplicas::begin(const Generation& generation) {
  generation_ = &generation;
  states_.clear();
  reported_.clear();
  step_ = generation.start_step();
  updates_ = 0;
  chosen_step_ = 0;
  written_steps_.clear();
}

std::int64_t AsyncReplicas::arrive(int rank, const State& state) {
  const int P = generation_->workers();
  if (states_.empty()) {
    states_.resize(static_cast<std::size_t>(P));
    reported_.assign(static_cast<std::size_t>(P), false);
    for (int i = 0; i < P; ++i)
      if (const int each = generation_->reporter(i); alive_(each))
        states_[static_cast<std::size_t>(i)] = generation_->start_state(each);
    observe();
  }
  const std::size_t place = generation_->place(rank);
  states_[place] = state;
  replicas_.report(rank, state.step);
  const bool is_update = reported_[place];
  reported_[place] = true;
  if (is_update && ++updates_ % P == 0) observe();
  return step_;
}

void AsyncReplicas::observe() {
  step_ = generation_->start_step() + updates_ / generation_->workers();
  rules_.count(step_, tally_.samples());
  Observed observed{step_, {}, tally_.samples()};
  for (const State& each : states_)
    if (each.w) observed.replicas.push_back(each.w);
  remember();
  hooks_.observe(std::move(observed));
}

/// The memory of a rank whose host is down keeps nothing, though its crash may not be detected yet.
void AsyncReplicas::remember() const {
  std::vector<std::size_t> present;
  for (std::size_t place = 0; place < states_.size(); ++place)
    if (states_[place].w && alive_(generation_->reporter(static_cast<int>(place)))) present.push_back(place);
  for (const std::size_t place : present) {
    State kept = states_[place];
    kept.step = step_;
    hooks_.remember(generation_->reporter(static_cast<int>(place)), kept, static_cast<int>(present.size()));
  }
}

void AsyncReplicas::show(int rank, const State& state) {
  if (states_.empty()) return;
  State& last = states_[generation_->place(rank)];
  if (last.w) last = state;
}

void AsyncReplicas::lose(int rank) {
  if (states_.empty()) return;
  states_[generation_->place(rank)] = {};
  reported_[generation_->place(rank)] = false;
}

std::optional<State> AsyncReplicas::due_checkpoint(int rank, const State& state,
                                                   const std::function<bool(std::int64_t step)>& chosen) {
  if (step_ == 0) return {};
  if (chosen(step_)) chosen_step_ = step_;
  if (written_steps_.empty()) written_steps_.resize(static_cast<std::size_t>(generation_->workers()));
  std::int64_t& written = written_steps_[generation_->place(rank)];
  if (written >= chosen_step_) return {};
  written = chosen_step_;
  State due = state;
  due.step = chosen_step_;
  return due;
}

}  // namespace simgrad::training
