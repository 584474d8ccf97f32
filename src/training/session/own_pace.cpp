/// Trainings in which every worker updates a replica of its own at its own pace: a step is as many of their updates as
/// there are workers.
#include "training/session/recovery.h"
#include "training/session/training.h"

namespace simgrad::training {

bool Training::arrive_at_own_pace(int rank, const State& state) {
  const auto P = static_cast<std::size_t>(living_workers_);
  if (pace_.states.empty()) {  // of this generation
    pace_.first_step = restored_step();
    pace_.states.resize(P);
    pace_.begun.assign(P, false);
    for (std::size_t at = 0; at < P; ++at)
      if (const int each = (*members_)[at]; world_.alive(each)) pace_.states[at] = start_state(each);
    observe_at_own_pace();
  }
  const std::size_t at = place(rank);
  pace_.states[at] = state;
  alongside_[static_cast<std::size_t>(rank)].active = true;
  const bool begun = pace_.begun[at];
  pace_.begun[at] = true;
  if (begun && ++pace_.updates % living_workers_ == 0) observe_at_own_pace();
  return !world_.ended() && !last_step(latest_.step);
}

void Training::observe_at_own_pace() {
  const std::int64_t step = pace_.first_step + pace_.updates / living_workers_;
  if (sample_limit_ && samples_ >= *sample_limit_ && !last_by_samples_) last_by_samples_ = step;
  Observed observed{step, {}, samples_};
  int present = 0;
  for (const State& each : pace_.states)
    if (each.w) {
      observed.replicas.push_back(each.w);
      ++present;
    }
  if (step > 0 && remembers() && cluster_.options().failures.hosts_fail())
    for (std::size_t at = 0; at < pace_.states.size(); ++at) {
      State kept = pace_.states[at];
      kept.step = step;
      if (kept.w && recent_.keep((*members_)[at], kept, present)) losses_.secured(world_.now());
    }
  observe(std::move(observed));
}

void Training::show(int rank, const State& state) {
  if (!pace_.states.empty() && !world_.ended() && pace_.states[place(rank)].w) pace_.states[place(rank)] = state;
}

void Training::lose_at_own_pace(int rank) {
  if (pace_.states.empty()) return;
  pace_.states[place(rank)] = {};
  pace_.begun[place(rank)] = false;
}

/// Ranks come by at times of their own: each writes the last step that was chosen, when it comes by next.
std::optional<State> Training::due_at_own_pace(int rank, const State& state) {
  if (checkpoint_clock_->due(latest_.step, world_.now(), checkpoint_cost_s_)) pace_.chosen_step = latest_.step;
  if (pace_.written.empty()) pace_.written.resize(static_cast<std::size_t>(living_workers_));
  std::int64_t& written = pace_.written[place(rank)];
  if (written >= pace_.chosen_step) return {};
  written = pace_.chosen_step;
  State due = state;
  due.step = pace_.chosen_step;
  return due;
}

}  // namespace simgrad::training
