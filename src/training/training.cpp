#include "training/training.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/errors.h"
#include "cluster/ranks/deadlock.h"
#include "cluster/ranks/membership.h"
#include "cluster/ranks/ranks.h"
#include "training/recovery.h"
#include "training/worker.h"

namespace simgrad::training {

using record::Status;
using values::Tensor;

namespace {

std::optional<std::int64_t> smaller(std::optional<std::int64_t> a, std::optional<std::int64_t> b) {
  if (!a || !b) return a ? a : b;
  return std::min(*a, *b);
}

/// The samples after which a rule says stop.
std::optional<std::int64_t> sample_limit(const StopOptions& stop, std::int64_t rows) {
  std::optional<std::int64_t> by_epochs;
  // Beyond 4e18, which no run reaches, lies the end of the integers.
  if (stop.epochs)
    by_epochs = static_cast<std::int64_t>(std::min(std::ceil(*stop.epochs * static_cast<double>(rows)), 4e18));
  return smaller(stop.samples, by_epochs);
}

}  // namespace

Training::Training(cluster::Cluster& cluster, const Learning& learning, Program program, Setup setup, int workers)
    : cluster_(cluster),
      learning_(learning),
      program_(std::move(program)),
      setup_(std::move(setup)),
      world_(cluster, fmt::format("train{}", setup_.job > 0 ? fmt::format("-{}", setup_.job) : ""), workers,
             static_cast<int>(program_.places(workers).size()) - workers, program_.places(workers)),
      sample_limit_(sample_limit(setup_.stop, learning.rows())),
      recovery_(std::make_unique<Recovery>(*this)) {
  step_limit_ = setup_.stop.steps;
  if (program_.synchronous && sample_limit_) {
    const std::int64_t batch = learning.batches().batch();
    step_limit_ = smaller(step_limit_, (*sample_limit_ + batch - 1) / batch);
    sample_limit_.reset();
  }
  const std::vector<double>& speeds = cluster.options().relative_speeds;
  for (int rank = 0; rank < world_.size(); ++rank) {
    // A server on a worker's host is as fast as that worker.
    const int as = rank < workers ? rank : world_.host(rank);
    if (as < workers && std::cmp_less(as, speeds.size()))
      world_.ranks().set_relative_speed(rank, speeds[static_cast<std::size_t>(as)]);
  }
  if (const InputOptions& input = setup_.options.input; input.from != InputFrom::memory)
    input_.emplace(cluster,
                   input.from == InputFrom::local ? cluster::Storage::Place::local : cluster::Storage::Place::shared,
                   *input.bandwidth_bytes_per_s, input.latency_s.value_or(0.0));
  if (learning.dispatcher().numbers()) record_.metric_name = learning.model().metric(learning.problem());
  record_.network_model = name(cluster.options().network_model);
}

Training::~Training() = default;

void Training::start() {
  world_.begin();
  // A rank that loses its peer has nothing to do until the recovery driver ends its actor.
  world_.ranks().on_peer_lost = [](int) {};
  world_.recovering = [this] { return recovery_->pending(); };
  schedule_timers();
  plan_checkpoints();
  recovery_->schedule_crashes();
  if (keeps_going()) world_.membership().set_keeps_going();
  launch();
}

base::Stream Training::stream(base::Purpose purpose, int rank, std::int64_t step, std::uint32_t retry) const {
  return base::Stream({.seed = learning_.seed(),
                       .purpose = purpose,
                       // 32 bits of step, and in a run of several jobs another stream for each.
                       .step = static_cast<std::uint64_t>(step) | static_cast<std::uint64_t>(setup_.job) << 32,
                       .rank = static_cast<std::uint32_t>(rank) | retry << 16,  // fewer ranks than 2^15
                       .attempt = static_cast<std::uint16_t>(generation_)});
}

double Training::rounds(std::int64_t step) const {
  if (program_.synchronous || program_.gradients_an_update == 0) return static_cast<double>(step);
  return static_cast<double>(step * program_.gradients_an_update) / living_workers_;
}

/// Those that the state has seen: ranks that run ahead have computed more than the steps that are complete, servers may
/// be ahead of each other, and cores of one host go on at the moment of the end.
std::int64_t Training::samples_at(const Observed& state) const {
  if (keeps_going() && holder() == Holder::workers) return state.samples;
  if (synchronous()) return lost_samples_ + state.step * learning_.batches().batch();
  return state.samples;
}

Holder Training::holder() const {
  return program_.holder.value_or(world_.servers() > 0 ? Holder::servers : Holder::workers);
}

int Training::reporters() const {
  switch (holder()) {
    case Holder::workers:
      return living_workers_;
    case Holder::servers:
      return living_servers_;
    case Holder::master:
    case Holder::memory:
      break;
  }
  return 1;
}

State& Training::memory() {
  if (!memory_) memory_ = start_state(members_->front());
  return *memory_;
}

void Training::add_staleness(std::int64_t updates) {
  if (world_.ended()) return;  // who was busy at the very end goes on for that moment, but no state has its update
  ++stalenesses_;
  ++record_.staleness_counts[updates];
  staleness_sum_ += static_cast<double>(updates);
  record_.staleness_max = std::max(record_.staleness_max.value_or(0.0), static_cast<double>(updates));
}

SparseLearning& Training::sparse(const SparseLearning::Options& options) {
  if (!sparse_) sparse_.emplace(learning_, options);
  return *sparse_;
}

bool Training::last_step(std::int64_t step) const {
  return (step_limit_ && step >= *step_limit_) || (last_by_samples_ && step >= *last_by_samples_);
}

std::size_t Training::place(int rank) const {
  const auto at = std::lower_bound(members_->begin(), members_->end(), rank) - members_->begin();
  if (holder() == Holder::memory || holder() == Holder::master) return 0;
  return static_cast<std::size_t>(holder() == Holder::servers ? at - living_workers_ : at);
}

bool Training::arrive(int rank, const State& state) {
  if (world_.ended()) return false;
  cluster_.watch();
  if (program_.own_pace) return arrive_at_own_pace(rank, state);
  if (stores_.empty()) keep(rank, state);
  if (keeps_going() && holder() == Holder::workers) return arrive_in_place(rank, state);
  Arrivals& arrivals = arrivals_[state.step];
  arrivals.replicas.resize(static_cast<std::size_t>(reporters()));
  arrivals.replicas[place(rank)] = state.w;
  if (place(rank) == 0) {  // it counts the samples
    arrivals.samples = samples_;
    if (sample_limit_ && samples_ >= *sample_limit_ && !last_by_samples_) last_by_samples_ = state.step;
  }
  if (++arrivals.reports == reporters()) {
    Observed observed{state.step, std::move(arrivals.replicas), arrivals.samples};
    arrivals_.erase(state.step);
    observe(std::move(observed));
  }
  return !world_.ended() && !last_step(state.step);
}

bool Training::arrive(int rank, std::int64_t step, std::shared_ptr<const Store> store) {
  if (world_.ended()) return false;
  State state;
  if (due(step)) state = store->state();
  state.step = step;
  stores_[rank] = std::move(store);
  return arrive(rank, state);
}

std::vector<Tensor> Training::looked_at(const std::vector<Tensor>& replicas) const {
  std::vector<Tensor> all = replicas;
  const int first = holder() == Holder::servers ? living_workers_ : 0;
  for (std::size_t i = 0; i < all.size(); ++i)
    if (!all[i]) all[i] = stores_.at((*members_)[static_cast<std::size_t>(first) + i])->state().w;
  return all;
}

bool Training::due(std::int64_t step) const {
  if (step == 0 || resumed_ || last_step(step)) return true;
  const auto& every = setup_.evaluate.every_steps;
  if (!every && setup_.evaluate.every_s) return false;
  return step % every.value_or(1) == 0;
}

void Training::observe(Observed state) {
  latest_ = std::move(state);
  const std::int64_t step = latest_.step;
  evaluated_latest_ = false;
  update_progress(step);
  if (due(step)) evaluate(latest_);
  resumed_ = false;
  if (!world_.ended() && last_step(step)) finish(Status::stopped);
}

void Training::evaluate(const Observed& state) {
  evaluated_latest_ = true;
  record::Evaluation row{.step = state.step,
                         .simulated_s = world_.now() - world_.start_s(),
                         .samples = samples_at(state),
                         .loss = {},
                         .metric = {},
                         .consensus_distance = {}};
  const Tensor w = !stores_.empty()    ? sparse_->whole(looked_at(state.replicas))
                   : program_.sharding ? shards_->whole(state.replicas)
                   : program_.assembly ? program_.assembly(state.replicas, learning_)
                                       : mean(state.replicas);
  const Score score = learning_.score(w, elapsed_s());
  row.loss = score.loss;
  row.metric = score.metric;
  if (holder() == Holder::workers && stores_.empty() && !program_.assembly && world_.workers() > 1 &&
      learning_.dispatcher().numbers())
    row.consensus_distance = consensus_distance(state.replicas, w);
  record_.curve.push_back(row);
  if (!score.loss) return;
  if (!std::isfinite(*score.loss)) {
    record_.notes.push_back(fmt::format("the loss is not finite at step {}", state.step));
    finish(Status::diverged);
  } else if (setup_.stop.loss && *score.loss <= *setup_.stop.loss) {
    record_.time_to_target_s = world_.now() - world_.start_s();
    finish(Status::reached);
  }
}

void Training::finish(Status status) {
  if (world_.ended()) return;
  record_.status = status;
  // Only after the last step: a time limit may well find a sender whose receiver is still on its way.
  const bool complete = status == Status::stopped && program_.synchronous && last_step(latest_.step) && !keeps_going();
  const std::string left = complete ? cluster::left_behind(world_) : std::string();
  world_.end();
  if (setup_.turns) setup_.turns->leave(setup_.job);
  update_progress(latest_.step);
  // A strategy that sends what nobody receives is wrong, however well its losses look.
  if (!left.empty()) cluster_.fail(left);
}

void Training::schedule_timers() {
  if (setup_.stop.time_s) cluster_.at(world_.start_s() + *setup_.stop.time_s, [this] { finish_at_time_limit(); });
  if (setup_.evaluate.every_s) look_every(*setup_.evaluate.every_s, 1);
}

/// Asked by callbacks of the clock, which go on when no rank does. In a recovery nothing moves, and all is well.
bool Training::deadlocked() {
  if (recovery_->pending() || !cluster::stuck(world_)) return false;
  cluster_.fail(
      fmt::format("deadlock before {} s of simulated time: {}", world_.now(), cluster::blocked_ranks(world_)));
  return true;
}

void Training::look_every(double period_s, std::int64_t count) {
  cluster_.at(world_.start_s() + period_s * static_cast<double>(count), [this, period_s, count] {
    if (world_.ended() || deadlocked()) return;
    try {
      cluster_.watch();
      if (!latest_.replicas.empty()) evaluate(latest_);
    } catch (const std::exception& error) {  // no actor's guard stands around a callback
      return cluster_.fail(error.what());
    }
    if (!world_.ended()) look_every(period_s, count + 1);
  });
}

void Training::finish_at_time_limit() {
  if (world_.ended() || deadlocked()) return;
  // The last state stands in the curve too, at the time when the run ends.
  try {
    if (!evaluated_latest_ && !latest_.replicas.empty()) evaluate(latest_);
  } catch (const std::exception& error) {
    return cluster_.fail(error.what());
  }
  if (!world_.ended()) finish(Status::stopped);
}

void Training::update_progress(std::int64_t step) {
  if (!progress_) return;
  double done = world_.ended() ? 1.0 : 0.0;
  if (step_limit_) done = std::max(done, static_cast<double>(step) / static_cast<double>(*step_limit_));
  if (sample_limit_) done = std::max(done, static_cast<double>(samples_) / static_cast<double>(*sample_limit_));
  if (setup_.stop.time_s) done = std::max(done, (world_.now() - world_.start_s()) / *setup_.stop.time_s);
  *progress_ = std::min(done, 1.0);
}

/// What a server of keys carried, and what a cache has saved.
void Training::record_keys() {
  if (!sparse_ || !program_.keyed) return;
  if (sparse_->caches && sparse_->keys_needed > 0)
    record_.cache_hit_rate = static_cast<double>(sparse_->keys_cached) / static_cast<double>(sparse_->keys_needed);
  double most = 0.0, sum = 0.0;
  for (const record::RankUse& use : record_.ranks) {
    if (use.role != "server") continue;
    const auto bytes = static_cast<double>(use.bytes_sent + use.bytes_received);
    most = std::max(most, bytes);
    sum += bytes;
  }
  if (world_.servers() > 1 && sum > 0.0) record_.server_imbalance = most * world_.servers() / sum;
}

record::Record Training::take_record() {
  if (const int more = failures_told_ - most_failures_told; more > 0)
    note(fmt::format("and {} more crashes and resumptions", more));
  world_.fill(record_);
  record_losses();
  record_keys();
  record_.steps = latest_.step;
  record_.stored_bytes = learning_.rows() * learning_.row_bytes();
  if (setup_.options.checkpoint_every_steps > 0)
    record_.stored_bytes += learning_.state_bytes(*setup_.options.optimizer);
  record_.samples = samples_at(latest_);
  record_.epochs = static_cast<double>(record_.samples) / static_cast<double>(learning_.rows());
  if (!record_.curve.empty()) record_.final_loss = record_.curve.back().loss;
  if (stalenesses_ > 0) record_.staleness_mean = staleness_sum_ / static_cast<double>(stalenesses_);
  return std::move(record_);
}

}  // namespace simgrad::training
