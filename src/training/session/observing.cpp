/// How a training's steps are observed: evaluations, timers, the end.
#include <fmt/format.h>
#include <time.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "cluster/ranks/deadlock.h"
#include "cluster/ranks/ranks.h"
#include "cluster/ranks/world.h"
#include "cluster/usage/traffic.h"
#include "cluster/usage/usage.h"
#include "training/session/training.h"

namespace simgrad::training {

using record::Status;
using values::Tensor;

namespace {

double processor_s() {
  timespec time{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

}  // namespace

void Training::observe(Observed state) {
  curve_.reach(std::move(state));
  const std::int64_t step = latest_step();
  if (cluster_.options().failures.hosts_fail()) seen_by_step_[step] = samples_seen();
  show_progress();
  if (curve_.due(step, last_step(step)) || (target_met_ && workers_hold(step))) evaluate();
  curve_.pass();
  if (!world_.ended() && last_step(step)) finish(Status::stopped);
}

Tensor Training::whole_of_parts(const std::vector<Tensor>& states) const {
  return parts_->whole(states, [this](const std::vector<Tensor>& group, const Learning& part) {
    return traits_.assembly ? traits_.assembly(group, part) : mean(group);
  });
}

Curve::Whole Training::assemble(const std::vector<Tensor>& replicas) const {
  if (shared_.in_stores()) {
    std::vector<Tensor> parts = replicas;
    for (std::size_t i = 0; i < parts.size(); ++i)
      if (!parts[i]) parts[i] = shared_.in_store(generation_->reporter(static_cast<int>(i)));
    return {.w = shared_.sparse()->whole(parts)};
  }
  if (parts_) {
    Curve::Whole whole{.w = whole_of_parts(replicas)};
    if (holder() != Holder::workers || traits_.assembly || traits_.deals_parameters()) return whole;
    whole.replicas = parts_->replicas(replicas);
    whole.mean = whole.w;
    return whole;
  }
  if (traits_.deals_parameters()) return {.w = generation_->shards().whole(replicas)};
  if (traits_.assembly) return {.w = traits_.assembly(replicas, learning_)};
  Curve::Whole whole{.w = mean(replicas)};
  if (world_.workers() == 1) return whole;
  if (holder() == Holder::workers) {
    whole.replicas = replicas;
    whole.mean = whole.w;
  } else if (traits_.replicas_beside_servers) {
    whole.replicas = shared_.shown_replicas();
    if (whole.replicas.empty()) whole.replicas = replicas;  // all of them begin as the server's
    whole.mean = mean(whole.replicas);
  }
  return whole;
}

/// Whether the evaluated state is one that workers hold after the step, and not only the mean that they would have.
bool Training::workers_hold(std::int64_t step) const {
  return !traits_.rounds || generation_->workers() == 1 || traits_.rounds->end_after(step, last_step(step));
}

void Training::evaluate() {
  record::Evaluation& row = curve_.evaluate(elapsed_s(), progress_->samples_at(curve_.latest()));
  row.bytes = world_.traffic().bytes_so_far();
  row.flops = world_.ranks().flops_so_far();
  const cluster::HostSeconds seconds = cluster::host_seconds(world_);
  row.hosts_busy_s = seconds.busy_s;
  row.hosts_down_s = seconds.down_s;
  if (curve_.size() == Curve::dense_rows)
    tally_.note(
        fmt::format("the curve has {} rows: the interval of its evaluations doubles, and again after every {} rows",
                    Curve::dense_rows, Curve::rows_per_doubling));
  if (!row.loss) return;
  target_met_ = stop_rules_.reached_target(*row.loss);
  if (!std::isfinite(*row.loss)) {
    record_.diverged_step = divergence_.beyond_use_since().value_or(row.step);
    tally_.note(*record_.diverged_step == row.step
                    ? fmt::format("diverged at step {}: the loss is not finite", row.step)
                    : fmt::format("diverged at step {}: the loss, {:.4g} at first, has grown to {:.4g} before it is no "
                                  "longer finite",
                                  *record_.diverged_step, divergence_.first(), divergence_.last()));
    finish(Status::diverged);
  } else if (target_met_ && workers_hold(row.step)) {
    if (row.step == 0)
      tally_.note("the untrained model meets the target, so that nothing is trained; choose a lower stop.loss");
    record_.time_to_target_s = elapsed_s();
    finish(Status::reached);
  } else if (divergence_.ends(row.step, *row.loss)) {
    finish(Status::stopped);
  }
}

/// Samples whose gradients are in the latest state: those that were computed, without those that a recovery went back
/// on.
std::int64_t Training::samples_seen() const {
  return std::max(progress_->samples_at(curve_.latest()) - samples_lost_, std::int64_t{0});
}

/// A loss beyond use ends as a divergence, by whichever rule the training ends.
void Training::note_divergence() {
  const auto since = divergence_.beyond_use_since();
  if (record_.status != Status::stopped || !since) return;
  record_.status = Status::diverged;
  record_.diverged_step = since;
  tally_.note(fmt::format("diverged at step {}: the loss has grown from {:.4g} to {:.4g} at the end", *since,
                          divergence_.first(), divergence_.last()));
}

void Training::come_near_end() {
  if (const auto call = std::exchange(setup_.near_end, {})) call();
}

void Training::finish(Status status) {
  if (world_.ended()) return;
  if (status == Status::reached) come_near_end();
  const bool by_step = status != Status::stopped || last_step(latest_step());
  if (by_step && !recovery_driver_.noticed()) checkpoints_.ended_unnoticed();
  record_.status = status;
  note_divergence();
  if (status == Status::stopped && target_met_)
    tally_.note(
        "the mean of the replicas met the target, but the training ended before an average: no worker holds that mean");
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
    if (!over()) look_every(period_s, curve_.next_period(count));
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
  if (!pulse_) return;
  const double seconds_a_ns = 1e-9;
  pulse_->simulated_s = elapsed_s();
  pulse_->processor_s = processor_s();
  pulse_->gradients_s = seconds_a_ns * static_cast<double>(learning_.effort().gradients_ns);
  pulse_->evaluations_s = seconds_a_ns * static_cast<double>(learning_.effort().evaluations_ns);
  pulse_->gradients = learning_.effort().gradients;
  pulse_->evaluations = static_cast<std::int64_t>(curve_.size());
  pulse_->share = world_.ended() ? 1.0 : stop_rules_.share_done(latest_step(), tally_.samples(), elapsed_s());
}

}  // namespace simgrad::training
