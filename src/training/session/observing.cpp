/// How a training's steps are observed: evaluations, timers, the end.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "cluster/ranks/deadlock.h"
#include "cluster/ranks/world.h"
#include "training/session/training.h"

namespace simgrad::training {

using record::Status;
using values::Tensor;

void Training::observe(Observed state) {
  curve_.reach(std::move(state));
  const std::int64_t step = latest_step();
  show_progress();
  if (curve_.due(step, last_step(step))) evaluate();
  curve_.pass();
  if (!world_.ended() && last_step(step)) finish(Status::stopped);
}

Curve::Whole Training::assemble(const std::vector<Tensor>& replicas) const {
  if (shared_.in_stores()) {
    std::vector<Tensor> parts = replicas;
    for (std::size_t i = 0; i < parts.size(); ++i)
      if (!parts[i]) parts[i] = shared_.in_store(generation_->reporter(static_cast<int>(i)));
    return {.w = shared_.sparse()->whole(parts)};
  }
  if (traits_.deals_parameters()) return {.w = generation_->shards().whole(replicas)};
  if (traits_.assembly) return {.w = traits_.assembly(replicas, learning_)};
  return {.w = mean(replicas), .mean_of_replicas = holder() == Holder::workers && world_.workers() > 1};
}

void Training::evaluate() {
  const record::Evaluation& row = curve_.evaluate(elapsed_s(), progress_->samples_at(curve_.latest()));
  if (!row.loss) return;
  if (!std::isfinite(*row.loss)) {
    tally_.note(fmt::format("the loss is not finite at step {}", row.step));
    finish(Status::diverged);
  } else if (stop_rules_.reached_target(*row.loss)) {
    record_.time_to_target_s = elapsed_s();
    finish(Status::reached);
  }
}

void Training::finish(Status status) {
  if (world_.ended()) return;
  record_.status = status;
  // Only after the last step: a time limit may well find a sender whose receiver is still on its way.
  const bool complete =
      status == Status::stopped && traits_.lockstep() && last_step(latest_step()) && !replicas_.keep_going();
  const std::string left = complete ? cluster::left_behind(world_) : std::string();
  tally_.end();  // while the world ends, ranks that are busy in this moment go on
  world_.end();
  if (setup_.turns) setup_.turns->leave(setup_.job);
  show_progress();
  // A strategy that sends what nobody receives is wrong, however well its losses look.
  if (!left.empty()) cluster_.fail(left);
}

void Training::schedule_timers() {
  if (const auto time_s = stop_rules_.time_s())
    cluster_.at(world_.start_s() + *time_s, [this] { finish_at_time_limit(); });
  if (setup_.evaluate.every_s) look_every(*setup_.evaluate.every_s, 1);
}

/// Asked by callbacks of the clock, which go on when no rank does. In a recovery nothing moves, and all is well.
bool Training::deadlocked() {
  if (recovery_driver_.pending() || !cluster::stuck(world_)) return false;
  cluster_.fail(
      fmt::format("deadlock before {} s of simulated time: {}", world_.now(), cluster::blocked_ranks(world_)));
  return true;
}

/// Whether the training has ended, or the run has failed. Then the clock's callbacks have nothing left to do.
bool Training::over() const { return world_.ended() || cluster_.failed(); }

void Training::look_every(double period_s, std::int64_t count) {
  cluster_.at(world_.start_s() + period_s * static_cast<double>(count), [this, period_s, count] {
    if (over() || deadlocked()) return;
    try {
      cluster_.watch();
      if (curve_.has_state()) evaluate();
    } catch (const std::exception& error) {  // no actor's guard stands around a callback
      return cluster_.fail(error.what());
    }
    if (!over()) look_every(period_s, count + 1);
  });
}

/// The state to begin with, before any rank has reported it.
Observed Training::first_state() {
  Observed state;
  state.step = generation_->start_step();
  for (int i = 0; i < generation_->reporters(); ++i)
    state.replicas.push_back(generation_->start_state(generation_->reporter(i)).w);
  shared_.forget_stores();  // not all of them have been reported
  return state;
}

void Training::finish_at_time_limit() {
  if (over() || deadlocked()) return;
  // The last state stands in the curve too, at the time when the run ends.
  try {
    if (!curve_.has_state()) curve_.reach(first_state());
    if (!curve_.evaluated_latest() && curve_.has_state()) evaluate();
  } catch (const std::exception& error) {
    return cluster_.fail(error.what());
  }
  if (!world_.ended()) finish(Status::stopped);
}

void Training::show_progress() {
  if (!progress_shown_) return;
  *progress_shown_ = world_.ended() ? 1.0 : stop_rules_.share_done(latest_step(), tally_.samples(), elapsed_s());
}

}  // namespace simgrad::training
